#include "tools/cli/history_options.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <boost/filesystem.hpp>
#include <fmt/format.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/error.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "replay/results/result_json.h"
#include "replay/volumes/network_share.h"
#include "replay/volumes/target.h"
#include "tools/cli/result_file.h"

namespace filereel {

bool names_device(const HistoryOptions& options) {
  return !options.said.name.empty() || !options.said.firmware.empty();
}

void add_device_options(CLI::App& command, TestedDevice& said) {
  command.add_option("--device", said.name, "Drive name, instead of the reported one");
  command.add_option("--firmware", said.firmware, "Firmware version, instead of the reported one");
}

void add_history_options(CLI::App& command, HistoryOptions& options) {
  command.add_option("--history", options.folder,
                     "Add each complete result to this directory, like filereel history add");
  command.add_option("--device", options.said.name,
                     "With --history: drive name, instead of the reported one");
  command.add_option("--firmware", options.said.firmware,
                     "With --history: firmware version, instead of the reported one");
}

HistoryAddition make_addition(const std::string& path, std::string text, const TestedDevice& said) {
  HistoryAddition addition{std::move(text), {}};
  addition.result = load_result(path, addition.text);
  if (said.name.empty() && said.firmware.empty()) return addition;
  set_tested_device(addition.result, said);
  addition.text = result_to_json(addition.result);
  return addition;
}

void warn_of_same_names(const HistoryOptions& options, std::span<const HistoryAddition> added,
                        const Session& session) {
  const bool labelled = std::ranges::any_of(
      added, [](const HistoryAddition& addition) { return !addition.result.label.empty(); });
  if (!options.said.name.empty() || !labelled) return;
  const HistoryDirectory history = read_history(options.folder);
  std::set<std::string> said;
  for (const HistoryAddition& history_addition : added) {
    const std::string doubt = doubt_of_device(history, history_addition.result);
    if (!doubt.empty() && said.insert(doubt).second) session.notice(doubt);
  }
}

void check_history(const HistoryOptions& options) {
  namespace fs = boost::filesystem;
  if (options.folder.empty()) {
    if (!names_device(options)) return;
    throw Error(ErrorKind::usage, "--device and --firmware need --history");
  }
  fs::path place = absolute_path(options.folder);  // or its nearest existing parent
  while (!path_exists(place.string()) && place.has_relative_path()) place = place.parent_path();
  if (!is_directory(place.string())) {
    throw Error(ErrorKind::usage, fmt::format("--history {}: not a directory; name a directory",
                                              printable(options.folder)));
  }
  const AtomicFile probe((place / "result.json").string());
}

void check_device_place(const HistoryOptions& options, const std::string& near) {
  if (options.said.name.empty() || !is_directory(options.folder)) return;
  const HistoryDirectory history = read_history(options.folder);
  const HistoryEntry* last = nullptr;
  for (const HistoryEntry& entry : history.entries) {
    if (entry.device == options.said.name) last = &entry;
  }
  if (!last || last->result.volumes.empty() || path_in_target(near) != near) return;
  const VolumeDescription& before = last->result.volumes.front();
  // Older results do not tell shares.
  const bool known = before.network.has_value() || !is_remote(before.file_system);
  if (before.target_kind != target_kind_name(TargetKind::directory) || !known) return;
  const auto mounted = mounted_at(existing_path(absolute_path(near)));
  if (!mounted) return;
  const bool on_share = network_share(*mounted).has_value();
  if (on_share == before.network.has_value()) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} in {} was measured on {}, but {} is {} a share (is everything "
                          "mounted?); name another --device or --history for other storage",
                          printable(options.said.name), printable(options.folder),
                          before.network ? printable(before.network->source) : "a drive",
                          printable(near), on_share ? "on" : "not on"));
}

std::string stored_elsewhere(const std::string& folder, const HistoryAddition& addition) {
  namespace fs = boost::filesystem;
  const std::string wanted = entry_name(addition.result);
  const std::string file = fs::path(wanted).filename().string() + ".json";
  boost::system::error_code error;
  for (fs::directory_iterator device(folder, error), end; !error && device != end;
       device.increment(error)) {
    boost::system::error_code inner;
    for (fs::directory_iterator firmware(device->path(), inner); !inner && firmware != end;
         firmware.increment(inner)) {
      const std::string name = fmt::format("{}/{}", device->path().filename().string(),
                                           firmware->path().filename().string());
      if (!wanted.starts_with(name + "/") && path_exists((firmware->path() / file).string())) {
        return name;
      }
    }
  }
  return "";
}

}  // namespace filereel

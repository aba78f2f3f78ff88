#include "replay/history/history.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"
#include "filesets/system/utf8.h"
#include "replay/results/result_json.h"
#include "replay/results/result_limits.h"
#include "replay/results/work_names.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestName = 100;

bool stays(std::string_view character) {
  const char first = character.front();
  return character.size() > 1 || (first >= '0' && first <= '9') || (first >= 'a' && first <= 'z') ||
         (first >= 'A' && first <= 'Z') || first == '.' || first == '_' || first == '+';
}

// The texts without duplicates, in order.
std::string joined(const std::vector<std::string>& texts) {
  std::vector<std::string> once;
  for (const std::string& text : texts) {
    if (!text.empty() && !contains(once, text)) once.push_back(text);
  }
  return fmt::format("{}", fmt::join(once, " + "));
}

}  // namespace

TestedDevice tested_device(const Result& result) {
  std::vector<std::string> names, firmware, kernel_names;
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.role != Role::near) continue;
    for (const DeviceIdentity& drive : volume.drives) {
      const bool both = !drive.model.empty() && !drive.serial.empty();
      names.push_back(drive.model + (both ? " " : "") + drive.serial);
      firmware.push_back(drive.firmware);
      kernel_names.push_back(drive.name);
    }
    // A drive of a share that has a firmware only was named by the user.
    const auto has_name = [](const DeviceIdentity& drive) {
      return !drive.model.empty() || !drive.serial.empty();
    };
    if (volume.network && std::ranges::none_of(volume.drives, has_name)) {
      names.push_back(volume.network->source);
    }
  }
  TestedDevice device = {.name = joined(names), .firmware = joined(firmware)};
  if (device.name.empty()) device.name = result.label;
  if (device.name.empty()) device.name = joined(kernel_names);
  if (device.name.empty()) device.name = "unknown";
  return device;
}

void set_tested_device(Result& result, const TestedDevice& said) {
  if (said.name.empty() && said.firmware.empty()) return;
  if (!contains(result.volumes, Role::near, &VolumeDescription::role)) {
    throw Error(ErrorKind::usage, "cannot name the drive: the result has no volume");
  }
  for (VolumeDescription& volume : result.volumes) {
    if (volume.role != Role::near) continue;
    if (volume.drives.empty()) volume.drives.emplace_back();
    for (DeviceIdentity& drive : volume.drives) {
      if (!said.name.empty()) {
        drive.model = said.name;
        drive.serial.clear();
      }
      if (!said.firmware.empty()) drive.firmware = said.firmware;
    }
  }
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<Character> character = first_character(rest);
    const std::string_view bytes = rest.substr(0, character ? character->length : 1);
    if (character && stays(bytes)) {
      name += bytes;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    rest.remove_prefix(bytes.size());
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  if (name.starts_with('.')) name.front() = '_';
  if (name.empty()) return "unknown";
  if (name.size() <= kLongestName) return name;
  const std::string number = fmt::format("-{:08x}", XXH32(text.data(), text.size(), 0));
  std::size_t length = kLongestName - number.size();
  while ((static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;  // whole characters
  return name.substr(0, length) + number;
}

std::string entry_name(const Result& result) {
  const TestedDevice device = tested_device(result);
  return fmt::format("{}/{}/{}-{}", file_name_of(device.name),
                     device.firmware.empty() ? "no-firmware" : file_name_of(device.firmware),
                     file_name_of(result.started), file_name_of(result.plan.name));
}

namespace {

namespace fs = boost::filesystem;

constexpr std::string_view kSuffix = ".json";
constexpr int kDeepest = 2;  // directory levels between a history and its results

// Empty unless it is a regular file: reading a pipe would block.
std::optional<std::string> read_regular_file(const std::string& path) {
  if (!is_regular_file(path)) return std::nullopt;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return std::nullopt;
  return read_whole(file.get(), kMostResultBytes, printable(path));
}

// The entries of a directory, sorted by name. Does not follow links to other directories.
std::vector<fs::directory_entry> contents_of(const std::string& folder) {
  std::vector<fs::directory_entry> found;
  boost::system::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    found.push_back(*entry);
  }
  if (error) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: {}; name a directory created by `filereel history DIR add`",
                            printable(folder), error.message()));
  }
  std::ranges::sort(found, {}, [](const auto& one) { return one.path().native(); });
  return found;
}

bool has_drive_without_serial(const Result& result) {
  return std::ranges::any_of(result.volumes, [](const VolumeDescription& volume) {
    return volume.role == Role::near &&
           std::ranges::any_of(volume.drives, [](const DeviceIdentity& drive) {
             return !drive.model.empty() && drive.serial.empty();
           });
  });
}

void read_entry(const std::string& path, const std::string& name, HistoryDirectory& into) {
  try {
    const std::optional<std::string> text = read_regular_file(path);
    if (!text) throw Error(ErrorKind::unusable_input, printable(path) + ": cannot read the file");
    HistoryEntry entry;
    entry.result = result_from_json(*text, printable(path), ResultDetail::figures);
    entry.name = name;
    const TestedDevice device = tested_device(entry.result);
    entry.device = device.name;
    entry.firmware = device.firmware;
    entry.started = entry.result.started;
    entry.label = entry.result.label;
    into.entries.push_back(std::move(entry));
  } catch (const Error& error) {
    into.others.emplace_back(error.what());
  }
}

void read_folder(const std::string& folder, const std::string& below, int depth,
                 HistoryDirectory& into) {
  for (const fs::directory_entry& one : contents_of(folder)) {
    const std::string path = one.path().string();
    const std::string name = below + one.path().filename().string();
    const mode_t kind = kind_of_name(path);
    if (kind == S_IFDIR && depth < kDeepest) {
      try {
        read_folder(path, name + "/", depth + 1, into);
      } catch (const Error& error) {
        into.others.emplace_back(error.what());
      }
    } else if (kind == S_IFREG && name.ends_with(kSuffix)) {
      read_entry(path, name.substr(0, name.size() - kSuffix.size()), into);
    } else {
      into.others.push_back(printable(path) + ": not a result");
    }
  }
}

}  // namespace

HistoryDirectory read_history(const std::string& folder) {
  HistoryDirectory history;
  read_folder(folder, "", 0, history);
  const auto order = [](const HistoryEntry& history_entry) {
    return std::tie(history_entry.started, history_entry.name);
  };
  std::ranges::sort(history.entries, {}, order);
  std::uint32_t number = 0;
  std::vector<Result*> results;
  for (HistoryEntry& entry : history.entries) {
    entry.number = ++number;
    results.push_back(&entry.result);
  }
  name_alike(results);
  return history;
}

std::string doubt_of_device(const HistoryDirectory& history, const Result& added) {
  if (added.label.empty() || !has_drive_without_serial(added)) return "";
  const std::string device = tested_device(added).name;
  std::set<std::string> labels;
  for (const HistoryEntry& entry : history.entries) {
    if (entry.device == device && !entry.label.empty()) labels.insert(entry.label);
  }
  labels.insert(added.label);
  if (labels.size() == 1) return "";
  return fmt::format(
      "the results labelled {} count as those of one drive, {}, which reports no serial number; if "
      "there are several drives, remove these results from the history, and add those of each "
      "drive "
      "with --device NAME",
      printable(fmt::format("{}", fmt::join(labels, ", "))), printable(device));
}

std::vector<HistoryEntry> find_entries(const HistoryDirectory& history, std::string_view which) {
  while (which.ends_with('/')) which.remove_suffix(1);
  const std::string_view name =
      which.ends_with(kSuffix) ? which.substr(0, which.size() - kSuffix.size()) : which;
  const auto number = parse_number<std::uint32_t>(which);
  std::vector<HistoryEntry> found;
  for (const HistoryEntry& entry : history.entries) {
    const bool inside = entry.name.starts_with(name) && entry.name.substr(name.size(), 1) == "/";
    if (entry.name == name || inside || (number && entry.number == *number)) {
      found.push_back(entry);
    }
  }
  if (found.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("no result '{}' in the history; give a number, a name, or the directory "
                    "of a device or firmware as in `filereel history DIR list`",
                    printable(which)));
  }
  return found;
}

std::vector<std::vector<Result>> other_sessions(const HistoryDirectory& history,
                                                std::span<const Result> base,
                                                std::span<const Result> fresh) {
  std::set<std::string> devices;
  std::set<std::pair<std::string, std::string>> compared;  // session and start, which both name it
  for (const std::span<const Result>& side : {base, fresh}) {
    for (const Result& result : side) {
      devices.insert(tested_device(result).name);
      compared.emplace(result.session, result.started);
    }
  }
  std::map<std::vector<std::string>, std::vector<Result>> groups;
  for (const HistoryEntry& entry : history.entries) {
    if (!devices.contains(entry.device)) continue;
    if (compared.contains({entry.result.session, entry.result.started})) continue;
    const Result& result = entry.result;
    groups[{entry.device, entry.firmware, result.host.kernel, result.version}].push_back(result);
  }
  std::vector<std::vector<Result>> list;
  for (auto& [name, group] : groups) list.push_back(std::move(group));
  return list;
}

AddedResult add_to_history(const std::string& folder, const Result& result, std::string_view text) {
  const std::string wanted = entry_name(result);
  const fs::path parent = fs::path(folder) / fs::path(wanted).parent_path();
  if (const int error = make_directories(parent.string())) {
    throw Error(ErrorKind::failed, fmt::format("{}: cannot create the directory: {}",
                                               printable(parent.string()), error_text(error)));
  }
  for (int attempt = 1;; ++attempt) {
    const std::string name = attempt == 1 ? wanted : fmt::format("{}-{}", wanted, attempt);
    const std::string path = fmt::format("{}/{}{}", folder, name, kSuffix);
    // One byte more than the new text is enough to detect another file.
    std::optional<std::string> there = read_file(path, text.size() + 1);
    if (!there) {
      AtomicFile file(path);
      file.write(text);
      if (file.commit_new()) return {.name = name};
      there = read_file(path, text.size() + 1);  // created in the meantime
    }
    if (!there) {
      throw Error(ErrorKind::failed, printable(path) + ": already exists and cannot be read");
    }
    if (*there == text) return {.name = name, .already_existed = true};
  }
}

}  // namespace filereel

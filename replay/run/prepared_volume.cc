#include "replay/run/prepared_volume.h"

#include <algorithm>

#include <fmt/format.h>

#include "filesets/scan/populate.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "replay/run/hidden_serials.h"
#include "replay/run/preparation.h"

namespace filereel {
namespace {

std::vector<std::string> file_paths(const FileSet& set) {
  std::vector<std::string> paths;
  for (const Entry& entry : set.entries) {
    if (entry.kind == EntryKind::file) paths.push_back(entry.path);
  }
  return paths;
}

}  // namespace

bool fill_volume(Volume& volume, const FileSet& initial, const FileSet& largest,
                 std::string_view advice, const std::stop_token& stop) {
  check_room(largest, volume, 1, advice);
  return !populate_below(volume.root(), initial, volume.describe().target,
                         {.keep_set_id = false, .stop = stop}, {})
              .interrupted;
}

void set_caches(Volume& volume, const FileSet& files, bool warm, Sample& sample) {
  if (warm) {
    volume.check_present();
    sample.cold_method = "warm";
    return;
  }
  const std::uint64_t bytes = files.totals().bytes;
  const Coldness coldness = volume.make_cold(file_paths(files), bytes);
  sample.cold_method = coldness.method;
  if (bytes > 0) sample.cached_before = coldness.cached;
}

void add_volume(const Volume& volume, Result& result) {
  VolumeDescription description = describe_for(result, volume);
  if (description.driver != "kernel") {
    result.warn({"fuse-driver",
                 fmt::format("{} was served by {}, a FUSE driver: its speed is that of the "
                             "driver, not of the device",
                             description.file_system, description.driver),
                 "use a kernel that has the file system's own driver to compare devices"});
  }
  const auto same = [&](const VolumeDescription& other) {
    return other.role == description.role && other.file_system == description.file_system;
  };
  if (std::ranges::none_of(result.volumes, same)) {
    result.volumes.push_back(std::move(description));
  }
}

void add_label(const Volume& volume, Result& result) {
  if (result.label.empty()) result.label = describe_for(result, volume).target;
}

void add_fitting(const FittedTrace& fitted, const std::string& file_system, const std::string& name,
                 Result& result) {
  if (fitted.names_changed > 0) {
    const EscapedPath& first = fitted.escaped.front();
    result.warn({"names-escaped",
                 fmt::format("{} names are escaped on {}: {} -> {}{}", fitted.names_changed,
                             file_system, printable(first.original), first.escaped,
                             fitted.names_changed > 1 ? ", …" : ""),
                 "the result file lists them"});
    const auto same = [&](const EscapedNames& other) {
      return other.file_system == file_system && other.set == name;
    };
    if (std::ranges::none_of(result.escaped_names, same)) {
      result.escaped_names.push_back({file_system, name, fitted.escaped});
    }
  }
  const auto downgrade = [&](std::uint64_t number, std::string_view what) {
    if (number == 0) return;
    result.warn({"downgraded",
                 fmt::format("{} has none: {} {} of the initial tree", file_system, number, what),
                 "what the trace does with them fails there, and is counted as a limit"});
  };
  downgrade(fitted.symlinks_left_out, "symbolic links are left out");
  downgrade(fitted.hard_links_left_out, "hard links are left out");
  downgrade(fitted.holes_filled, "files with holes are written out in full");
}

}  // namespace filereel

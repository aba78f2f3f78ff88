#include "replay/run/fitting.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <limits.h>

#include "filesets/ownership/tree_walk.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::size_t kExamples = 1000;
constexpr std::size_t kNamed = 5;  // in a warning
// Leaves room for the directories of a workload and the terminating null.
constexpr std::size_t kLongestPath = PATH_MAX - 32;

// The strictest rules of all volumes: the set is the same on near and far.
FileSystemLimits strictest(const std::vector<FileSystemLimits>& all) {
  FileSystemLimits limits;
  for (const FileSystemLimits& one : all) {
    limits.largest_file = std::min(limits.largest_file, one.largest_file);
    limits.cluster = std::max(limits.cluster, one.cluster);
    limits.windows_names |= one.windows_names;
    limits.ascii_names |= one.ascii_names;
    limits.links &= one.links;
    limits.holes &= one.holes;
  }
  return limits;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// Assigns every entry its path on the volumes.
class PathFitter {
 public:
  explicit PathFitter(const FileSystemLimits& limits) : limits_(limits) {}

  std::string fit(const std::string& path, std::vector<EscapedPath>& escaped) {
    const std::string_view parent = parent_of(path);
    const std::string_view name =
        parent.empty() ? std::string_view(path) : std::string_view(path).substr(parent.size() + 1);
    const std::string& folder = parent.empty() ? kNoFolder : fitted_.at(std::string(parent));
    std::string fit_name =
        limits_.windows_names ? escape_name(name, limits_.ascii_names) : std::string(name);
    if (limits_.windows_names) mark_case(folder, fit_name);
    check_name_length(fit_name, path, limits_, "shorten it in the file set");
    std::string full = folder.empty() ? fit_name : folder + "/" + fit_name;
    if (full.size() > kLongestPath) {
      throw Error(
          ErrorKind::failed,
          fmt::format(
              "the path {} has {} bytes, more than the limit of {}: shorten it in the file set",
              full, full.size(), kLongestPath));
    }
    if (fit_name != name) escaped.push_back({path, full});
    fitted_.emplace(path, full);
    return full;
  }

  const std::string& at(const std::string& path) const { return fitted_.at(path); }

 private:
  void mark_case(const std::string& folder, std::string& name) {
    const std::uint64_t earlier = taken_[folder + "/" + fold_case(name)]++;
    if (earlier > 0) name += fmt::format("%~{}", earlier);
  }

  inline static const std::string kNoFolder;
  const FileSystemLimits& limits_;
  std::unordered_map<std::string, std::string> fitted_;   // original path to fitted path
  std::unordered_map<std::string, std::uint64_t> taken_;  // folded path to its number of entries
};

// `path` with each component fitted.
std::string fit_path(NameFitter& names, std::string_view path) {
  std::string fitted;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const bool in_root = fitted.empty();
    if (!in_root) fitted += '/';
    fitted += names.fit(path.substr(0, end), in_root);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return fitted;
}

void fit_paths(FileSet& set, NameFitter& names) {
  for (Entry& entry : set.entries) {
    entry.path = fit_path(names, entry.path);
    if (entry.kind == EntryKind::hard_link) entry.target = fit_path(names, entry.target);
  }
}

bool uses_reserved_names(const PathTable& paths, const FileSet& initial) {
  PathId id = paths.node(PathTable::root(Role::near)).first_child;
  for (; id != PathTable::kNone; id = paths.node(id).next_sibling) {
    if (NameFitter::is_reserved(paths.node(id).name)) return true;
  }
  return std::ranges::any_of(initial.entries, [](const Entry& entry) {
    return NameFitter::is_reserved(std::string_view(entry.path).substr(0, entry.path.find('/')));
  });
}

// Removes entries that the file system does not support.
void remove_unsupported(FileSet& set, const FileSystemLimits& limits, Fitting& fitting) {
  const auto erase = [&](EntryKind kind) {
    return std::erase_if(set.entries, [&](const Entry& entry) { return entry.kind == kind; });
  };
  if (!limits.links) {
    fitting.symlinks_left_out = erase(EntryKind::symlink);
    fitting.hard_links_left_out = erase(EntryKind::hard_link);
  }
  if (limits.holes) return;
  for (const Entry& entry : set.entries) fitting.holes_filled += entry.holes.empty() ? 0 : 1;
}

bool needs_fitting(const PathTable& paths, const TraceTrees& trees,
                   const FileSystemLimits& limits) {
  return limits.windows_names || uses_reserved_names(paths, trees.initial);
}

}  // namespace

bool NameFitter::is_reserved(std::string_view name) {
  return name == kLostAndFound;
}

std::string NameFitter::fit(std::string_view name, bool in_root) {
  std::string fitted(name);
  if (limits_.windows_names) {
    fitted = escape_name(name, limits_.ascii_names);
    std::vector<std::string>& same = taken_[fold_case(fitted)];
    const auto found = std::ranges::find(same, fitted);
    const auto earlier = found - same.begin();
    if (found == same.end()) same.push_back(fitted);
    if (earlier > 0) fitted += fmt::format("%~{}", earlier);
  }
  if (in_root && is_reserved(fitted)) {
    fitted = fmt::format("%{:02X}{}", static_cast<unsigned char>(fitted[0]), fitted.substr(1));
  }
  check_name_length(fitted, printable(name), limits_, "choose another file system");
  return fitted;
}

FittedSet fit_file_set(const FileSet& set, const std::vector<FileSystemLimits>& all) {
  const FileSystemLimits limits = strictest(all);
  check_file_sizes(set, all, "remove it, use --scale, or choose another file system");
  FittedSet fitted;
  fitted.set = set;
  remove_unsupported(fitted.set, limits, fitted);
  PathFitter paths(limits);
  for (Entry& entry : fitted.set.entries) {
    entry.path = paths.fit(entry.path, fitted.escaped);
    if (entry.kind == EntryKind::hard_link) entry.target = paths.at(entry.target);
  }
  fitted.names_changed = fitted.escaped.size();
  return fitted;
}

FittedTrace fit_trace(const PathTable& paths, const TextTable& texts, const TraceTrees& trees,
                      const std::vector<FileSystemLimits>& all) {
  const FileSystemLimits limits = strictest(all);
  FittedTrace fitted;
  fitted.initial = trees.initial;
  fitted.final = trees.final;
  if (needs_fitting(paths, trees, limits)) {
    NameFitter names(limits);
    fitted.tables = std::make_unique<TraceTables>();
    std::set<std::string> seen;
    for (PathId id = kRoots; id < paths.size(); ++id) {
      const PathTable::Node& node = paths.node(id);
      std::string name = names.fit(node.name, paths.is_root(node.parent));
      if (name != node.name && seen.insert(node.name).second) {
        if (fitted.escaped.size() < kExamples) fitted.escaped.push_back({node.name, name});
      }
      fitted.tables->paths.append(node.parent, name);
    }
    fitted.names_changed = seen.size();
    for (TextId id = 1; id < texts.size(); ++id) fitted.tables->texts.append(texts.text(id));
    fit_paths(fitted.initial, names);
    fit_paths(fitted.final, names);
  }
  check_file_sizes(fitted.initial, all, "choose another file system");
  remove_unsupported(fitted.initial, limits, fitted);
  return fitted;
}

void check_file_sizes(const FileSet& set, const std::vector<FileSystemLimits>& limits,
                      std::string_view advice) {
  const std::uint64_t most = strictest(limits).largest_file;
  for (const Entry& entry : set.entries) {
    if (entry.size <= most) continue;
    throw Error(ErrorKind::failed,
                fmt::format("{} has {}, more than the file system's limit of {} ({} bytes): {}",
                            printable(entry.path), format_size(entry.size), format_size(most), most,
                            advice));
  }
}

void add_fitting(const Fitting& fitting, const std::string& file_system, const std::string& subject,
                 Result& result) {
  if (fitting.names_changed > 0) {
    std::string list;
    for (std::size_t i = 0; i < std::min(kNamed, fitting.escaped.size()); ++i) {
      const auto& [original, escaped] = fitting.escaped[i];
      list += fmt::format("{}{} -> {}", i > 0 ? ", " : "", printable(original), escaped);
    }
    result.warn(
        {"names-escaped",
         fmt::format("{} names of '{}' are escaped on {}: {}{}", fitting.names_changed, subject,
                     file_system, list, fitting.names_changed > kNamed ? ", …" : ""),
         "% and two hexadecimal digits encode a byte, %~1 marks a case collision; "
         "the result file lists them"});
    const auto same = [&](const EscapedNames& other) {
      return other.file_system == file_system && other.set == subject;
    };
    if (std::ranges::none_of(result.escaped_names, same)) {
      result.escaped_names.push_back({file_system, subject, fitting.escaped});
    }
  }
  const auto downgrade = [&](std::uint64_t count, std::string_view feature, std::string_view done) {
    if (count == 0) return;
    result.warn({"downgraded",
                 fmt::format("{} does not support {}: {} {} '{}'", file_system, feature, count,
                             done, subject),
                 "compare with other file systems only if these do not matter"});
  };
  downgrade(fitting.symlinks_left_out, "symbolic links", "left out of");
  downgrade(fitting.hard_links_left_out, "hard links", "left out of");
  downgrade(fitting.holes_filled, "holes", "files written in full in");
}

}  // namespace filereel

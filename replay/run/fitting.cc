#include "replay/run/fitting.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits.h>

#include "filesets/ownership/tree_walk.h"
#include "filesets/system/counted.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "traces/operation_makers.h"

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

// Counts names of a directory that differ only in case from earlier ones.
class CaseCounter {
 public:
  CaseCounter(const EntryList& entries, const std::function<std::string(std::uint32_t)>& name_of) {
    std::vector<std::uint64_t> hashes;
    hashes.reserve(entries.size());
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      hashes.push_back(NumberIndex::hash(entries.directory(i), fold_case(name_of(i))));
    }
    std::ranges::sort(hashes);
    for (std::size_t i = 1; i < hashes.size(); ++i) {
      if (hashes[i] == hashes[i - 1]) suspects_.insert(hashes[i]);
    }
  }

  // The number of such names before; call once per entry, in their order.
  std::uint64_t earlier(std::uint32_t directory, std::string_view name) {
    if (suspects_.empty()) return 0;
    const std::string folded = fold_case(name);
    if (!suspects_.contains(NumberIndex::hash(directory, folded))) return 0;
    return seen_[fmt::format("{}/{}", directory, folded)]++;
  }

 private:
  // Few names collide, so only those with the same hash are kept.
  std::unordered_set<std::uint64_t> suspects_;
  std::unordered_map<std::string, std::uint64_t> seen_;  // by directory and folded name
};

// Checks the lengths of paths in the order of a set.
class PathLengths {
 public:
  explicit PathLengths(const EntryList& entries) : entries_(entries) {}

  void check(std::uint32_t number) {
    const std::uint32_t directory = entries_.directory(number);
    if (directory != last_directory_) {
      last_directory_ = directory;
      last_length_ = directory == EntryList::kNoDirectory ? 0 : entries_.path(directory).size() + 1;
    }
    const std::size_t length = last_length_ + entries_.name(number).size();
    if (length <= kLongestPath) return;
    throw Error(ErrorKind::failed,
                fmt::format("the path {} has {}, more than the limit of {}: shorten it in the file "
                            "set",
                            entries_.path(number), counted(length, "byte"), kLongestPath));
  }

 private:
  const EntryList& entries_;
  std::uint32_t last_directory_ = EntryList::kNoDirectory;  // of the entry before
  std::size_t last_length_ = 0;  // bytes of its path and the slash behind it
};

// By entry: the names that differ on the volumes.
using ChangedNames = std::unordered_map<std::uint32_t, std::string>;

ChangedNames escaped_names(const EntryList& entries, const FileSystemLimits& limits) {
  ChangedNames changed;
  const auto escaped = [&](std::uint32_t i) {
    return escape_name(entries.name(i), limits.ascii_names);
  };
  CaseCounter cases(entries, escaped);
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    std::string name = escaped(i);
    const std::uint64_t earlier = cases.earlier(entries.directory(i), name);
    if (earlier > 0) name += fmt::format("%~{}", earlier);
    check_name_length(name, entries.path(i), limits, "shorten it in the file set");
    if (name != entries.name(i)) changed.emplace(i, std::move(name));
  }
  return changed;
}

// The entries with these names. Their order, and so their numbers, remain.
EntryList renamed(const EntryList& entries, const ChangedNames& changed) {
  EntryList copy;
  copy.reserve(entries.size());
  std::optional<EntryFinder> finder;  // most sets have no hard links
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    Entry entry = entries.without_path(i);
    if (entry.kind == EntryKind::hard_link) {
      if (!finder) finder.emplace(entries);
      entry.target = copy.path(finder->find(entry.target));
    }
    const auto found = changed.find(i);
    const std::string_view name = found == changed.end() ? entries.name(i) : found->second;
    copy.add_below(entries.directory(i), name, entry);
  }
  return copy;
}

void escape_names(EntryList& entries, const FileSystemLimits& limits, Fitting& fitting) {
  const ChangedNames changed = escaped_names(entries, limits);
  fitting.names_changed = changed.size();
  if (changed.empty()) return;
  EntryList copy = renamed(entries, changed);
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (changed.contains(i)) fitting.escaped.push_back({entries.path(i), copy.path(i)});
  }
  entries = std::move(copy);
}

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
  EntryList fitted;
  for (Entry entry : set.entries) {
    entry.path = fit_path(names, entry.path);
    if (entry.kind == EntryKind::hard_link) entry.target = fit_path(names, entry.target);
    fitted.push_back(entry);
  }
  set.entries = std::move(fitted);
}

bool uses_reserved_names(const PathTable& paths, const FileSet& initial) {
  PathId id = paths.node(PathTable::root(Role::near)).first_child;
  for (; id != PathTable::kNone; id = paths.node(id).next_sibling) {
    if (NameFitter::is_reserved(paths.node(id).name)) return true;
  }
  for (std::size_t i = 0; i < initial.entries.size(); ++i) {
    if (initial.entries.directory(i) != EntryList::kNoDirectory) continue;
    if (NameFitter::is_reserved(initial.entries.name(i))) return true;
  }
  return false;
}

void remove_links(EntryList& entries, Fitting& fitting) {
  const auto erase = [&](EntryKind kind) {
    return erase_entries(entries, [&](std::size_t i) { return entries.kind(i) == kind; });
  };
  fitting.symlinks_left_out = erase(EntryKind::symlink);
  fitting.hard_links_left_out = erase(EntryKind::hard_link);
}

std::uint64_t files_with_holes(const EntryList& entries) {
  std::uint64_t files = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) files += entries.holes(i).empty() ? 0 : 1;
  return files;
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
  EntryList& entries = fitted.set.entries;
  if (!limits.links) remove_links(entries, fitted);
  if (!limits.holes) fitted.holes_filled = files_with_holes(entries);
  if (limits.windows_names) escape_names(entries, limits, fitted);
  PathLengths lengths(entries);
  for (std::uint32_t i = 0; i < entries.size(); ++i) lengths.check(i);
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
      const PathTable::Node node = paths.node(id);
      std::string name = names.fit(node.name, paths.is_root(node.parent));
      if (name != node.name && seen.insert(std::string(node.name)).second) {
        if (fitted.escaped.size() < kExamples) {
          fitted.escaped.push_back({std::string(node.name), name});
        }
      }
      fitted.tables->paths.append(node.parent, name);
    }
    fitted.names_changed = seen.size();
    for (TextId id = 1; id < texts.size(); ++id) fitted.tables->texts.append(texts.text(id));
    fit_paths(fitted.initial, names);
    fit_paths(fitted.final, names);
  }
  check_file_sizes(fitted.initial, all, "choose another file system");
  if (!limits.links) remove_links(fitted.initial.entries, fitted);
  if (!limits.holes) fitted.holes_filled = files_with_holes(fitted.initial.entries);
  return fitted;
}

void check_file_sizes(const FileSet& set, const std::vector<FileSystemLimits>& limits,
                      std::string_view advice) {
  const std::uint64_t most = strictest(limits).largest_file;
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    const std::uint64_t size = set.entries.file_size(i);
    if (size <= most) continue;
    throw Error(ErrorKind::failed,
                fmt::format("{} has {}, more than the file system's limit of {} ({}): {}",
                            printable(set.entries.path(i)), format_size(size), format_size(most),
                            counted(most, "byte"), advice));
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
         fmt::format("{} of '{}' {} escaped on {}: {}{}", counted(fitting.names_changed, "name"),
                     subject, agreeing(fitting.names_changed, "is", "are"), file_system, list,
                     fitting.names_changed > kNamed ? ", …" : ""),
         "% and two hexadecimal digits encode a byte, %~1 marks a case collision; "
         "the result file lists them"});
    const auto same = [&](const EscapedNames& other) {
      return other.file_system == file_system && other.set == subject;
    };
    if (std::ranges::none_of(result.escaped_names, same)) {
      result.escaped_names.push_back({file_system, subject, fitting.escaped});
    }
  }
  const auto downgrade = [&](std::uint64_t count, std::string_view feature, std::string_view noun,
                             std::string_view done) {
    if (count == 0) return;
    result.warn({"downgraded",
                 fmt::format("{} does not support {}: {} {} '{}'", file_system, feature,
                             counted(count, noun), done, subject),
                 "compare with other file systems only if these do not matter"});
  };
  downgrade(fitting.symlinks_left_out, "symbolic links", "link", "left out of");
  downgrade(fitting.hard_links_left_out, "hard links", "link", "left out of");
  downgrade(fitting.holes_filled, "holes", "file", "written in full in");
}

void warn_of_attributes(const FileSet& set, Result& result) {
  std::uint64_t modes = 0;
  for (std::size_t i = 0; i < set.entries.size(); ++i) {
    const EntryKind kind = set.entries.kind(i);
    const std::uint32_t mode = set.entries.mode(i);
    modes += (kind == EntryKind::directory && mode != directory_mode(mode)) ||
             (kind == EntryKind::file && mode != file_mode(mode));
  }
  std::vector<std::string> what;
  if (set.entries.has_times()) what.emplace_back("files get the time of their creation");
  if (modes > 0) {
    what.push_back(fmt::format(
        "modes lose set-ID and sticky bits and get access for the owner (entries: {})", modes));
  }
  if (what.empty()) return;
  result.warn({"attributes-not-set",
               fmt::format("'{}': {}", printable(set.name), fmt::join(what, "; ")),
               "the figures are not affected; filereel populate sets all times and modes"});
}

}  // namespace filereel

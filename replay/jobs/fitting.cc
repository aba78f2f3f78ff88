#include "replay/jobs/fitting.h"

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
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "replay/jobs/limit_checks.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

constexpr std::size_t kExamples = 1000;
constexpr std::size_t kNamed = 5;  // in a warning
// Leaves room for the directories of a workload and the terminating null.
constexpr std::size_t kLongestPath = PATH_MAX - 32;

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

// The texts of symbolic links in a list with changed names: each name in it as on the volumes.
class FittedTexts {
 public:
  FittedTexts(const EntryList& entries, const ChangedNames& changed, const FileSystemLimits& limits)
      : entries_(entries), finder_(entries), changed_(changed), limits_(limits) {}

  std::string text(std::uint32_t link) const {
    // The directory that the text leads to so far: a number or kNoDirectory, or nothing where that
    // is outside, missing, or behind another link.
    std::optional<std::uint32_t> at = entries_.directory(link);
    if (entries_.target(link).starts_with('/')) at.reset();
    return map_components(entries_.target(link), [&](std::string_view name) {
      if (name == "..") {
        if (at && *at == EntryList::kNoDirectory) at.reset();
        if (at) at = entries_.directory(*at);
        return std::string(name);
      }
      const std::uint32_t number = at ? finder_.find(*at, name) : NumberIndex::kNone;
      at.reset();
      if (number == NumberIndex::kNone) return escape_name(name, limits_.ascii_names);
      if (entries_.kind(number) == EntryKind::directory) at = number;
      const auto found = changed_.find(number);
      return found == changed_.end() ? std::string(name) : found->second;
    });
  }

 private:
  const EntryList& entries_;
  EntryFinder finder_;
  const ChangedNames& changed_;
  const FileSystemLimits& limits_;
};

bool has_symlinks(const EntryList& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) == EntryKind::symlink) return true;
  }
  return false;
}

// By entry: the texts of symbolic links that differ on the volumes.
ChangedNames escaped_texts(const EntryList& entries, const ChangedNames& names,
                           const FileSystemLimits& limits) {
  ChangedNames changed;
  if (!has_symlinks(entries)) return changed;
  const FittedTexts texts(entries, names, limits);
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::symlink) continue;
    std::string text = texts.text(i);
    if (text != entries.target(i)) changed.emplace(i, std::move(text));
  }
  return changed;
}

// The entries with these names and texts. Their order, and so their numbers, remain.
EntryList renamed(const EntryList& entries, const ChangedNames& changed,
                  const ChangedNames& texts) {
  EntryList copy;
  copy.reserve(entries.size());
  std::optional<EntryFinder> finder;  // most sets have no hard links
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    Entry entry = entries.without_path(i);
    if (entry.kind == EntryKind::hard_link) {
      if (!finder) finder.emplace(entries);
      entry.target = copy.path(finder->find(entry.target));
    }
    if (const auto text = texts.find(i); text != texts.end()) entry.target = text->second;
    const auto found = changed.find(i);
    const std::string_view name = found == changed.end() ? entries.name(i) : found->second;
    copy.add_below(entries.directory(i), name, entry);
  }
  return copy;
}

void escape_names(EntryList& entries, const FileSystemLimits& limits, Fitting& fitting) {
  const ChangedNames changed = escaped_names(entries, limits);
  const ChangedNames texts = escaped_texts(entries, changed, limits);
  fitting.names_changed = changed.size();
  fitting.texts_changed = texts.size();
  if (changed.empty() && texts.empty()) return;
  EntryList copy = renamed(entries, changed, texts);
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
    if (entry.kind == EntryKind::symlink) entry.target = names.fit_text(entry.target);
    fitted.push_back(entry);
  }
  set.entries = std::move(fitted);
}

bool uses_names_of_root(const PathTable& paths, const FileSet& initial,
                        const FileSystemLimits& limits) {
  PathId id = paths.node(PathTable::root(Role::near)).first_child;
  for (; id != PathTable::kNone; id = paths.node(id).next_sibling) {
    if (exists_in_root(paths.node(id).name, limits)) return true;
  }
  for (std::size_t i = 0; i < initial.entries.size(); ++i) {
    if (initial.entries.directory(i) != EntryList::kNoDirectory) continue;
    if (exists_in_root(initial.entries.name(i), limits)) return true;
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
  return limits.windows_names || uses_names_of_root(paths, trees.initial, limits);
}

}  // namespace

std::string NameFitter::escaped(std::string_view name) {
  if (!limits_.windows_names) return std::string(name);
  std::string fitted = escape_name(name, limits_.ascii_names);
  std::vector<std::string>& same = taken_[fold_case(fitted)];
  const auto found = std::ranges::find(same, fitted);
  const auto earlier = found - same.begin();
  if (found == same.end()) same.push_back(fitted);
  if (earlier > 0) fitted += fmt::format("%~{}", earlier);
  return fitted;
}

std::string NameFitter::fit_text(std::string_view text) {
  return map_components(text, [&](std::string_view name) {
    return name == ".." ? std::string(name) : escaped(name);
  });
}

std::string NameFitter::fit(std::string_view name, bool in_root) {
  std::string fitted = escaped(name);
  if (in_root && exists_in_root(fitted, limits_)) {
    fitted = fmt::format("%{:02X}{}", static_cast<unsigned char>(fitted[0]), fitted.substr(1));
  }
  check_name_length(fitted, printable(name), limits_, "choose another file system");
  return fitted;
}

FittedSet fit_file_set(const FileSet& set, const std::vector<FileSystemLimits>& all) {
  const FileSystemLimits limits = strictest(all);
  FittedSet fitted;
  fitted.set = set;
  EntryList& entries = fitted.set.entries;
  if (!limits.links) remove_links(entries, fitted);
  if (!limits.holes) fitted.holes_filled = files_with_holes(entries);
  if (limits.windows_names) escape_names(entries, limits, fitted);
  check_entries(entries, limits, "remove it, use --scale, or choose another file system");
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
    fit_paths(fitted.initial, names);
    fit_paths(fitted.final, names);
    for (TextId id = 1; id < texts.size(); ++id) {
      const std::string text = names.fit_text(texts.text(id));
      if (limits.links && text != texts.text(id)) ++fitted.texts_changed;
      fitted.tables->texts.append(text);
    }
  }
  if (!limits.links) remove_links(fitted.initial.entries, fitted);
  check_entries(fitted.initial.entries, limits, "choose another file system");
  fitted.times_outside = times_outside(fitted.initial.entries, limits);
  if (!limits.holes) fitted.holes_filled = files_with_holes(fitted.initial.entries);
  return fitted;
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
  if (fitting.texts_changed > 0) {
    result.warn({"names-escaped",
                 fmt::format("{} of symbolic links of '{}' {} escaped on {}, as names are",
                             counted(fitting.texts_changed, "text"), subject,
                             agreeing(fitting.texts_changed, "is", "are"), file_system),
                 "the links lead to the escaped names"});
  }
  const auto downgrade = [&](std::uint64_t count, std::string_view feature,
                             const std::string& counted_ones, std::string_view done) {
    if (count == 0) return;
    result.warn({"downgraded",
                 fmt::format("{} does not support {}: {} {} '{}'", file_system, feature,
                             counted_ones, done, subject),
                 "compare with other file systems only if these do not matter"});
  };
  const auto links = [](std::uint64_t count) { return counted(count, "link"); };
  downgrade(fitting.symlinks_left_out, "symbolic links", links(fitting.symlinks_left_out),
            "left out of");
  downgrade(fitting.hard_links_left_out, "hard links", links(fitting.hard_links_left_out),
            "left out of");
  downgrade(fitting.times_outside, "their times",
            counted(fitting.times_outside, "entry", "entries"), "with the nearest time in");
  downgrade(fitting.holes_filled, "holes", counted(fitting.holes_filled, "file"),
            "written in full in");
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

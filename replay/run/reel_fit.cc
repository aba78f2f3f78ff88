#include "replay/run/reel_fit.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "filesets/ownership/tree_walk.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::size_t kExamples = 1000;

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

FittedTrace fit_trace(const PathTable& paths, const TextTable& texts, const TraceTrees& trees,
                      const FileSystemLimits& limits) {
  FittedTrace fitted;
  fitted.initial = trees.initial;
  fitted.final = trees.final;
  if (needs_fitting(paths, trees, limits)) {
    NameFitter names(limits);
    fitted.tables = std::make_unique<TraceTables>();
    std::set<std::string> seen;
    for (PathId id = kRoles; id < paths.size(); ++id) {
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
  for (const Entry& entry : fitted.initial.entries) {
    if (entry.size > limits.largest_file) {
      throw Error(ErrorKind::failed,
                  fmt::format("the trace begins with {} of {} and this file system holds files of "
                              "at most {}: choose another file system",
                              printable(entry.path), format_size(entry.size),
                              format_size(limits.largest_file)));
    }
    if (!limits.holes && !entry.holes.empty()) ++fitted.holes_filled;
  }
  if (!limits.links) {
    const auto leave_out = [&](EntryKind kind) {
      return std::erase_if(fitted.initial.entries,
                           [&](const Entry& entry) { return entry.kind == kind; });
    };
    fitted.symlinks_left_out = leave_out(EntryKind::symlink);
    fitted.hard_links_left_out = leave_out(EntryKind::hard_link);
  }
  return fitted;
}

}  // namespace filereel

#include "filesets/specification/file_group.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "filesets/content/content_kinds.h"
#include "filesets/specification/scaling.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/random.h"

namespace filereel {
namespace {

constexpr std::uint32_t kDirectoryMode = 0755;

std::uint64_t rounded(double value) {
  constexpr double kLimit = 0x1p62;
  return value >= kLimit ? static_cast<std::uint64_t>(kLimit)
                         : static_cast<std::uint64_t>(value + 0.5);
}

std::vector<std::uint64_t> group_sizes(const FileGroup& group, std::uint64_t seed) {
  if (group.sizes) return draw_sizes(*group.sizes, group.count, group.total, seed);
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(group.count));
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = (group.total - given) / (sizes.size() - i);
    given += sizes[i];
  }
  return sizes;
}

// For each file the index of its extension, in random order. The number of each follows its share.
std::vector<std::uint32_t> assign_extensions(const FileGroup& group, std::uint64_t seed) {
  std::vector<std::uint32_t> assigned;
  const auto count = static_cast<std::size_t>(group.count);
  assigned.reserve(count);
  std::uint64_t running = 0;
  for (std::size_t i = 0; i < group.extensions.size(); ++i) {
    running += group.extensions[i].share;
    // Rounding the running sum makes the numbers add up. 10^8 files * 10^5 fit in 64 bits.
    const auto end = static_cast<std::size_t>((group.count * running + 50'000) / 100'000);
    while (assigned.size() < std::min(end, count)) {
      assigned.push_back(static_cast<std::uint32_t>(i));
    }
  }
  Random(seed).shuffle(assigned);
  return assigned;
}

std::string joined(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty()) path += '/';
  path += name;
  return path;
}

}  // namespace

FileGroup scale_group(const FileGroup& group, double scale) {
  FileGroup scaled = group;
  if (scale == 1) return scaled;
  scaled.count = scale_count(group.count, scale);
  scaled.total = scale_bytes(group.total, scale);
  if (!group.sizes || group.count == 0 || group.total == 0) return scaled;
  const double mean_before = static_cast<double>(group.total) / static_cast<double>(group.count);
  const double mean = static_cast<double>(scaled.total) / static_cast<double>(scaled.count);
  const double ratio = mean / mean_before;
  SizeDistribution& sizes = *scaled.sizes;
  const std::uint64_t whole_mean = scaled.total / scaled.count;
  sizes.min = std::min(rounded(static_cast<double>(sizes.min) * ratio), whole_mean);
  sizes.max = std::max(rounded(static_cast<double>(sizes.max) * ratio), whole_mean + 1);
  if (sizes.pareto) {
    sizes.pareto->start = rounded(static_cast<double>(sizes.pareto->start) * ratio);
  }
  return scaled;
}

void FileSetBuilder::check_room(std::uint64_t more, std::string_view where) const {
  if (more > max_entries_ - set_.entries.size()) {
    throw_unusable(
        where,
        fmt::format("the set would have more than {} entries; reduce the counts or the scale",
                    max_entries_));
  }
}

void FileSetBuilder::add_directories(std::string_view path, std::string_view where) {
  if (path.empty()) return;
  const auto found = taken_.find(std::string(path));
  if (found != taken_.end()) {
    if (found->second == EntryKind::directory) return;
    throw_unusable(where, fmt::format("'{}' must be a directory but is another kind of entry",
                                      printable(path)));
  }
  check_path(path, where);
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = path.find('/', end + 1);
    Entry directory = directory_entry(std::string(path.substr(0, end)), kDirectoryMode);
    const auto [place, is_new] = taken_.emplace(directory.path, EntryKind::directory);
    if (!is_new) {
      if (place->second == EntryKind::directory) continue;
      throw_unusable(where, fmt::format("'{}' must be a directory but is another kind of entry",
                                        printable(place->first)));
    }
    check_room(1, where);
    set_.entries.push_back(std::move(directory));
  }
}

void FileSetBuilder::add(Entry entry, std::string_view where) {
  check_path(entry.path, where);
  const std::size_t slash = entry.path.rfind('/');
  if (slash != std::string::npos) add_directories(entry.path.substr(0, slash), where);
  if (entry.kind == EntryKind::hard_link) {
    const auto target = taken_.find(entry.target);
    if (target == taken_.end() || target->second != EntryKind::file) {
      throw_unusable(where, fmt::format("the hard link target '{}' is not a file listed before it",
                                        printable(entry.target)));
    }
  }
  check_room(1, where);
  if (!taken_.emplace(entry.path, entry.kind).second) {
    throw_unusable(
        where,
        fmt::format("duplicate path '{}'; list each path once, and a directory before its entries",
                    printable(entry.path)));
  }
  set_.entries.push_back(std::move(entry));
}

void FileSetBuilder::add_group(const FileGroup& group, std::string_view where) {
  const std::uint64_t seed = mix_seed(set_.seed, groups_++);
  check_room(group.count, where);
  check_room(group.count + directory_count(group.tree, group.count), where);
  add_directories(group.path, where);
  const auto tree = plan_tree(group.tree, group.count, mix_seed(seed, 1));
  const auto sizes = group_sizes(group, mix_seed(seed, 2));
  const auto extensions = assign_extensions(group, mix_seed(seed, 3));
  set_.entries.reserve(set_.entries.size() + tree.size() + sizes.size());

  std::vector<std::string> paths;  // of the directories
  paths.reserve(tree.size());
  std::size_t file = 0;
  for (const TreeDirectory& directory : tree) {
    if (directory.parent == TreeDirectory::kNoParent) {
      paths.push_back(group.path);
    } else {
      paths.push_back(joined(paths[directory.parent], fmt::format("d{:03}", directories_named_++)));
      add_directories(paths.back(), where);
    }
    for (std::uint64_t i = 0; i < directory.files; ++i, ++file) {
      Entry entry;
      std::string name = fmt::format("f{:06}", files_named_++);
      entry.content.compressed_permille = group.compressed_permille;
      if (!extensions.empty()) {
        const ExtensionShare& extension = group.extensions[extensions[file]];
        if (!extension.name.empty()) name += "." + extension.name;
        entry.content.compressed_permille = extension.compressed_permille;
      }
      entry.path = joined(paths.back(), name);
      entry.size = sizes[file];
      entry.content.key = content_key(entry.path);
      entry.content.duplicate_permille = group.duplicate_permille;
      set_.entries.push_back(std::move(entry));
    }
  }
}

}  // namespace filereel

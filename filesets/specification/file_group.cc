#include "filesets/specification/file_group.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "filesets/content/content_kinds.h"
#include "filesets/specification/scaling.h"
#include "filesets/system/counted.h"
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
    throw_unusable(where,
                   fmt::format("the set would have more than {}; reduce the counts or the scale",
                               counted(max_entries_, "entry", "entries")));
  }
}

std::uint32_t FileSetBuilder::directory_below(std::uint32_t parent, std::string_view name,
                                              std::string_view where) {
  const std::uint32_t found = known_.find(parent, name);
  if (found == NumberIndex::kNone) {
    check_room(1, where);
    const std::uint32_t added =
        set_.entries.add_below(parent, name, directory_entry("", kDirectoryMode));
    known_.add(added);
    return added;
  }
  if (set_.entries.kind(found) == EntryKind::directory) return found;
  throw_unusable(where, fmt::format("'{}' must be a directory but is another kind of entry",
                                    printable(set_.entries.path(found))));
}

void FileSetBuilder::add_directories(std::string_view path, std::string_view where) {
  if (path.empty() || set_.entries.find_directory(path) != EntryList::kNoDirectory) return;
  check_path(path, where);
  std::uint32_t at = EntryList::kNoDirectory;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    at = directory_below(at, path.substr(0, end), where);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
}

void FileSetBuilder::add(const Entry& entry, std::string_view where) {
  check_path(entry.path, where);
  const std::size_t slash = entry.path.rfind('/');
  if (slash != std::string::npos) add_directories(entry.path.substr(0, slash), where);
  if (entry.kind == EntryKind::hard_link) {
    const std::uint32_t target = known_.find(entry.target);
    if (target == NumberIndex::kNone || set_.entries.kind(target) != EntryKind::file) {
      throw_unusable(where, fmt::format("the hard link target '{}' is not a file listed before it",
                                        printable(entry.target)));
    }
  }
  check_room(1, where);
  if (known_.find(entry.path) != NumberIndex::kNone) {
    throw_unusable(
        where,
        fmt::format("duplicate path '{}'; list each path once, and a directory before its entries",
                    printable(entry.path)));
  }
  set_.entries.push_back(entry);
  known_.add(static_cast<std::uint32_t>(set_.entries.size() - 1));
}

struct FileSetBuilder::GroupFiles {
  const FileGroup& group;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint32_t> extensions;  // indices; empty: no extensions
  std::size_t added = 0;
};

void FileSetBuilder::add_files(std::uint32_t directory, std::uint64_t count, GroupFiles& files) {
  std::string path = directory == EntryList::kNoDirectory ? "" : set_.entries.path(directory) + "/";
  const std::size_t name_begins = path.size();
  Entry entry;
  entry.content.duplicate_permille = files.group.duplicate_permille;
  for (const std::size_t end = files.added + count; files.added < end; ++files.added) {
    path.resize(name_begins);
    fmt::format_to(std::back_inserter(path), "f{:06}", files_named_++);
    entry.content.compressed_permille = files.group.compressed_permille;
    if (!files.extensions.empty()) {
      const ExtensionShare& extension = files.group.extensions[files.extensions[files.added]];
      if (!extension.name.empty()) path += "." + extension.name;
      entry.content.compressed_permille = extension.compressed_permille;
    }
    entry.size = files.sizes[files.added];
    entry.content.key = content_key(path);
    set_.entries.add_below(directory, std::string_view(path).substr(name_begins), entry);
  }
}

void FileSetBuilder::add_group(const FileGroup& group, std::string_view where) {
  const std::uint64_t seed = mix_seed(set_.seed, groups_++);
  check_room(group.count, where);
  check_room(group.count + directory_count(group.tree, group.count), where);
  add_directories(group.path, where);
  if (group.sizes) {
    check_sizes(*group.sizes, group.count, group.total, fmt::format("{}: file sizes", where));
  }
  const auto tree = plan_tree(group.tree, group.count, mix_seed(seed, 1));
  GroupFiles files{group, group_sizes(group, mix_seed(seed, 2)),
                   assign_extensions(group, mix_seed(seed, 3))};
  set_.entries.reserve(set_.entries.size() + tree.size() + files.sizes.size());

  std::vector<std::uint32_t> numbers;  // of the directories in the set
  numbers.reserve(tree.size());
  for (const TreeDirectory& directory : tree) {
    if (directory.parent == TreeDirectory::kNoParent) {
      numbers.push_back(set_.entries.find_directory(group.path));
    } else {
      numbers.push_back(directory_below(numbers[directory.parent],
                                        fmt::format("d{:03}", directories_named_++), where));
    }
    add_files(numbers.back(), directory.files, files);
  }
}

}  // namespace filereel

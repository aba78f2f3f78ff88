#include "filesets/specification/file_group.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "filesets/content/content.h"
#include "filesets/specification/scaling.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/random.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr double kMaxOverMean = 5;

// A number of directories, or an index. 32 bits bound the memory that a tree can ask for.
using Count = std::uint32_t;

Count count_of(const std::vector<TreeDirectory>& directories) {
  return static_cast<Count>(directories.size());
}

// Directories in creation order, starting with the top directory.
std::vector<TreeDirectory> grow(Count count, std::uint32_t max_depth, Random& random) {
  std::vector<TreeDirectory> directories(1);
  directories.reserve(count);
  // One ticket per unit of weight, so that choosing a parent takes constant time.
  std::vector<Count> tickets = {0, 0};
  while (directories.size() < count) {
    const Count parent = tickets[static_cast<std::size_t>(random.below(tickets.size()))];
    const Count child = count_of(directories);
    directories.push_back({parent, directories[parent].depth + 1, 0});
    tickets.push_back(parent);
    if (directories[child].depth < max_depth) tickets.insert(tickets.end(), 2, child);
  }
  return directories;
}

// Reorders the directories depth first.
std::vector<TreeDirectory> depth_first(const std::vector<TreeDirectory>& born) {
  const Count count = count_of(born);
  // Children by counting sort: those of directory d are children[first[d]] to [first[d + 1] - 1].
  std::vector<Count> first(std::size_t{count} + 1, 0);
  for (Count i = 1; i < count; ++i) ++first[born[i].parent + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Count> children(count);
  std::vector<Count> next(first.begin(), first.end() - 1);
  for (Count i = 1; i < count; ++i) children[next[born[i].parent]++] = i;

  std::vector<TreeDirectory> ordered;
  ordered.reserve(count);
  std::vector<Count> new_index(count, TreeDirectory::kNoParent);
  std::vector<Count> stack = {0};
  while (!stack.empty()) {
    const Count old = stack.back();
    stack.pop_back();
    TreeDirectory directory = born[old];
    if (old != 0) directory.parent = new_index[directory.parent];
    new_index[old] = count_of(ordered);
    ordered.push_back(directory);
    for (Count i = first[old + 1]; i > first[old]; --i) stack.push_back(children[i - 1]);
  }
  return ordered;
}

void spread_evenly(std::vector<TreeDirectory>& directories, std::uint64_t files) {
  const std::uint64_t share = files / directories.size();
  std::uint64_t extra = files % directories.size();
  for (TreeDirectory& directory : directories) {
    directory.files = share + (extra > 0 ? 1 : 0);
    if (extra > 0) --extra;
  }
}

// Exponential shares: most directories are small. fusefat's time is cubic in the number of files in
// a directory, so no directory may be far above the mean.
void spread_varied(std::vector<TreeDirectory>& directories, std::uint64_t files, Random& random) {
  std::vector<double> running(directories.size());
  double sum = 0;
  for (double& end : running) {
    sum += -portable_log(random.uniform());
    end = sum;
  }
  const double mean = static_cast<double>(files) / static_cast<double>(directories.size());
  const auto cap = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kMaxOverMean * mean));
  std::uint64_t given = 0;
  std::uint64_t excess = 0;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    // Rounding the running sum instead of each share makes the shares add up.
    const std::uint64_t end =
        i + 1 == directories.size()
            ? files
            : std::min(files, static_cast<std::uint64_t>(
                                  running[i] / sum * static_cast<double>(files) + 0.5));
    const std::uint64_t wanted = end - given;
    given = end;
    directories[i].files = std::min(wanted, cap);
    excess += wanted - directories[i].files;
  }
  // cap * directories >= files, so there is always room for the excess.
  while (excess > 0) {
    for (TreeDirectory& directory : directories) {
      if (excess == 0) break;
      if (directory.files >= cap) continue;
      ++directory.files;
      --excess;
    }
  }
}

}  // namespace

std::uint64_t directory_count(const TreeShape& shape, std::uint64_t files) {
  if (shape.max_depth == 0) return 1;
  const double per_directory = std::max(shape.files_per_directory, 0.1);
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(files) / per_directory + 0.5));
}

std::vector<TreeDirectory> plan_tree(const TreeShape& shape, std::uint64_t files,
                                     std::uint64_t seed) {
  Random random(seed);
  const auto count = static_cast<Count>(directory_count(shape, files));
  std::vector<TreeDirectory> directories = depth_first(grow(count, shape.max_depth, random));
  if (shape.spread == FileSpread::even) {
    spread_evenly(directories, files);
  } else {
    spread_varied(directories, files, random);
  }
  return directories;
}

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

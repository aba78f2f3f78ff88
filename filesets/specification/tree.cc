#include "filesets/specification/tree.h"

#include <algorithm>
#include <numeric>

#include "filesets/system/random.h"

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

}  // namespace filereel

#include <algorithm>

#include <doctest/doctest.h>

#include "filesets/specification/file_group.h"

namespace filereel {
namespace {

TEST_CASE("the number of directories follows from the files per directory") {
  CHECK(directory_count({.files_per_directory = 10}, 1000) == 100);
  CHECK(directory_count({.files_per_directory = 10}, 3) == 1);
  CHECK(directory_count({.max_depth = 0}, 1000) == 1);
  CHECK(plan_tree({.files_per_directory = 10}, 1000, 1).size() == 100);
}

TEST_CASE("all files are given out, and no directory gets more than five times the mean") {
  for (const std::uint64_t files : {0u, 1u, 7u, 100u, 8504u, 50'000u}) {
    for (const double mean : {0.5, 1.0, 10.2, 300.0}) {
      for (const FileSpread spread : {FileSpread::varied, FileSpread::even}) {
        const auto tree = plan_tree({.files_per_directory = mean, .spread = spread}, files, files);
        std::uint64_t given = 0;
        std::uint64_t most = 0;
        for (const TreeDirectory& directory : tree) {
          given += directory.files;
          most = std::max(most, directory.files);
        }
        CHECK(given == files);
        const double real_mean = static_cast<double>(files) / static_cast<double>(tree.size());
        CHECK(static_cast<double>(most) <= std::max(1.0, 5 * real_mean));
      }
    }
  }
}

TEST_CASE("directories come depth first, each behind its parent, and no deeper than allowed") {
  const auto tree = plan_tree({.max_depth = 4}, 5000, 9);
  CHECK(tree[0].parent == TreeDirectory::kNoParent);
  std::uint32_t deepest = 0;
  for (std::size_t i = 1; i < tree.size(); ++i) {
    CHECK(tree[i].parent < i);
    CHECK(tree[i].depth == tree[tree[i].parent].depth + 1);
    // Depth first: the parent is the directory before this one or one of those that it lies in.
    std::size_t ancestor = i - 1;
    while (ancestor != tree[i].parent && ancestor != 0) ancestor = tree[ancestor].parent;
    CHECK(ancestor == tree[i].parent);
    deepest = std::max(deepest, tree[i].depth);
  }
  CHECK(deepest == 4);
}

TEST_CASE("a tree is decided by its seed") {
  const auto parents = [](std::uint64_t seed) {
    std::vector<std::size_t> all;
    for (const auto& directory : plan_tree({}, 1000, seed)) all.push_back(directory.parent);
    return all;
  };
  CHECK(parents(1) == parents(1));
  CHECK(parents(1) != parents(2));
}

TEST_CASE("a spread that varies has more small directories than large ones") {
  const auto tree = plan_tree({}, 10'000, 1);
  const auto below_mean =
      std::ranges::count_if(tree, [](const TreeDirectory& d) { return d.files < 10; });
  CHECK(static_cast<std::size_t>(below_mean) > tree.size() / 2);
}

}  // namespace
}  // namespace filereel

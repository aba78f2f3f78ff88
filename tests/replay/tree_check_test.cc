#include "replay/jobs/tree_check.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "filesets/scan/populate.h"
#include "filesets/system/descriptor.h"
#include "tests/entries.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

struct Tree {
  TempDir temp;
  Descriptor root{::open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

  explicit Tree(const FileSet& set) { populate_below(root.get(), set, "the tree", {}, {}); }
  TreeComparison compare(const FileSet& expected, const FileSystemLimits& limits = {}) const {
    return compare_tree(root.get(), std::vector{ExpectedTree{"", expected.entries}}, limits, {});
  }
  void run(const std::string& command) const {
    REQUIRE(std::system(("cd '" + temp.path() + "' && " + command).c_str()) == 0);
  }
};

FileSet sample() {
  return set_of({directory("d"), file("d/a", 10), directory("d/e"), file("d/e/b", 0),
                 link_to(EntryKind::symlink, "l", "d/a"),
                 link_to(EntryKind::hard_link, "h", "d/a")});
}

TEST_CASE("a tree as expected has no differences") {
  const Tree tree(sample());
  const TreeComparison got = tree.compare(sample());
  CHECK(got.entries == 6);
  CHECK(got.differences == 0);
  CHECK(got.left_out == 0);
  CHECK(got.examples.empty());
}

TEST_CASE("missing and unexpected entries, wrong sizes and kinds are counted and named in order") {
  const Tree tree(sample());
  tree.run("rm d/e/b && printf 12345 > d/a && mkdir x && rm l && mkdir l && mkfifo z");
  const TreeComparison got = tree.compare(sample());
  CHECK(got.differences == 6);
  REQUIRE(got.examples.size() == 6);
  CHECK(got.examples[0].path == "d/a");
  CHECK(got.examples[0].text == "has 5 bytes instead of 10");
  CHECK(got.examples[1].path == "d/e/b");
  CHECK(got.examples[1].text == "is missing (file)");
  CHECK(got.examples[2].path == "h");  // the same file by another name
  CHECK(got.examples[3].text == "is a directory instead of a symbolic link");
  CHECK(got.examples[4].text == "is unexpected (directory)");
  CHECK(got.examples[5].text == "is unexpected (special file)");
}

TEST_CASE("links that the file system does not support are not differences") {
  const Tree tree(sample());
  tree.run("rm l h");
  FileSystemLimits limits;
  limits.links = false;
  const TreeComparison got = tree.compare(sample(), limits);
  CHECK(got.differences == 0);
  CHECK(got.left_out == 2);
  CHECK(tree.compare(sample()).differences == 2);
}

TEST_CASE("the volume's own entries are ignored in its root only") {
  const Tree tree(sample());
  tree.run("mkdir lost+found");
  CHECK(tree.compare(sample()).differences == 0);
  tree.run("mkdir d/lost+found");
  CHECK(tree.compare(sample()).differences == 1);
}

TEST_CASE("a directory lost+found of the trace is compared") {
  const FileSet set = set_of({directory("lost+found"), file("lost+found/a", 10)});
  const Tree tree(set);
  CHECK(tree.compare(set).differences == 0);
  tree.run("rm -r lost+found");
  CHECK(tree.compare(set).differences == 2);
}

TEST_CASE("a symbolic link is not followed out of the tree") {
  const Tree tree(set_of({directory("d")}));
  tree.run("rmdir d && ln -s / d");
  const TreeComparison got = tree.compare(set_of({directory("d")}));
  CHECK(got.differences == 1);
  CHECK(got.examples[0].text == "is a symbolic link instead of a directory");
}

TEST_CASE("a tree deeper than the limit of open files is compared") {
  constexpr int kLevels = 1200;
  FileSet set;
  std::string path;
  for (int i = 0; i < kLevels; ++i) {
    path += path.empty() ? "d" : "/d";
    set.entries.push_back(directory(path));
  }
  check_file_set(set);
  const Tree tree(set);
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit low{.rlim_cur = 256, .rlim_max = limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  const TreeComparison found = tree.compare(set);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(found.entries == kLevels);
  CHECK(found.differences == 0);
}

TEST_CASE("only the first of many differences are named") {
  const Tree tree(set_of({}));
  tree.run("seq -f f%03g 100 | xargs touch");
  const TreeComparison got = tree.compare(set_of({}));
  CHECK(got.differences == 100);
  REQUIRE(got.examples.size() == TreeComparison::kExamples);
  CHECK(got.examples[0].path == "f001");
  CHECK(got.examples[7].path == "f008");
}

}  // namespace
}  // namespace filereel

#include "traces/import/simulated_tree.h"

#include <doctest/doctest.h>
#include <fcntl.h>

namespace filereel {
namespace {

TEST_CASE("names are found in any case for as long as one of them is there") {
  PathTable paths;
  SimulatedTree tree(paths);
  const PathId directory = paths.add(Role::near, "d");
  REQUIRE(tree.make_directory(directory) == 0);
  const SimulatedTree::Number number = tree.find(directory).number;
  const auto make = [&](const char* name) {
    return tree.open(paths.add(directory, name), O_RDWR | O_CREAT).error;
  };
  REQUIRE(make("A.Txt") == 0);
  REQUIRE(make("a.txt") == 0);
  CHECK(tree.has_in_any_case(number, "A.TXT"));
  CHECK_FALSE(tree.has_in_any_case(number, "A.TX"));
  CHECK_FALSE(tree.has_in_any_case(SimulatedTree::kRoot, "A.TXT"));
  CHECK(tree.has_in_any_case(SimulatedTree::kRoot, "D"));

  REQUIRE(tree.remove_file(paths.add(directory, "A.Txt")) == 0);
  CHECK(tree.has_in_any_case(number, "A.TXT"));
  REQUIRE(tree.rename(paths.add(directory, "a.txt"), paths.add(Role::near, "B")) == 0);
  CHECK_FALSE(tree.has_in_any_case(number, "A.TXT"));
  CHECK(tree.has_in_any_case(SimulatedTree::kRoot, "b"));
}

TEST_CASE("only letters of ASCII have two cases") {
  PathTable paths;
  SimulatedTree tree(paths);
  REQUIRE(tree.make_directory(paths.add(Role::near, "\xc4[z")) == 0);
  CHECK(tree.has_in_any_case(SimulatedTree::kRoot, "\xc4[Z"));
  CHECK_FALSE(tree.has_in_any_case(SimulatedTree::kRoot, "\xe4[z"));
  CHECK_FALSE(tree.has_in_any_case(SimulatedTree::kRoot, "\xc4{z"));
}

}  // namespace
}  // namespace filereel

#include "filesets/system/search.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

struct Row {
  std::string_view name;
  int value = 0;
};

constexpr std::array<Row, 3> kRows = {{{"one", 1}, {"two", 2}, {"two", 3}}};

TEST_CASE("a range contains a value, or an element with it") {
  static_assert(contains(kRows, "two", &Row::name));
  static_assert(!contains(kRows, "three", &Row::name));
  CHECK(contains(std::vector<std::string>{"a", "b"}, "b"));
  CHECK_FALSE(contains(std::vector<std::string>(), "b"));
}

TEST_CASE("a search gives the first element, or null") {
  static_assert(find_or_null(kRows, "two", &Row::name)->value == 2);
  CHECK(find_or_null(std::span(kRows), "three", &Row::name) == nullptr);
  CHECK(find_if_or_null(kRows, [](const Row& row) { return row.value > 2; }) == &kRows[2]);
  CHECK(find_if_or_null(kRows, [](const Row& row) { return row.value > 3; }) == nullptr);
}

TEST_CASE("an element that was found can be changed") {
  std::vector<Row> rows(kRows.begin(), kRows.end());
  find_or_null(rows, "one", &Row::name)->value = 7;
  CHECK(rows.front().value == 7);
}

}  // namespace
}  // namespace filereel

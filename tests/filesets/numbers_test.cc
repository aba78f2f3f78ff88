#include "filesets/system/numbers.h"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

namespace filereel {
namespace {

TEST_CASE("a number is the whole text or none") {
  CHECK(parse_number<std::uint32_t>("4294967295") == UINT32_MAX);
  CHECK(parse_number<int>("-7") == -7);
  CHECK(parse_number<int>("755", 8) == 0755);
  CHECK(parse_number<double>("0.5") == 0.5);
  for (const char* const text : {"", " 1", "1 ", "+1", "1x", "x", "-1", "4294967296"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number<std::uint32_t>(text));
  }
}

TEST_CASE("a number outside of its range is none, and so is NaN") {
  CHECK(parse_number_in<int>("1", 1, 3) == 1);
  CHECK(parse_number_in<int>("3", 1, 3) == 3);
  CHECK_FALSE(parse_number_in<int>("0", 1, 3));
  CHECK_FALSE(parse_number_in<int>("4", 1, 3));
  CHECK_FALSE(parse_number_in<double>("nan", 0, 1));
  CHECK_FALSE(parse_number_in<double>("inf", 0, 1));
}

TEST_CASE("a number is removed from the start of a text") {
  std::string_view text = "12 %";
  double number = 0;
  CHECK(take_number(text, number));
  CHECK(number == 12);
  CHECK(text == " %");
  CHECK_FALSE(take_number(text, number));
  CHECK(number == 12);
  CHECK(text == " %");
}

}  // namespace
}  // namespace filereel

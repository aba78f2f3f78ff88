#include "filesets/system/utf8.h"

#include <doctest/doctest.h>

namespace filereel {
namespace {

TEST_CASE("columns of a text are those that a terminal gives to it") {
  CHECK(columns_of("") == 0);
  CHECK(columns_of("iso") == 3);
  CHECK(columns_of("\u00fcber 1\u20132 \u00b5s \u00d7 \u2026 \u2502") == 17);
  CHECK(columns_of("\u65e5\u672c\u8a9e") == 6);    // Chinese characters
  CHECK(columns_of("\u304b\u30ab\uff76") == 5);    // kana; the last one is halfwidth
  CHECK(columns_of("\ud55c\uae00") == 4);          // Hangul
  CHECK(columns_of("\U0001f600\U0001f680") == 4);  // emoji
  CHECK(columns_of("\U00020000\U0003fffd") == 4);  // later planes
  CHECK(columns_of("e\u0301") == 1);               // a combining accent
  CHECK(columns_of("\u1112\u1161\u11ab") == 2);    // Hangul in parts
  CHECK(columns_of("\u0e01\u0e38\u0e48") == 1);    // Thai vowel and tone mark
  CHECK(columns_of("\u05d0\u05b8") == 1);          // Hebrew point
  CHECK(columns_of("\u2764\ufe0f") == 1);          // variation selector
  CHECK(columns_of("\uff21\uff5e") == 4);          // fullwidth forms
  CHECK(columns_of("\xff\xc3") == 2);              // not UTF-8
}

TEST_CASE("the tables of widths begin and end where Unicode's do") {
  CHECK(columns_of(U'\u10ff') == 1);
  CHECK(columns_of(U'\u1100') == 2);
  CHECK(columns_of(U'\u02ff') == 1);
  CHECK(columns_of(U'\u0300') == 0);
  CHECK(columns_of(U'\u036f') == 0);
  CHECK(columns_of(U'\u0370') == 1);
  CHECK(columns_of(char32_t{0x2fffd}) == 2);
  CHECK(columns_of(char32_t{0xe01ef}) == 0);
  CHECK(columns_of(char32_t{0x10ffff}) == 1);
}

}  // namespace
}  // namespace filereel

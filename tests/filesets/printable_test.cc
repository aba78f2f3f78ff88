#include "filesets/system/printable.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace filereel {
namespace {

using namespace std::string_view_literals;

TEST_CASE("text without controls is printed as it is") {
  for (const std::string_view text :
       {""sv, "plain text"sv, "Grüße, Ελληνικά, 日本語"sv, "a\\b"sv, "\U0001f600"sv,
        "\u200d joins, \u200c parts"sv, "\u2027\u202f"sv, "no\u00a0break"sv}) {
    CHECK(printable(text) == text);
    CHECK(printable_lines(text) == text);
  }
}

TEST_CASE("what would control a terminal or reverse its text is escaped") {
  struct Case {
    std::string_view text, printed;
  };
  const Case cases[] = {
      {"\033]0;title\a"sv, "\\x1b]0;title\\x07"sv},
      {"a\0b"sv, "a\\x00b"sv},
      {"\r\b\x7f"sv, "\\x0d\\x08\\x7f"sv},
      {"\x9b"
       "31m"sv,
       "\\x9b31m"sv},
      {"\u009b31m \u0080"sv, "\\u009b31m \\u0080"sv},
      {"\u0085"sv, "\\u0085"sv},
      {"a\u202egnp.exe\u202c"sv, "a\\u202egnp.exe\\u202c"sv},
      {"\u200e\u200f\u061c\u2066\u2067\u2068\u2069"sv,
       "\\u200e\\u200f\\u061c\\u2066\\u2067\\u2068\\u2069"sv},
      {"\u2028\u2029\u200b\ufeff"sv, "\\u2028\\u2029\\u200b\\ufeff"sv},
      {"\U000e0041"sv, "\\U000e0041"sv},
  };
  for (const Case& case_ : cases) {
    CHECK(printable(case_.text) == case_.printed);
    CHECK(printable_lines(case_.text) == case_.printed);
  }
}

TEST_CASE("bytes that are not UTF-8 are escaped one by one") {
  CHECK(printable("caf\xe9") == "caf\\xe9");
  CHECK(printable("\xe2\x80") == "\\xe2\\x80");                    // cut off
  CHECK(printable("\xc1\x9b") == "\\xc1\\x9b");                    // too long a form
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a pair
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  CHECK(printable("\xff\xc3\xa4") == "\\xff\u00e4");
}

TEST_CASE("lines and tabs are kept only where there may be several lines") {
  CHECK(printable("a\tb\nc") == "a\\x09b\\x0ac");
  CHECK(printable_lines("a\tb\nc\r") == "a\tb\nc\\x0d");
}

TEST_CASE("a long text is cut behind a whole character") {
  CHECK(printable("abcdef", 4) == "abcd...");
  CHECK(printable("abcd", 4) == "abcd");
  CHECK(printable("ab\u00e4\u00f6", 3) == "ab\u00e4...");
  CHECK(printable("ab\u00e4", 3) == "ab\u00e4");
}

}  // namespace
}  // namespace filereel

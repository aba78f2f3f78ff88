#include "tools/table.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/sample_result.h"

namespace filereel {
namespace {

std::string plain(const std::string& text) {
  return text;
}

TEST_CASE(
    "columns are as wide as their widest cell, the first to the left, the others to the right") {
  CHECK(format_columns({{"set", "files", "MB"}, {"iso", "3", "1600"}, {"programs", "8504", "1"}}) ==
        "set       files    MB\n"
        "iso           3  1600\n"
        "programs   8504     1\n");
}

TEST_CASE("widths count characters, not bytes") {
  CHECK(format_columns({{"\u00fcber", "1\u20132"}, {"abcdef", "x"}}) ==
        "\u00fcber    1\u20132\n"
        "abcdef    x\n");
}

TEST_CASE("rows may be of different lengths") {
  CHECK(format_columns({{"a"}, {"bb", "c"}}) == "a\nbb  c\n");
  CHECK(format_columns({}).empty());
}

TEST_CASE("no line ends in blanks") {
  CHECK(format_columns({{"a", "long heading", "b"}, {"x", "", ""}, {"", "", "y"}, {"", "", ""}}) ==
        "a  long heading  b\nx\n                 y\n\n");
}

TEST_CASE("a result is shown as in the golden file") {
  const char* data = getenv("FILEREEL_TEST_DATA");
  REQUIRE_MESSAGE(data != nullptr, "set FILEREEL_TEST_DATA to the folder tests/");
  std::ifstream in(std::string(data) + "/tools/golden/table.txt");
  const std::string golden(std::istreambuf_iterator<char>(in), {});
  CHECK(format_result(sample_result(), plain) == golden);
}

TEST_CASE("headings are made bold, figures are not") {
  const std::string text = format_result(
      sample_result(), [](const std::string& heading) { return "<" + heading + ">"; });
  CHECK(text.find("<ext4 (kernel driver), near /dev/sdb1 on Fast Disk 3 1.07") !=
        std::string::npos);
  CHECK(text.find("<MB/s until durable") != std::string::npos);
  CHECK(text.find("<  iso") == std::string::npos);
}

TEST_CASE("a copy that moved no data has no speed in the table") {
  const std::string text = format_result(sample_result(), plain);
  CHECK(text.find("no data moved") != std::string::npos);
  CHECK(text.find("247500") == std::string::npos);  // its bytes in its time
}

TEST_CASE("a result without samples and one that is not complete say so") {
  Result result = sample_result();
  result.complete = false;
  for (Measurement& measurement : result.measurements) measurement.samples.clear();
  const std::string text = format_result(result, plain);
  CHECK(text.find("INCOMPLETE") != std::string::npos);
  CHECK(text.find("MB/s until") == std::string::npos);
  CHECK(text.find("3 runs each") != std::string::npos);
}

}  // namespace
}  // namespace filereel

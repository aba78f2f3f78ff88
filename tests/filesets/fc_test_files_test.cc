#include "filesets/formats/fc_test_files.h"

#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

template <typename Parse>
std::string complaint(Parse parse, std::string_view text) {
  try {
    parse(text, "list", 1.0);
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::unusable_input);
    return e.what();
  }
  return {};
}

TEST_CASE("a pattern may be written in many ways") {
  for (const char* line :
       {"100 1 MB", "100 x 1 MB", "100x1MB", "100*1000000", "100,1MB", "100;1 MB", "100\t1 MB",
        "100 files, 1 MB each", "100 Files 1 MB Each\r\n"}) {
    CAPTURE(std::string(line));
    const FileSet set = parse_ptn(line, "p.ptn");
    CHECK(set.totals().files == 100);
    CHECK(set.totals().bytes == 100'000'000);
    CHECK(set.totals().largest == 1'000'000);
  }
}

TEST_CASE("each line of a pattern has its own directory") {
  const FileSet set = parse_ptn("; comment\r\n# another\r\n\r\n2 x 1K\r\n250 x 10\r\n", "p.ptn");
  CHECK(set.totals().files == 252);
  CHECK(set.totals().bytes == 2048 + 2500);
  CHECK(set.entries[0].path == "p001");
  CHECK(set.entries[1].path == "p001/f000000");
  CHECK(set.entries[3].path == "p002");
}

TEST_CASE("a scaled pattern has exact totals") {
  const FileSetTotals totals = parse_ptn("1000 x 1 MB", "p.ptn", 0.0125).totals();
  CHECK(totals.files == 16);
  CHECK(totals.bytes == 12'500'000);
}

TEST_CASE("a pattern that cannot be read is refused with its line") {
  CHECK(complaint(parse_ptn, "5 x 1K\nfive").starts_with("list:2: expected a number of files"));
  for (const char* text :
       {"", "; nothing", "100", "1001MB", "x 5", "-5 x 1K", "5 x", "5 x 1 QB", "999999999 x 1",
        "99999999999999999999 x 1", "100000000 x 1", "1000000 x 99999999999999", "5 x -1"}) {
    CAPTURE(std::string(text));
    CHECK(complaint(parse_ptn, text) != "");
  }
}

TEST_CASE("a list keeps paths and sizes from Windows") {
  const FileSet set = parse_fls(
      "C:\\Program Files\r\n"
      "C:\\Program Files\\Tool One\\read me.txt\t1234\r\n"
      "Tool One\\TOOL.EXE;99\r\n"
      "\"Tool, Two; three\\a 5.dat\", 5 KB\r\n"
      "tool one\\sub/x.jpg 7\r\n"
      "Empty\\\r\n"
      "; comment\r\n"
      "no extension|0\r\n\x1a",
      "l.fls");
  std::string paths;
  for (const Entry& entry : set.entries) paths += entry.path + "\n";
  CHECK(paths ==
        "Program Files\n"
        "Program Files/Tool One\n"
        "Program Files/Tool One/read me.txt\n"
        "Tool One\n"
        "Tool One/TOOL.EXE\n"
        "Tool, Two; three\n"
        "Tool, Two; three/a 5.dat\n"
        "Tool One/sub\n"
        "Tool One/sub/x.jpg\n"
        "Empty\n"
        "no extension\n");
  CHECK(set.totals().bytes == 1234 + 99 + 5000 + 7);
  CHECK(set.entries[2].content.compressed_permille < 500);
  CHECK(set.entries[8].content.compressed_permille > 900);
}

TEST_CASE("names of any code page stay as they are") {
  const FileSet set = parse_fls("\x8e\x84\\\xff\xe4 1.txt,17\n", "l.fls");
  CHECK(set.entries[1].path == "\x8e\x84/\xff\xe4 1.txt");
  CHECK(set.entries[1].size == 17);
}

TEST_CASE("sizes of a scaled list add up exactly and its files stay") {
  const FileSet set = parse_fls("a 10\nb 10\nc 10\nd 1\n", "l.fls", 0.5);
  CHECK(set.totals().files == 4);
  CHECK(set.totals().bytes == 16);
}

TEST_CASE("a list that cannot be read is refused with its line") {
  CHECK(complaint(parse_fls, "a 5\n..\\b 6\n") == "list:2: the path contains '..'; remove it");
  for (const char* text :
       {"", "a", "a b", "C:\\", "a 5\nA 6\n", "a 5\na\\b 6\n", "5", "a 99999999999999999999999",
        "\xff\xfe"
        "a",
        "\"a 5", "\\ 5"}) {
    CAPTURE(std::string(text));
    CHECK(complaint(parse_fls, text) != "");
  }
  CHECK(complaint(parse_fls, std::string_view("a\0b 5\n", 6)) != "");
}

}  // namespace
}  // namespace filereel

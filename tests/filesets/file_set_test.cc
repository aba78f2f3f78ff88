#include "filesets/file_set.h"

#include <chrono>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

Entry make(EntryKind kind, std::string path, std::uint64_t size = 0, std::string target = {}) {
  Entry entry;
  entry.kind = kind;
  entry.path = std::move(path);
  entry.size = size;
  entry.target = std::move(target);
  return entry;
}

FileSet good_set() {
  FileSet set;
  set.name = "good";
  set.entries = {make(EntryKind::directory, "a"), make(EntryKind::file, "a/b", 10),
                 make(EntryKind::hard_link, "c", 0, "a/b"),
                 make(EntryKind::symlink, "a/d", 0, "../nowhere")};
  return set;
}

std::string complaint(const FileSet& set) {
  try {
    check_file_set(set);
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::unusable_input);
    return e.what();
  }
  return {};
}

TEST_CASE("a good set passes and is counted by kind") {
  const FileSet set = good_set();
  CHECK(complaint(set) == "");
  const FileSetTotals totals = set.totals();
  CHECK(totals.files == 1);
  CHECK(totals.directories == 1);
  CHECK(totals.symlinks == 1);
  CHECK(totals.hard_links == 1);
  CHECK(totals.bytes == 10);
  CHECK(totals.largest == 10);
}

TEST_CASE("paths that leave the set or cannot exist are refused") {
  const std::string long_name(256, 'n');
  std::string long_path = "x";
  while (long_path.size() <= 4096) long_path += "/yyyyyyy";
  for (const std::string& path :
       {std::string(), std::string("/a"), std::string("a//b"), std::string("a/"), std::string("."),
        std::string(".."), std::string("a/../b"), std::string("a/./b"), std::string("a\0b", 3),
        long_name, long_path}) {
    CAPTURE(path.size());
    CHECK_THROWS_AS(check_path(path, "here"), Error);
  }
  CHECK_THROWS_WITH(check_path("..", "list:3"), "list:3: the path '..' contains '..'; remove it");
  check_path("a/..b/...", "here");
  check_path("\xff\xfe \n", "here");
}

TEST_CASE("an error names the entry and what to do") {
  FileSet set = good_set();
  set.entries.push_back(make(EntryKind::file, "x/y"));
  CHECK(complaint(set) ==
        "file set 'good': entry 5 'x/y': its parent directory is not listed before it; add that "
        "directory first");
}

TEST_CASE("each broken promise of a set is found") {
  FileSet set = good_set();
  SUBCASE("a path twice") {
    set.entries.push_back(make(EntryKind::file, "a/b"));
  }
  SUBCASE("a parent that is a file") {
    set.entries.push_back(make(EntryKind::file, "a/b/c"));
  }
  SUBCASE("a hard link to a hard link") {
    set.entries.push_back(make(EntryKind::hard_link, "e", 0, "c"));
  }
  SUBCASE("a hard link to a later file") {
    set.entries.push_back(make(EntryKind::hard_link, "e", 0, "f"));
    set.entries.push_back(make(EntryKind::file, "f"));
  }
  SUBCASE("a symlink to nothing") {
    set.entries.push_back(make(EntryKind::symlink, "e"));
  }
  SUBCASE("a directory with a size") {
    set.entries.change(0, [](Entry& entry) { entry.size = 1; });
  }
  SUBCASE("a mode with a file type") {
    set.entries.change(1, [](Entry& entry) { entry.mode = 0100644; });
  }
  SUBCASE("too large a share") {
    set.entries.change(1, [](Entry& entry) { entry.content.compressed_permille = 1001; });
  }
  SUBCASE("too many duplicates") {
    set.entries.change(1, [](Entry& entry) { entry.content.duplicate_permille = 1001; });
  }
  SUBCASE("an empty hole") {
    set.entries.change(1, [](Entry& entry) { entry.holes = {{1, 0}}; });
  }
  SUBCASE("a hole behind the end") {
    set.entries.change(1, [](Entry& entry) { entry.holes = {{8, 3}}; });
  }
  SUBCASE("a hole whose end wraps around") {
    set.entries.change(1, [](Entry& entry) { entry.holes = {{8, UINT64_MAX}}; });
  }
  SUBCASE("holes out of order") {
    set.entries.change(1, [](Entry& entry) { entry.holes = {{5, 2}, {1, 2}}; });
  }
  SUBCASE("more bytes than can be addressed") {
    set.entries.change(1, [](Entry& entry) { entry.size = INT64_MAX; });
    set.entries.push_back(make(EntryKind::file, "e", 1));
  }
  CHECK(complaint(set) != "");
}

TEST_CASE("a hundred thousand entries are checked in well under a second") {
  FileSet set;
  for (int d = 0; d < 1000; ++d) {
    const std::string directory = "d" + std::to_string(d);
    set.entries.push_back(make(EntryKind::directory, directory));
    for (int f = 0; f < 100; ++f) {
      set.entries.push_back(make(EntryKind::file, directory + "/f" + std::to_string(f), 1));
    }
  }
  const auto start = std::chrono::steady_clock::now();
  check_file_set(set);
  // Far above what it takes (some 20 ms), for sanitizers and busy machines.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

}  // namespace
}  // namespace filereel

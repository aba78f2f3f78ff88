#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "filesets/entries.h"
#include "tests/entries.h"

namespace filereel {
namespace {

bool same(const Entry& a, const Entry& b) {
  return a.path == b.path && a.kind == b.kind && a.mode == b.mode && a.size == b.size &&
         a.mtime_ns == b.mtime_ns && a.content == b.content && a.target == b.target &&
         a.holes == b.holes;
}

std::vector<Entry> samples() {
  std::vector<Entry> entries = {directory("d"),
                                file("d/a", 10, {7, 500, 20}),
                                directory("d/e", 0700),
                                sparse_file("d/e/s", 9000, {{0, 4096}}),
                                link_to(EntryKind::symlink, "l", "../x"),
                                file("z", 1),
                                link_to(EntryKind::hard_link, "d/e/h", "d/a")};
  entries[1].mtime_ns = -5;
  return entries;
}

TEST_CASE("entries come back as they were added") {
  const std::vector<Entry> entries = samples();
  const EntryList list = EntryList(entries);
  REQUIRE(list.size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) CHECK(same(list[i], entries[i]));
  std::size_t at = 0;
  for (const Entry& entry : list) CHECK(same(entry, entries[at++]));
  CHECK(same(list.back(), entries.back()));
  CHECK(same(list.front(), entries.front()));
  CHECK(list.directory(3) == 2);
  CHECK(list.name(3) == "s");
  CHECK(list.name(3).data()[1] == '\0');
}

TEST_CASE("any path is kept, also without its directory and one that is no path") {
  for (const std::string path : {"", "/", "/a", "a/", "a//b", "no/such/directory", "..", "f/x",
                                 "a/b/c", std::string(70'000, 'x').c_str()}) {
    const EntryList list = {directory("a"), file("f", 1), file(path, 1)};
    CHECK(list.path(2) == path);
  }
}

TEST_CASE("a list that was moved from or never filled is empty") {
  EntryList list = EntryList(samples());
  const EntryList moved = std::move(list);
  CHECK(moved.size() == samples().size());
  const EntryList empty;
  CHECK(empty.empty());
  CHECK(empty.begin() == empty.end());
  CHECK(empty.find_directory("d") == EntryList::kNoDirectory);
}

TEST_CASE("copies share their entries until one of them changes") {
  const EntryList original = EntryList(samples());
  EntryList copy = original;
  CHECK(copy.name(0).data() == original.name(0).data());
  copy.set_size(1, 11);
  CHECK(copy.file_size(1) == 11);
  CHECK(original.file_size(1) == 10);
  copy.push_back(file("d/e/new", 3));
  CHECK(original.size() + 1 == copy.size());
  CHECK(copy.path(copy.size() - 1) == "d/e/new");
}

TEST_CASE("a changed entry keeps its place") {
  EntryList list = EntryList(samples());
  list.change(3, [](Entry& entry) { entry.holes.clear(); });
  CHECK(list.holes(3).empty());
  list.change(1, [](Entry& entry) { entry.holes = {{1, 2}}; });
  list.add_hole(1, {5, 1});
  CHECK(list[1].holes == std::vector<Hole>{{1, 2}, {5, 1}});
  CHECK(list.path(1) == "d/a");
  list.change(5, [](Entry& entry) { entry.mtime_ns = 9; });
  CHECK(list[5].mtime_ns == 9);
  CHECK(list[4].mtime_ns == Entry::kNoTime);
}

TEST_CASE("a tree below a directory has the same entries with longer paths") {
  const std::vector<Entry> entries = samples();
  EntryList list = {directory("top"), directory("top/in")};
  list.add_tree(1, EntryList(entries));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry expected = entries[i];
    expected.path = "top/in/" + expected.path;
    if (expected.kind == EntryKind::hard_link) expected.target = "top/in/" + expected.target;
    CHECK(same(list[i + 2], expected));
  }
}

TEST_CASE("unwanted entries are erased, and the others stay in order") {
  EntryList list = EntryList(samples());
  const auto is_link = [&](std::size_t i) { return list.kind(i) == EntryKind::symlink; };
  CHECK(erase_entries(list, is_link) == 1);
  CHECK(erase_entries(list, is_link) == 0);
  CHECK(list.size() == samples().size() - 1);
  CHECK(list.path(4) == "z");
  CHECK(list.path(5) == "d/e/h");
}

TEST_CASE("entries are found by path, and by directory and name") {
  const EntryList list = EntryList(samples());
  const EntryFinder finder(list);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CHECK(finder.find(list.path(i)) == i);
    CHECK(finder.find(list.directory(i), list.name(i)) == i);
  }
  for (const char* const path : {"", "d/", "d/b", "e", "d/e/s/x", "z/a"}) {
    CHECK(finder.find(path) == NumberIndex::kNone);
  }
  EntryFinder some(list, false);
  CHECK(some.find("z") == NumberIndex::kNone);
  CHECK(some.add(5));
  CHECK_FALSE(some.add(5));
  CHECK(some.find("z") == 5);
}

// The comparisons of names that adding and finding `count` names takes, per name.
double comparisons(std::uint32_t count) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) names.push_back(fmt::format("f{:06}", i));
  NumberIndex index;
  std::uint64_t compared = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto hash_of = [&](std::uint32_t number) {
      ++compared;
      return NumberIndex::hash(0, names[number]);
    };
    const auto is = [&](std::uint32_t number) {
      ++compared;
      return names[number] == names[i];
    };
    CHECK(index.find(NumberIndex::hash(0, names[i]), is) == NumberIndex::kNone);
    index.insert(i, hash_of);
    CHECK(index.find(NumberIndex::hash(0, names[i]), is) == i);
  }
  return static_cast<double>(compared) / count;
}

TEST_CASE("finding a name takes as many comparisons in a large set as in a small one") {
  CHECK(comparisons(1'000) < 12);
  CHECK(comparisons(100'000) < 12);
}

}  // namespace
}  // namespace filereel

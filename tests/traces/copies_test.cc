#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/entries.h"
#include "tests/traces/recorded.h"
#include "traces/edit/edit.h"

namespace filereel {
namespace {

// Thread 0 opens, reads and renames a file; thread 1 maps one.
struct Sample {
  TraceTables tables;
  TraceInfo info;
  TraceTrees trees;
  VectorRecordedSource source;
  PartsTrace trace{source, tables, info, trees};
  PathId folder, file, renamed;

  Sample() {
    folder = tables.paths.add(Role::near, "d");
    file = tables.paths.add(folder, "a");
    renamed = tables.paths.add(folder, "b");
    info.threads.resize(2);
    info.threads[1].parent = 0;
    info.threads[0].last = 3;
    info.threads[1].first = info.threads[1].last = 4;
    info.slots = 3;
    info.mappings = 2;
    info.files = 5;
    info.lost["events"] = 7;
    trees.initial = set_of({directory("d"), ::file("d/a", 10, {.key = 4}),
                            link_to(EntryKind::hard_link, "d/h", "d/a")});
    trees.absent = 1;
    add({.kind = OperationKind::fork, .second = 1});
    add({.kind = OperationKind::open, .file = 2, .path = file, .entry = 4});
    add({.kind = OperationKind::copy_range, .file = 2, .source = 1, .entry = 4});
    add({.kind = OperationKind::rename, .path = renamed, .old_path = file, .entry = 4});
    add({.kind = OperationKind::map, .file = kNoFile, .source = 1, .thread = 1});
    info.operations = source.operations.size();
  }

  void add(Operation operation) {
    operation.position = source.operations.size();
    source.operations.push_back({operation, 10 * operation.position, 5});
  }
};

std::vector<RecordedOperation> all_of(RecordedSource& source, std::size_t batch) {
  std::vector<RecordedOperation> all, piece(batch);
  while (const std::size_t filled = source.next(piece)) {
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(filled));
  }
  return all;
}

TEST_CASE("every operation comes once for each copy, with numbers and paths of its own") {
  Sample sample;
  TraceCopies copies(sample.trace, 3);
  const auto all = all_of(copies, 4);
  REQUIRE(all.size() == 15);
  const PathTable& paths = copies.tables().paths;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].operation.position == i);
    CHECK(all[i].start_ns == 10 * (i / 3));
    CHECK(all[i].operation.kind == sample.source.operations[i / 3].operation.kind);
  }
  CHECK(all[2].operation.thread == 4);
  CHECK(all[2].operation.second == 5);  // the thread that it forks
  CHECK(all[3].operation.file == 2);
  CHECK(all[5].operation.file == 8);
  CHECK(all[5].operation.entry == 14);
  CHECK(paths.relative(all[3].operation.path) == "1/d/a");
  CHECK(paths.relative(all[5].operation.path) == "3/d/a");
  CHECK(all[8].operation.source == 7);  // an open file
  CHECK(paths.relative(all[10].operation.old_path) == "2/d/a");
  CHECK(paths.relative(all[10].operation.path) == "2/d/b");
  CHECK(all[14].operation.source == 5);  // a mapping
  CHECK(all[14].operation.file == kNoFile);
  CHECK(all[14].operation.thread == 5);
}

TEST_CASE("what belongs to the trace is that of all copies together") {
  Sample sample;
  const TraceCopies copies(sample.trace, 2);
  CHECK(copies.info().operations == 10);
  CHECK(copies.info().slots == 6);
  CHECK(copies.info().mappings == 4);
  CHECK(copies.info().files == 10);
  CHECK(copies.info().lost.at("events") == 14);
  REQUIRE(copies.info().threads.size() == 4);
  CHECK(copies.info().threads[3].parent == 2);
  CHECK(copies.info().threads[3].first == 9);
  CHECK(copies.info().threads[0].last == 6);
  const FileSet& initial = copies.trees().initial;
  check_file_set(initial);
  REQUIRE(initial.entries.size() == 8);
  CHECK(initial.entries[4].path == "2");
  CHECK(initial.entries[6].path == "2/d/a");
  CHECK(initial.entries[6].content.key == 9);
  CHECK(initial.entries[7].target == "2/d/a");
  CHECK(copies.trees().absent == 2);
}

TEST_CASE("copies can be read again") {
  Sample sample;
  TraceCopies copies(sample.trace, 2);
  std::vector<RecordedOperation> some(3);
  copies.next(some);
  copies.rewind();
  CHECK(all_of(copies, 100).size() == 10);
}

TEST_CASE("more copies than memory holds are refused with how many it does") {
  Sample sample;
  sample.info.slots = 100'000;
  CHECK_THROWS_WITH_AS(TraceCopies(sample.trace, 101), doctest::Contains("ask for 100 or fewer"),
                       Error);
  CHECK_THROWS_AS(TraceCopies(sample.trace, 1'000'000), Error);
  CHECK(TraceCopies(sample.trace, 100).info().slots == 10'000'000);
}

}  // namespace
}  // namespace filereel

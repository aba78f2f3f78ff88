#include "traces/model/trace_builder.h"

#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "tests/traces/recorded.h"

namespace filereel {
namespace {

struct Workshop {
  TraceTables tables;
  VectorSink kept;
  TraceBuilder builder{tables, kept};

  Workshop() { builder.add_thread({}); }

  std::string path(std::string_view text) { return tables.paths.relative(builder.path(text)); }
  void add(const Operation& operation, std::uint64_t start = 0, std::uint64_t duration = 0) {
    builder.add({operation, start, duration});
  }
};

Operation of(OperationKind kind, FileSlot file, std::uint64_t length, std::int64_t expected) {
  Operation operation;
  operation.kind = kind;
  operation.file = file;
  operation.length = length;
  operation.expected = expected;
  return operation;
}

Operation open(PathId path, FileSlot slot, int flags) {
  Operation operation;
  operation.kind = OperationKind::open;
  operation.path = path;
  operation.file = slot;
  operation.flags = static_cast<std::uint32_t>(flags);
  return operation;
}

TEST_CASE("paths become relative to the single root") {
  Workshop workshop;
  CHECK(workshop.path("/tmp/x") == "tmp/x");
  CHECK(workshop.path("tmp//x/") == "tmp/x");
  CHECK(workshop.path("./tmp/./x/.") == "tmp/x");
  CHECK(workshop.path("/") == ".");
  CHECK(workshop.path("") == ".");
  CHECK(workshop.builder.path("/a/b") == workshop.builder.path("a/b"));
}

TEST_CASE("two dots remove one component and never leave the root") {
  Workshop workshop;
  CHECK(workshop.path("a/b/../c") == "a/c");
  CHECK(workshop.path("a/../../../c") == "c");
  CHECK(workshop.path("..") == ".");
  CHECK(workshop.path("a/...") == "a/...");
}

TEST_CASE("a path ends at a NUL byte as it does for the kernel") {
  Workshop workshop;
  CHECK(workshop.path(std::string_view("a/b\0/c", 6)) == "a/b");
}

TEST_CASE("a name that is too long is shortened, kept unique and counted") {
  Workshop workshop;
  const std::string longest(255, 'n');
  CHECK(workshop.path(longest) == longest);
  CHECK(workshop.builder.info().approximated.empty());
  const std::string one = workshop.path(longest + "1"), two = workshop.path(longest + "2");
  CHECK(one.size() == 216);
  CHECK(one.substr(0, 200) == longest.substr(0, 200));
  CHECK(one != two);
  CHECK(workshop.path(longest + "1") == one);
  CHECK(workshop.builder.info().approximated.at("names over 255 bytes") == 3);
}

TEST_CASE("a path that is too long is kept, counted and omitted from the trees") {
  Workshop workshop;
  std::string deep = "top";
  while (deep.size() <= 4096) deep += "/" + std::string(100, 'd');
  const PathId path = workshop.builder.path(deep);
  CHECK(workshop.tables.paths.relative(path) == deep);
  CHECK(workshop.builder.info().approximated.at("paths over 4096 bytes") == 1);
  workshop.add(open(path, 0, O_RDONLY));
  const FileSet initial = workshop.builder.trees().initial;
  CHECK(initial.entries.size() == 41);
  CHECK_NOTHROW(check_file_set(initial));
}

TEST_CASE("the lowest free number is given to an open file") {
  Workshop workshop;
  CHECK(workshop.builder.take_slot() == 0);
  CHECK(workshop.builder.take_slot() == 1);
  CHECK(workshop.builder.take_slot() == 2);
  workshop.builder.free_slot(1);
  workshop.builder.free_slot(0);
  CHECK(workshop.builder.take_slot() == 0);
  CHECK(workshop.builder.take_slot() == 1);
  CHECK(workshop.builder.take_slot() == 3);
  CHECK(workshop.builder.take_mapping() == 0);
  CHECK(workshop.builder.info().slots == 4);
  CHECK(workshop.builder.info().mappings == 1);
}

TEST_CASE("operations are numbered and counted by kind and thread") {
  Workshop workshop;
  workshop.builder.add_thread({});
  const PathId path = workshop.builder.path("f");
  workshop.add(open(path, 0, O_RDWR), 10);
  Operation read = of(OperationKind::read, 0, 4096, 100);
  read.thread = 1;
  workshop.add(read, 20);
  workshop.add(of(OperationKind::write, 0, 50, 50), 30);
  workshop.add(of(OperationKind::write, 0, 50, -28), 40, 7);
  const TraceInfo& info = workshop.builder.info();
  CHECK(info.operations == 4);
  CHECK(workshop.kept.operations[3].operation.position == 3);
  CHECK(info.by_kind[static_cast<std::size_t>(OperationKind::write)] == 2);
  CHECK(info.threads[0].operations == 3);
  CHECK(info.threads[0].first == 0);
  CHECK(info.threads[0].last == 3);
  CHECK(info.threads[1].operations == 1);
  CHECK(info.threads[1].first == 1);
  CHECK(info.bytes_read == 100);
  CHECK(info.bytes_written == 50);
  CHECK(info.largest_io == 4096);
  CHECK(info.slots == 1);
  CHECK(info.files == 1);
  CHECK(info.duration_ns == 37);
  CHECK(info.timed);
  for (const RecordedOperation& kept : workshop.kept.operations) {
    CHECK(kept.operation.entry == 0);
  }
}

TEST_CASE("times never go back within a thread but may between threads") {
  Workshop workshop;
  workshop.builder.add_thread({});
  Operation stat = of(OperationKind::stat, kNoFile, 0, 0);
  workshop.add(stat, 50);
  workshop.add(stat, 40);
  stat.thread = 1;
  workshop.add(stat, 45);
  CHECK(workshop.kept.operations[1].start_ns == 50);
  CHECK(workshop.kept.operations[2].start_ns == 45);
  CHECK(workshop.builder.info().duration_ns == 5);
}

TEST_CASE("a trace without any times is not timed") {
  Workshop workshop;
  workshop.add(of(OperationKind::stat, kNoFile, 0, 0));
  CHECK_FALSE(workshop.builder.info().timed);
}

TEST_CASE("no read exceeds Linux's limit per call") {
  Workshop workshop;
  workshop.add(of(OperationKind::read, 0, std::numeric_limits<std::uint64_t>::max(), -22));
  CHECK(workshop.builder.info().largest_io == 0x7ffff000);
}

TEST_CASE("losses are counted by reason") {
  Workshop workshop;
  workshop.builder.lost("lost events", 3);
  workshop.builder.lost("lost events");
  workshop.builder.approximated("pipes", 2);
  workshop.builder.fact("source", "strace");
  CHECK(workshop.builder.info().lost.at("lost events") == 4);
  CHECK(workshop.builder.info().approximated.at("pipes") == 2);
  CHECK(workshop.builder.info().facts.at("source") == "strace");
}

}  // namespace
}  // namespace filereel

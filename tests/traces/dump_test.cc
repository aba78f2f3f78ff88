#include "traces/export/dump.h"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace filereel {
namespace {

struct Line {
  TraceTables tables;
  RecordedOperation recorded;
  Operation& operation = recorded.operation;

  PathId path(std::string_view name) { return tables.paths.add(Role::near, name); }
  std::string text(bool times = false) const {
    std::string out;
    append_dump_line(recorded, tables, times, out);
    return out;
  }
};

TEST_CASE("a line has position, times, thread, name, the fields of the kind and the result") {
  Line line;
  line.operation.kind = OperationKind::open;
  line.operation.position = 12;
  line.operation.thread = 3;
  line.operation.path = line.path("a b/c\\d");
  line.operation.file = 7;
  line.operation.flags = 0x241;
  line.operation.mode = 0644;
  line.operation.length = 99;  // not a field of open
  line.recorded.start_ns = 1'234'567;
  line.recorded.duration_ns = 1005;
  CHECK(line.text(true) ==
        "12 1234.567 1.005 3 open path=a\\x20b/c\\x5cd file=7 flags=0x241 mode=0644 = 0\n");
  CHECK(line.text() == "12 3 open path=a\\x20b/c\\x5cd file=7 flags=0x241 mode=0644 = 0\n");
  line.operation.file = kNoFile;
  line.operation.expected = -ENOENT;
  CHECK(line.text() == "12 3 open path=a\\x20b/c\\x5cd flags=0x241 mode=0644 = ENOENT\n");
}

TEST_CASE("the target is an open file, or a path where there is none") {
  Line line;
  line.operation.kind = OperationKind::truncate;
  line.operation.path = line.path("a");
  line.operation.offset = 5;
  CHECK(line.text() == "0 0 truncate path=a offset=5 = 0\n");
  line.operation.file = 2;
  CHECK(line.text() == "0 0 truncate file=2 offset=5 = 0\n");
  line.operation.kind = OperationKind::link;
  line.operation.old_path = line.path("b");
  CHECK(line.text() == "0 0 link path=a file=2 = 0\n");
  line.operation.file = kNoFile;
  CHECK(line.text() == "0 0 link path=a old_path=b = 0\n");
}

TEST_CASE("times are nanoseconds, now or omit, texts are escaped, marks stand alone") {
  Line line;
  line.operation.kind = OperationKind::set_times;
  line.operation.path = line.path("a");
  line.operation.offset = kTimeNow;
  line.operation.second = static_cast<std::uint64_t>(-5);
  line.operation.loose = true;
  CHECK(line.text() == "0 0 utimens path=a offset=now second=-5 loose = 0\n");
  line.operation.second = kTimeOmit;
  CHECK(line.text() == "0 0 utimens path=a offset=now second=omit loose = 0\n");
  line.operation = {.kind = OperationKind::symlink};
  line.operation.path = line.path("a");
  line.operation.text = line.tables.texts.add("to\n");
  CHECK(line.text() == "0 0 symlink path=a text=to\\x0a = 0\n");
  line.operation = {.kind = OperationKind::read};
  line.operation.file = 1;
  line.operation.length = 3;
  line.operation.asynchronous = line.operation.hole = true;
  line.operation.expected = 2;
  CHECK(line.text() == "0 0 read file=1 offset=0 length=3 asynchronous hole = 2\n");
}

TEST_CASE("every kind has a line, and no two kinds the same") {
  std::string all;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    Line line;
    line.operation.kind = static_cast<OperationKind>(i);
    const std::string text = line.text();
    CHECK(text.back() == '\n');
    CHECK(all.find(text) == std::string::npos);
    all += text;
  }
}

TEST_CASE("errors have their names") {
  CHECK(errno_name(ENOENT) == "ENOENT");
  CHECK(errno_name(EAGAIN) == "EAGAIN");
  CHECK(errno_name(4711) == "errno 4711");
  CHECK(errno_name(0) == "errno 0");
  Line line;
  line.operation.expected = INT64_MIN;
  CHECK(line.text() == "0 0 barrier = errno " + std::to_string(INT_MAX) + "\n");
}

}  // namespace
}  // namespace filereel

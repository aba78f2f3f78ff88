#include "replay/schedule/dependencies.h"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>

#include "tests/replay/hand_trace.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

using enum OperationKind;

// Keeps `threads` lanes apart: each has an operation first and one last that touch nothing.
void begin_lanes(HandTrace& trace, std::uint32_t threads) {
  for (std::uint32_t i = 0; i < threads; ++i) trace.add(i, exit);
}
void end_lanes(HandTrace& trace, std::uint32_t threads) {
  begin_lanes(trace, threads);
}

TEST_CASE("an open file is opened before it is used and used before it is closed") {
  HandTrace trace;
  begin_lanes(trace, 3);
  trace.open(0, 0, "f", 0);      // 3
  trace.on(1, advise, 0, 0);     // 4
  trace.on(2, advise, 0, 0);     // 5
  trace.close(0, 0, 0);          // 6
  trace.open(1, 0, "other", 1);  // 7: the number again
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 4));
  CHECK(lanes.before(3, 5));
  CHECK(lanes.before(4, 6));
  CHECK(lanes.before(5, 6));
  CHECK_FALSE(lanes.before(4, 5));
  CHECK_FALSE(lanes.before(6, 7));  // it got another number
}

TEST_CASE("an open that reuses a number waits for its last close") {
  HandTrace trace;
  begin_lanes(trace, 2);
  // One open file at a time: there are 67 numbers.
  for (std::uint32_t i = 0; i < 67; ++i) {
    trace.open(0, 0, "a", 0);  // 2 + 2i
    trace.close(1, 0, 0);      // 3 + 2i
  }
  trace.open(0, 0, "b", 1);
  end_lanes(trace, 2);
  const CompiledLanes lanes = compile(trace);
  const std::uint64_t last = 2 + 2 * 67;
  CHECK_FALSE(lanes.before(3, last - 2));  // a number that nobody had
  CHECK(lanes.before(3, last));
  CHECK_FALSE(lanes.before(5, last));
}

TEST_CASE("a thread that closes its own files never waits for numbers") {
  HandTrace trace;
  begin_lanes(trace, 2);
  for (std::uint32_t i = 0; i < 200; ++i) {
    trace.open(i % 2, 0, "a", 0);
    trace.close(i % 2, 0, 0);
  }
  end_lanes(trace, 2);
  CHECK(compile(trace).awaits == 0);
}

TEST_CASE("names are created before their use and used before their removal") {
  HandTrace trace;
  begin_lanes(trace, 3);
  trace.add(0, make_directory, "d");               // 3
  trace.add(1, stat, "d");                         // 4
  trace.open(2, 0, "d/f", 0, O_CREAT | O_RDWR);    // 5
  trace.add(0, stat, "d/f");                       // 6
  trace.add(1, unlink, "d/f");                     // 7
  trace.add(2, remove_directory, "d");             // 8
  trace.add(0, make_directory, "d");               // 9
  trace.add(1, access, "d/f").expected = -ENOENT;  // 10
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 4));
  CHECK(lanes.before(3, 5));
  CHECK_FALSE(lanes.before(4, 5));
  CHECK(lanes.before(5, 6));
  CHECK(lanes.before(6, 7));
  CHECK(lanes.before(7, 8));
  CHECK(lanes.before(4, 8));
  CHECK(lanes.before(8, 9));
  CHECK(lanes.before(9, 10));
}

TEST_CASE("a failed lookup comes before the creation of the name") {
  HandTrace trace;
  begin_lanes(trace, 2);
  trace.add(0, access, "d/f").expected = -ENOENT;  // 2
  trace.add(1, make_directory, "d");               // 3
  trace.open(1, 0, "d/f", 0, O_CREAT | O_WRONLY);  // 4
  end_lanes(trace, 2);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(2, 3));
  CHECK(lanes.before(2, 4));
}

TEST_CASE("renaming a directory comes between everything below its old and its new name") {
  HandTrace trace;
  begin_lanes(trace, 4);
  trace.add(1, stat, "a/x/y");                       // 4
  trace.open(2, 0, "a/x/z", 0, O_CREAT | O_RDWR);    // 5
  trace.add(3, access, "b/x/y").expected = -ENOENT;  // 6
  trace.rename(0, "a", "b");                         // 7
  trace.add(1, stat, "b/x/y");                       // 8
  trace.add(2, access, "a/x").expected = -ENOENT;    // 9
  trace.add(3, stat, "c");                           // 10
  end_lanes(trace, 4);
  const CompiledLanes lanes = compile(trace);
  for (const std::uint64_t before : {4U, 5U, 6U}) CHECK(lanes.before(before, 7));
  for (const std::uint64_t after : {8U, 9U}) CHECK(lanes.before(7, after));
  CHECK_FALSE(lanes.before(7, 10));
}

TEST_CASE("a failed removal of a non-empty directory waits for its names") {
  HandTrace trace;
  begin_lanes(trace, 3);
  trace.add(0, make_directory, "d");                          // 3
  trace.open(1, 0, "d/f", 0, O_CREAT | O_RDWR);               // 4
  trace.add(2, remove_directory, "d").expected = -ENOTEMPTY;  // 5
  trace.add(1, unlink, "d/f");                                // 6
  trace.add(0, remove_directory, "d");                        // 7
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(4, 5));
  CHECK(lanes.before(5, 6));
  CHECK(lanes.before(6, 7));
}

TEST_CASE("an open directory is listed before it is removed") {
  HandTrace trace;
  begin_lanes(trace, 2);
  trace.open(0, 0, "d", 0, O_RDONLY | open_flags::kDirectory);  // 2
  trace.on(0, list, 0, 0);                                      // 3
  trace.add(1, remove_directory, "d");                          // 4
  trace.close(0, 0, 0);                                         // 5
  end_lanes(trace, 2);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 4));
  CHECK_FALSE(lanes.before(4, 5));
}

TEST_CASE("opening an existing file with O_CREAT changes no name") {
  HandTrace trace;
  begin_lanes(trace, 3);
  trace.open(0, 0, "log", 0, O_CREAT | O_RDWR);  // 3
  trace.open(1, 1, "log", 0, O_CREAT | O_RDWR);  // 4
  trace.open(2, 2, "log", 0, O_CREAT | O_RDWR);  // 5
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 4));
  CHECK(lanes.before(3, 5));
  CHECK_FALSE(lanes.before(4, 5));
}

struct OpenFiles {
  HandTrace trace;
  explicit OpenFiles(std::uint32_t threads) {
    for (std::uint32_t i = 0; i < threads; ++i) trace.open(i, i, "f", 0);
  }
};

TEST_CASE("overlapping accesses are ordered if one writes") {
  OpenFiles files(3);
  HandTrace& trace = files.trace;
  trace.on(0, write, 0, 0, 0, 4096);     // 3
  trace.on(1, read, 1, 0, 0, 4096);      // 4
  trace.on(2, read, 2, 0, 4096, 4096);   // 5: other bytes
  trace.on(2, write, 2, 0, 2048, 4096);  // 6
  trace.on(0, read, 0, 0, 1024, 2048);   // 7
  trace.on(1, write, 1, 0, 8192, 10);    // 8: nobody's
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 4));
  CHECK_FALSE(lanes.before(3, 5));
  CHECK(lanes.before(3, 6));
  CHECK(lanes.before(4, 6));
  CHECK(lanes.before(6, 7));
  CHECK_FALSE(lanes.before(6, 8));
}

TEST_CASE("readers of the same bytes do not wait until there is a writer") {
  OpenFiles files(3);
  HandTrace& trace = files.trace;
  for (std::uint32_t i = 0; i < 3; ++i) trace.on(i, read, i, 0, 0, 100);  // 3, 4, 5
  trace.on(0, write, 0, 0, 50, 100);                                      // 6
  trace.on(1, read, 1, 0, 500, 100);                                      // 7
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK_FALSE(lanes.before(3, 4));
  CHECK_FALSE(lanes.before(4, 5));
  CHECK(lanes.before(4, 6));
  CHECK(lanes.before(5, 6));
  CHECK_FALSE(lanes.before(6, 7));
}

TEST_CASE("a read that reached the end of the file comes before it grows") {
  OpenFiles files(2);
  HandTrace& trace = files.trace;
  trace.on(0, read, 0, 0, 100, 100).expected = 50;  // 2
  trace.on(1, write, 1, 0, 900, 10);                // 3
  end_lanes(trace, 2);
  CHECK(compile(trace).before(2, 3));
}

TEST_CASE("a read of a hole comes after the writes that extended the file") {
  OpenFiles files(2);
  HandTrace& trace = files.trace;
  trace.on(0, write, 0, 0, 900, 10);              // 2
  trace.on(1, read, 1, 0, 100, 100).hole = true;  // 3
  end_lanes(trace, 2);
  CHECK(compile(trace).before(2, 3));
}

TEST_CASE("truncating and O_TRUNC write the whole file, querying the size is not ordered") {
  OpenFiles files(3);
  HandTrace& trace = files.trace;
  trace.on(0, write, 0, 0, 0, 4096);           // 3
  trace.on(1, stat, 1, 0);                     // 4
  trace.on(1, truncate, 1, 0, 5000);           // 5
  trace.on(2, write, 2, 0, 9000, 10);          // 6
  trace.open(0, 3, "f", 0, O_RDWR | O_TRUNC);  // 7
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK_FALSE(lanes.before(3, 4));
  CHECK(lanes.before(3, 5));
  CHECK(lanes.before(5, 6));
  CHECK(lanes.before(6, 7));
}

TEST_CASE("a sync comes after the writes that it covers") {
  OpenFiles files(3);
  HandTrace& trace = files.trace;
  trace.on(0, write, 0, 0, 0, 10);     // 3
  trace.on(1, write, 1, 0, 4096, 10);  // 4
  trace.on(2, sync_data, 2, 0);        // 5
  trace.on(0, write, 0, 0, 8192, 10);  // 6: not held up
  trace.add(1, make_directory, "d");   // 7
  trace.add(2, sync_volume);           // 8
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 5));
  CHECK(lanes.before(4, 5));
  CHECK_FALSE(lanes.before(5, 6));
  CHECK(lanes.before(6, 8));
  CHECK(lanes.before(7, 8));
}

TEST_CASE("a copy reads its source and writes its destination") {
  OpenFiles files(2);
  HandTrace& trace = files.trace;
  trace.open(0, 4, "g", 1);                                  // 2
  trace.open(1, 5, "g", 1);                                  // 3
  trace.on(0, write, 4, 1, 100, 50);                         // 4
  Operation& copy = trace.on(1, copy_range, 1, 0, 700, 50);  // 5: from g at 100 to f at 700
  copy.source = 5;
  copy.second = 100;
  trace.on(0, read, 0, 0, 700, 1);   // 6
  trace.on(0, write, 4, 1, 149, 1);  // 7
  trace.on(0, read, 0, 0, 100, 50);  // 8
  end_lanes(trace, 2);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(4, 5));
  CHECK(lanes.before(5, 6));
  CHECK(lanes.before(5, 7));
}

TEST_CASE("faults on a mapped file read and write its bytes") {
  OpenFiles files(2);
  HandTrace& trace = files.trace;
  Operation& map_op = trace.on(0, map, 0, 0, 4096, 8192);  // 2
  map_op.source = 0;
  map_op.flags = PROT_READ | PROT_WRITE | MAP_SHARED << 8;
  trace.close(0, 0, 0);                  // 3: the mapping stays
  trace.on(1, write, 1, 0, 8192, 4096);  // 4
  const auto touch = [&](std::uint32_t flags, std::uint64_t offset) {
    Operation& op = trace.add(0, fault);
    op.source = 0;
    op.flags = flags;
    op.offset = offset;
    op.length = 4096;
  };
  touch(0, 4096);                      // 5: file at 8192
  touch(1, 0);                         // 6: file at 4096
  trace.on(1, read, 1, 0, 4096, 100);  // 7
  trace.add(1, unmap).source = 0;      // 8
  end_lanes(trace, 2);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(4, 5));
  CHECK(lanes.before(6, 7));
  CHECK(lanes.before(6, 8));
}

TEST_CASE("locks and attributes of a file are taken and set in the trace's order") {
  OpenFiles files(2);
  HandTrace& trace = files.trace;
  trace.on(0, lock, 0, 0).flags = lock_flags::kExclusive;  // 2
  trace.close(0, 0, 0);                                    // 3: gives it up
  trace.on(1, lock, 1, 0).flags = lock_flags::kExclusive;  // 4
  trace.add(1, set_xattr, "f").entry = 0;                  // 5
  trace.add(0, get_xattr, "f").entry = 0;                  // 6
  trace.add(1, change_mode, "f").entry = 0;                // 7
  end_lanes(trace, 2);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 4));
  CHECK(lanes.before(5, 6));
  CHECK(lanes.before(6, 7));
}

TEST_CASE("a child begins after its fork, a join comes after the last operation") {
  for (const Order order : {Order::strict, Order::resource, Order::thread}) {
    HandTrace trace;
    trace.add(0, stat, "a");        // 0
    trace.add(0, fork).second = 1;  // 1
    trace.add(1, stat, "b");        // 2
    trace.add(0, stat, "c");        // 3
    trace.add(1, stat, "d");        // 4
    trace.add(0, join).second = 1;  // 5
    const CompiledLanes lanes = compile(trace, {.order = order});
    CHECK(lanes.lanes.size() == 2);
    CHECK(lanes.before(1, 2));
    CHECK(lanes.before(4, 5));
    CHECK(lanes.before(2, 3) == (order == Order::strict));
  }
}

TEST_CASE("a wait ends after the wake that ended it") {
  HandTrace trace;
  trace.add(0, fork).second = 1;  // 0
  trace.add(1, stat, "a");        // 1
  trace.add(0, stat, "b");        // 2
  trace.add(0, wake).second = 1;  // 3
  trace.add(0, stat, "c");        // 4
  trace.add(1, wait).second = 0;  // 5
  trace.add(1, stat, "d");        // 6
  trace.add(0, wait).second = 1;  // 7: thread 1 ends, and wakes its parent then
  trace.source.operations.back().operation.flags = wait_flags::kForThread;
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.before(3, 5));
  CHECK_FALSE(lanes.before(4, 5));
  CHECK(lanes.before(6, 7));
}

TEST_CASE("order strict is the trace's, order thread no more than each thread's") {
  for (const Order order : {Order::strict, Order::thread}) {
    HandTrace trace;
    std::mt19937 random(1);
    begin_lanes(trace, 4);
    for (int i = 0; i < 500; ++i)
      trace.add(static_cast<std::uint32_t>(random() % 4), unlink, "same");
    end_lanes(trace, 4);
    const CompiledLanes lanes = compile(trace, {.order = order});
    for (std::uint64_t i = 4; i < 503; ++i) {
      const bool same_lane = lanes.lane_of(i) == lanes.lane_of(i + 1);
      CHECK(lanes.before(i, i + 1) == (same_lane || order == Order::strict));
    }
  }
}

TEST_CASE("waits that follow from others are omitted") {
  HandTrace trace;
  begin_lanes(trace, 3);
  trace.add(0, make_directory, "d");    // 3
  trace.add(1, make_directory, "d/e");  // 4: waits for 3
  trace.add(2, stat, "d/e");            // 5: waits for 4, hence for 3
  trace.add(2, stat, "d/e");            // 6: for nothing new
  trace.add(1, stat, "d");              // 7: for nothing new
  end_lanes(trace, 3);
  const CompiledLanes lanes = compile(trace);
  CHECK(lanes.awaits == 2);
  REQUIRE(lanes.awaits_of(5).size() == 1);
  CHECK(lanes.awaits_of(5)[0].source == lanes.lane_of(4));
  CHECK(lanes.before(3, 5));
}

TEST_CASE("a file used at very many offsets takes bounded memory and keeps its order") {
  HappensBefore order(3);
  DataDependencies data(order);
  std::minstd_rand random(1);
  constexpr std::uint64_t kBlocks = 20'000;
  std::vector<LanePosition> writers(kBlocks);  // the last one of each block, the plain way
  std::array<std::uint64_t, 3> counts{};
  DataDependencies::File& file = data.file(7);
  bool kept = true;
  for (int i = 0; i < 100'000; ++i) {
    const auto lane = static_cast<std::uint32_t>(random() % 3);
    const std::uint64_t block = random() % kBlocks;
    const LanePosition now(lane, ++counts[lane]);
    order.begin(now);
    // Every other block: no two pieces touch.
    const ByteRange range = ByteRange::of(block * 8192, 4096);
    const bool writes = random() % 2 == 0;
    if (writes) {
      data.write(file, range, now);
    } else {
      data.read(file, range, now);
    }
    // The last writer was waited for, or was known to be done.
    order.take();
    kept = kept && order.is_known(writers[block]);
    if (writes) writers[block] = now;
  }
  CHECK(kept);
  CHECK(data.pieces() <= 4096);

  for (std::uint32_t lane = 0; lane < 3; ++lane) order.set_done(lane, counts[lane]);
  for (std::uint64_t block = 0; block < 5000; ++block) {
    order.begin(LanePosition(0, ++counts[0]));
    data.write(file, ByteRange::of(block * 8192, 4096), LanePosition(0, counts[0]));
    order.set_done(0, counts[0]);
  }
  CHECK(data.pieces() <= 512);  // what is done is dropped
}

TEST_CASE("very many files in pieces take bounded memory in total") {
  HappensBefore order(2);
  DataDependencies data(order);
  std::uint64_t count = 0;
  for (FileId id = 0; id < 400; ++id) {
    for (std::uint64_t block = 0; block < 2000; ++block) {
      const LanePosition now(static_cast<std::uint32_t>(block % 2), ++count);
      order.begin(now);
      data.write(data.file(id), ByteRange::of(block * 8192, 4096), now);
      order.take();
    }
  }
  CHECK(data.pieces() <= 128 * 1024);
}

// Whether two operations of a trace must keep their order, by the plainest reading of the rules.
bool conflict(const HandTrace& trace, const Operation& a, const Operation& b) {
  const PathTable& paths = trace.tables.paths;
  const auto below = [&](PathId path, PathId top) {
    for (; path != top; path = paths.node(path).parent) {
      if (paths.is_root(path)) return false;
    }
    return true;
  };
  const auto names = [](const Operation& op) {
    std::vector<PathId> result;
    if (op.kind == read || op.kind == write || op.kind == close) return result;
    result.push_back(op.path);
    if (op.kind == rename) result.push_back(op.old_path);
    return result;
  };
  const auto changes = [](const Operation& op) {
    return op.expected >= 0 &&
           (op.kind == make_directory || op.kind == unlink || op.kind == remove_directory ||
            op.kind == rename || (op.kind == open && (op.flags & O_EXCL) != 0));
  };
  for (const PathId x : names(a)) {
    for (const PathId y : names(b)) {
      if (changes(a) && below(y, x)) return true;
      if (changes(b) && below(x, y)) return true;
    }
  }
  const bool data_a = a.kind == read || a.kind == write, data_b = b.kind == read || b.kind == write;
  return data_a && data_b && a.entry == b.entry && (a.kind == write || b.kind == write) &&
         a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

TEST_CASE("random traces keep every order that the rules require") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t threads = 2 + below(5);
    HandTrace trace;
    for (std::uint32_t i = 0; i < threads; ++i) trace.open(i, i, "data", i % 2);
    const auto name = [&] {
      std::string path = std::to_string(below(3));
      for (std::uint32_t depth = below(3); depth > 0; --depth) {
        path += "/" + std::to_string(below(3));
      }
      return path;
    };
    for (int i = 0; i < 400; ++i) {
      const std::uint32_t thread = below(threads);
      switch (below(8)) {
        case 0:
          trace.add(thread, make_directory, name());
          break;
        case 1:
          trace.add(thread, remove_directory, name());
          break;
        case 2:
          trace.rename(thread, name(), name());
          break;
        case 3:
          trace.add(thread, access, name()).expected = below(2) != 0 ? 0 : -ENOENT;
          break;
        case 4:
          trace.open(thread, 10 + static_cast<std::uint32_t>(i), name(), 9,
                     O_CREAT | O_EXCL | O_RDWR);
          break;
        default:
          trace.on(thread, below(3) == 0 ? write : read, thread, thread % 2, below(60),
                   1 + below(9));
          break;
      }
    }
    end_lanes(trace, threads);
    trace.finish();
    Schedule schedule(trace.source, trace.tables, trace.info, {});
    const CompiledLanes lanes(schedule);
    REQUIRE(lanes.finished);
    CAPTURE(seed);
    const auto& all = trace.source.operations;
    std::uint64_t unordered = 0;
    for (std::size_t b = 0; b < all.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (!conflict(trace, all[a].operation, all[b].operation)) {
          unordered += lanes.before(a, b) ? 0 : 1;
          continue;
        }
        CAPTURE(a);
        CAPTURE(b);
        CAPTURE(operation_info(all[a].operation.kind).name);
        CAPTURE(operation_info(all[b].operation.kind).name);
        CAPTURE(trace.tables.paths.relative(all[a].operation.path));
        CAPTURE(trace.tables.paths.relative(all[b].operation.path));
        CAPTURE(trace.tables.paths.relative(all[a].operation.old_path));
        CAPTURE(trace.tables.paths.relative(all[b].operation.old_path));
        CAPTURE(all[a].operation.thread);
        CAPTURE(all[b].operation.thread);
        REQUIRE(lanes.before(a, b));
      }
    }
    CHECK(unordered > 500);  // the threads are not kept from each other altogether
  }
}

}  // namespace
}  // namespace filereel

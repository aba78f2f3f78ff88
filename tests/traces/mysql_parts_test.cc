// The parts of the simulated server that can be looked at alone.
#include <set>

#include <doctest/doctest.h>

#include "tests/traces/mysql_mix.h"
#include "tests/traces/recorded.h"
#include "traces/mysql/buffer_pool.h"
#include "traces/mysql/page_cache.h"
#include "traces/mysql/server.h"
#include "traces/mysql/simulation.h"
#include "traces/mysql/tables.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

struct RedoRig {
  TraceTables tables;
  VectorSink kept;
  TraceBuilder builder{tables, kept};
  MysqlTiming timing;
  Simulation simulation;
  ServerCalls calls{simulation, builder, timing, 1};

  RedoRig() {
    builder.add_thread({});
    calls.set_size(ServerFile::redo_log, RedoLog::kFileSize);
    calls.begin(0);
  }
};

Part write_often(RedoLog& redo, std::uint64_t bytes, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    redo.append(bytes);
    co_await redo.write_up_to(0, redo.end(), true);
  }
}

TEST_CASE("the redo log is written in whole blocks, from the last one on, round and round") {
  for (const std::uint64_t block : {512, 4096}) {
    RedoRig rig;
    RedoLog redo(rig.calls, block);
    rig.simulation.start(write_often(redo, 100'001, 2'500));  // two rounds and a half
    while (rig.simulation.step()) {
    }
    std::uint64_t end = 0, wraps = 0;
    for (const RecordedOperation& operation : rig.kept.operations) {
      const Operation& op = operation.operation;
      if (op.kind != OperationKind::write) continue;
      REQUIRE(op.offset % block == 0);
      REQUIRE(op.length % block == 0);
      REQUIRE(op.offset >= RedoLog::kHeader);
      REQUIRE(op.offset + op.length <= RedoLog::kFileSize);
      if (end != 0 && op.offset < end - block) {
        CHECK(op.offset == RedoLog::kHeader);
        CHECK(end == RedoLog::kFileSize);
        ++wraps;
      } else if (end != 0) {
        REQUIRE(op.offset >= end - block);
        REQUIRE(op.offset <= end);
      }
      end = op.offset + op.length;
    }
    CHECK(wraps == 2);
    CHECK(redo.durable() == redo.end());
  }
}

TEST_CASE("who comes while the redo log is written is served by one write with the others") {
  RedoRig rig;
  RedoLog redo(rig.calls, 4096);
  for (int i = 0; i < 10; ++i) rig.simulation.start(write_often(redo, 100, 1));
  while (rig.simulation.step()) {
  }
  std::uint64_t writes = 0;
  for (const RecordedOperation& operation : rig.kept.operations) {
    if (operation.operation.kind == OperationKind::write) ++writes;
  }
  CHECK(writes == 2);
}

PageId page(std::uint32_t number) {
  return {ServerFile::table, number};
}

TEST_CASE("pages that were used once are given up before those that are used again later") {
  BufferPool pool(5 << 20);
  const std::size_t frames = pool.free();
  for (std::uint32_t i = 0; pool.free() > 0; ++i) pool.put(page(i), 0);
  CHECK(pool.used() == frames);
  pool.use(page(0), kSecond / 2);  // too soon to count
  CHECK(pool.page(pool.last()) == page(0));
  pool.use(page(0), 2 * kSecond);
  CHECK(!(pool.page(pool.last()) == page(0)));
  for (std::size_t i = 0; i < frames / 2; ++i) pool.evict(pool.last());
  CHECK(pool.find(page(0)) != BufferPool::kNone);
}

TEST_CASE("going through the list from its end meets every page once") {
  BufferPool pool(5 << 20);
  for (std::uint32_t i = 0; pool.free() > 0; ++i) pool.put(page(i), 0);
  for (std::uint32_t i = 0; i < 50; ++i) pool.use(page(3 * i), 2 * kSecond);
  std::set<std::uint32_t> seen;
  for (BufferPool::Frame at = pool.last(); at != BufferPool::kNone; at = pool.before(at)) {
    CHECK(seen.insert(pool.page(at).number).second);
  }
  CHECK(seen.size() == pool.used());
}

TEST_CASE("a page is dirty from its first change until it is written") {
  BufferPool pool(5 << 20);
  const BufferPool::Frame a = pool.put(page(1), 0), b = pool.put(page(2), 0);
  pool.change(a, 100, 200);
  pool.change(b, 200, 300);
  pool.change(a, 300, 400);
  CHECK(pool.oldest_dirty() == a);
  CHECK(pool.oldest_change(a) == 100);
  CHECK(pool.newest(a) == 400);
  pool.begin_write(a);
  CHECK(!pool.dirty(a));
  CHECK(pool.oldest_dirty() == b);
  pool.change(a, 500, 600);
  pool.end_write(a);
  CHECK(pool.dirty(a));
  CHECK(pool.oldest_change(a) == 500);
}

TEST_CASE("a leaf that is too full is split, and both halves are found again") {
  TableSpace space(ServerFile::words);
  KeyTree tree{space};
  tree.begin_with(1, 1'000'000, 0);
  std::uint64_t splits = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    if (tree.insert(i * 7'919 % 1'000'000, 50).split) ++splits;
  }
  CHECK(splits + 1 == tree.leaves());
  CHECK(splits > 10'000 * 50 / KeyTree::kRoom);
  std::set<std::uint32_t> pages;
  for (std::uint64_t key = 0; key < 1'000'000; key += 1'000) {
    pages.insert(tree.find(key).page.number);
  }
  CHECK(pages.size() == tree.leaves());
}

TEST_CASE("leaves that a tree begins with are all there and in one order of the keys") {
  TableSpace space(ServerFile::words);
  KeyTree tree{space};
  tree.begin_with(100, 1'000'000, 8'000);
  CHECK(tree.leaves() == 100);
  std::set<std::uint32_t> pages;
  for (std::uint64_t key = 0; key < 1'000'000; key += 5'000) {
    pages.insert(tree.find(key).page.number);
  }
  CHECK(pages.size() == 100);
}

// Rows that exist after all transactions of a server.
std::uint64_t rows_after(const MysqlMixOptions& options) {
  TraceTables tables;
  VectorSink kept;
  TraceBuilder builder(tables, kept);
  MysqlServer server(options, builder);
  while (server.step()) kept.operations.clear();
  return server.table().existing();
}

TEST_CASE("deletes by time remove what inserts add and other deletes leave") {
  MysqlMixOptions options = review_statements();
  options.transactions = 20'000;  // whose inserts and deletes by key alone add 4,000 rows to 20,000
  const std::uint64_t rows = rows_after(options);
  CHECK(rows > 19'000);
  CHECK(rows < 21'000);
  std::swap(options.shares[static_cast<std::size_t>(Statement::delete_time)],
            options.shares[static_cast<std::size_t>(Statement::select_scan)]);
  CHECK(rows_after(options) > 23'000);
  // Where deletes by key remove more than is inserted there is nothing left for them.
  std::swap(options.shares[static_cast<std::size_t>(Statement::insert)],
            options.shares[static_cast<std::size_t>(Statement::delete_key)]);
  const std::uint64_t without = rows_after(options);
  std::swap(options.shares[static_cast<std::size_t>(Statement::delete_time)],
            options.shares[static_cast<std::size_t>(Statement::select_scan)]);
  const std::uint64_t with = rows_after(options);
  CHECK(without < 18'000);
  CHECK(with > without - 500);
  CHECK(with < without + 500);
}

}  // namespace
}  // namespace filereel

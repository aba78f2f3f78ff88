#include "traces/mysql/mysql_mix.h"

#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/traces/mysql_mix.h"

namespace filereel {
namespace {

using enum OperationKind;

std::string refusal(const MysqlMixOptions& options) {
  try {
    MysqlMix mix(options);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unusable_input);
    return error.what();
  }
  return "";
}

TEST_CASE("shares that do not add up to everything are refused") {
  MysqlMixOptions options;
  options.shares[0] += 1'000;
  CHECK(refusal(options) ==
        "mysql-mix: the shares of the statements add up to 101 %: expected 100 %");
  options.shares = {};
  CHECK(refusal(options).find("add up to 0 %") != std::string::npos);
}

TEST_CASE("options that have no sense are refused with what to give") {
  MysqlMixOptions options;
  options.connections = 0;
  CHECK(refusal(options) == "mysql-mix: invalid number of connections 0: expected 1 to 256");
  options = {};
  options.transactions = 0;
  CHECK(refusal(options) == "mysql-mix: no transactions: expected 1 or more");
  options = {};
  options.rows = 0;
  CHECK(refusal(options).find("rows 0") != std::string::npos);
  options = {};
  options.row_bytes = 33;
  CHECK(refusal(options) == "mysql-mix: invalid row_bytes 33: expected 1 to 32");
  options = {};
  options.buffer_pool = 1 << 20;
  CHECK(refusal(options).find("expected 5 MiB to 256 GiB") != std::string::npos);
  options = {};
  options.flush_log_at_commit = 3;
  CHECK(refusal(options) == "mysql-mix: invalid flush_log_at_commit 3: expected 0, 1 or 2");
  options = {};
  options.block = 1024;
  CHECK(refusal(options) == "mysql-mix: invalid block size of 1024 bytes: expected 512 or 4096");
}

TEST_CASE("the same options make the same trace, also when it is done again") {
  MysqlTrace first(small_mysql());
  const std::vector<RecordedOperation> before = first.operations;
  const auto same = [&](const std::vector<RecordedOperation>& other) {
    REQUIRE(other.size() == before.size());
    for (std::size_t i = 0; i < other.size(); ++i) {
      const Operation &a = before[i].operation, &b = other[i].operation;
      if (before[i].start_ns != other[i].start_ns || a.kind != b.kind || a.offset != b.offset ||
          a.length != b.length || a.file != b.file || a.thread != b.thread || a.entry != b.entry ||
          a.path != b.path) {
        return false;
      }
    }
    return true;
  };
  first.mix.rewind();
  first.read();
  CHECK(same(first.operations));
  CHECK(same(MysqlTrace(small_mysql()).operations));
}

TEST_CASE("another seed makes another trace") {
  MysqlMixOptions other = small_mysql();
  other.seed = 2;
  const MysqlTrace a(small_mysql()), b(other);
  bool differs = a.operations.size() != b.operations.size();
  for (std::size_t i = 0; !differs && i < a.operations.size(); ++i) {
    differs = a.operations[i].operation.offset != b.operations[i].operation.offset;
  }
  CHECK(differs);
}

TEST_CASE("what is said of the trace is what is in it") {
  const MysqlTrace trace(small_mysql());
  const TraceInfo& info = trace.mix.info();
  CHECK(info.operations == trace.operations.size());
  std::map<OperationKind, std::uint64_t> kinds;
  std::vector<std::uint64_t> starts(info.threads.size());
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    const RecordedOperation& operation = trace.operations[i];
    REQUIRE(operation.operation.position == i);
    REQUIRE(operation.operation.thread < info.threads.size());
    REQUIRE(operation.start_ns >= starts[operation.operation.thread]);
    starts[operation.operation.thread] = operation.start_ns;
    ++kinds[operation.operation.kind];
  }
  for (const auto& [kind, count] : kinds) {
    CHECK(info.by_kind[static_cast<std::size_t>(kind)] == count);
  }
  CHECK(kinds[open] == kinds[close]);
  CHECK(info.facts.at("transactions") == "2000");
  CHECK(trace.commits() > 800);  // 52 % of the statements change something, mostly
  CHECK(trace.commits() < 1'100);
}

TEST_CASE("the files exist before the trace, and nothing is read behind their end") {
  const MysqlTrace trace(small_mysql());
  std::map<std::string, std::uint64_t> sizes;
  for (const Entry& entry : trace.mix.trees().initial.entries) {
    if (entry.kind == EntryKind::file) sizes[entry.path] = entry.size;
  }
  CHECK(sizes.size() == 10);
  CHECK(sizes.at("var/lib/mysql/ib_logfile0") == 96 << 20);
  std::map<FileSlot, std::uint64_t> ends;
  std::uint64_t reads = 0;
  for (const RecordedOperation& operation : trace.operations) {
    const Operation& op = operation.operation;
    if (op.kind == open) ends[op.file] = sizes.at(trace.mix.tables().paths.relative(op.path));
    if (op.kind == write || op.kind == allocate) {
      ends[op.file] = std::max(ends[op.file], op.offset + op.length);
    }
    if (op.kind != read) continue;
    ++reads;
    REQUIRE(op.offset + op.length <= ends[op.file]);
    REQUIRE(op.expected == static_cast<std::int64_t>(op.length));
    REQUIRE(op.offset % (16 << 10) == 0);
  }
  CHECK(reads > 500);
}

TEST_CASE("each commit of one connection writes and syncs both logs once") {
  MysqlMixOptions options = mysql_options(Statement::insert);
  options.connections = 1;
  options.fulltext = false;
  const MysqlTrace trace(options);
  CHECK(trace.commits() == 2'000);
  CHECK(trace.count(write, "binlog.000001") == 2'000);
  CHECK(trace.count(sync_data, "binlog.000001") == 2'000);
  // Once a second and at checkpoints there are some more.
  CHECK(trace.count(sync_data, "ib_logfile0") >= 2'000);
  CHECK(trace.count(sync_data, "ib_logfile0") < 2'030);
}

TEST_CASE("the binary log is appended to without gaps") {
  const MysqlTrace trace(mysql_options(Statement::update_key));
  std::uint64_t end = 0;
  for (const RecordedOperation& operation : trace.operations) {
    if (!trace.is(operation.operation, write, "binlog.000001")) continue;
    if (end != 0) REQUIRE(operation.operation.offset == end);
    end = operation.operation.offset + operation.operation.length;
  }
  CHECK(end > 2'000 * 200);
}

TEST_CASE("commits of several connections share writes") {
  const MysqlTrace trace(mysql_options(Statement::insert));
  CHECK(trace.count(write, "binlog.000001") < 1'800);
  CHECK(trace.count(write, "binlog.000001") > 500);
}

TEST_CASE("the policies of the logs decide how often they are written and synced") {
  MysqlMixOptions options = mysql_options(Statement::insert);
  const MysqlTrace durable(options);
  options.flush_log_at_commit = 2;
  const MysqlTrace written(options);
  options.flush_log_at_commit = 0;
  const MysqlTrace neither(options);
  CHECK(written.count(sync_data, "ib_logfile0") * 5 < durable.count(sync_data, "ib_logfile0"));
  CHECK(written.count(write, "ib_logfile0") * 2 > durable.count(write, "ib_logfile0"));
  // Left are the writes that go before those of pages, once a second, and at checkpoints.
  CHECK(neither.count(write, "ib_logfile0") * 3 < durable.count(write, "ib_logfile0"));
  for (const RecordedOperation& operation : neither.operations) {
    const bool by_connection = operation.operation.thread < options.connections;
    REQUIRE(!(by_connection && neither.is(operation.operation, write, "ib_logfile0")));
  }

  options.sync_binlog = 0;
  CHECK(MysqlTrace(options).count(sync_data, "binlog.000001") == 0);
  options.sync_binlog = 10;
  const MysqlTrace tenth(options);
  const std::uint64_t groups = tenth.count(write, "binlog.000001");
  CHECK(tenth.count(sync_data, "binlog.000001") >= groups / 10);
  CHECK(tenth.count(sync_data, "binlog.000001") <= groups / 10 + 1);
}

TEST_CASE("no page is written, nor read, while the data fits the pool") {
  MysqlMixOptions options = mysql_options(Statement::update_key);
  options.buffer_pool = 1 << 30;
  const MysqlTrace trace(options);
  CHECK(trace.page_writes() == 0);
  CHECK(trace.mix.info().by_kind[static_cast<std::size_t>(read)] < 30);
}

TEST_CASE("every page that is written was in a doublewrite before, which was synced") {
  const MysqlTrace trace(mysql_options(Statement::update_key, 4'000));
  std::uint64_t covered = 0, pages = 0, batches = 0;
  bool synced = true;
  for (const RecordedOperation& operation : trace.operations) {
    const Operation& op = operation.operation;
    if (trace.is_doublewrite(op)) {
      CHECK(op.length <= 2 << 20);
      covered += op.length / (16 << 10);
      synced = false;
      ++batches;
    }
    if (trace.is(op, sync_data, "ibdata1")) synced = true;
    if (!trace.is_page_write(op) || batches == 0) continue;  // one may have been under way
    ++pages;
    REQUIRE(synced);
    REQUIRE(pages <= covered + 128);
    REQUIRE(op.length == 16 << 10);
    REQUIRE(op.asynchronous);
  }
  CHECK(batches > 20);
  CHECK(pages > 20 * 64);
}

TEST_CASE("without the doublewrite buffer pages are written once") {
  MysqlMixOptions options = mysql_options(Statement::update_key, 4'000);
  options.doublewrite = false;
  const MysqlTrace trace(options);
  CHECK(trace.page_writes() > 1'000);
  for (const RecordedOperation& operation : trace.operations)
    CHECK(!trace.is_doublewrite(operation.operation));
}

TEST_CASE("without native AIO threads write the pages, and nothing is asynchronous") {
  MysqlMixOptions options = mysql_options(Statement::update_key, 4'000);
  options.native_aio = false;
  const MysqlTrace trace(options);
  std::set<std::uint32_t> writers;
  for (const RecordedOperation& operation : trace.operations) {
    REQUIRE(!operation.operation.asynchronous);
    if (trace.is_page_write(operation.operation)) writers.insert(operation.operation.thread);
  }
  CHECK(writers.size() == 4);
  CHECK(trace.mix.info().by_kind[static_cast<std::size_t>(reap)] == 0);
}

TEST_CASE("without a full-text index there are no files of words") {
  MysqlMixOptions options = mysql_options(Statement::update_key);
  options.fulltext = false;
  options.buffer_pool = 64 << 20;
  const MysqlTrace trace(options);
  CHECK(trace.mix.trees().initial.totals().files == 4);
  CHECK(trace.page_writes() == 0);
}

TEST_CASE("a scan of a table that is not in the pool is read ahead by extents") {
  MysqlMixOptions options = mysql_options(Statement::select_scan, 8);
  options.connections = 1;
  options.fulltext = false;
  options.rows = 400'000;  // more than the pool holds
  options.settling = 10;
  const MysqlTrace trace(options);
  std::uint64_t ahead = 0, waited = 0;
  for (const RecordedOperation& operation : trace.operations) {
    if (!trace.is(operation.operation, read, "items.ibd")) continue;
    ++(operation.operation.asynchronous ? ahead : waited);
  }
  CHECK(ahead > 2'000);
  CHECK(waited * 4 < ahead);
}

TEST_CASE("reading alone changes nothing") {
  for (const Statement only : {Statement::select_key, Statement::select_time,
                               Statement::select_like, Statement::select_uid}) {
    const MysqlTrace trace(mysql_options(only, 100));
    CAPTURE(statement_name(only));
    CHECK(trace.commits() == 0);
    CHECK(trace.count(write, "binlog.000001") == 0);
  }
}

// Lengths of the binary log's writes of one connection: how often each came.
std::map<std::uint64_t, std::uint64_t> logged(const MysqlTrace& trace) {
  std::map<std::uint64_t, std::uint64_t> lengths;
  for (const RecordedOperation& operation : trace.operations) {
    if (trace.is(operation.operation, write, "binlog.000001"))
      ++lengths[operation.operation.length];
  }
  return lengths;
}

TEST_CASE("the nine statements of the review change what they should, and the rest reads") {
  const MysqlTrace trace(review_statements());
  CHECK(trace.commits() > 2'000 * 57 / 100);
  CHECK(trace.commits() < 2'000 * 66 / 100);
  CHECK(trace.mix.info().threads.size() == 9 + 5);
}

TEST_CASE("each kind of statement is told by the length of its event in the binary log") {
  MysqlMixOptions options = review_statements();
  options.connections = 1;  // no groups
  options.transactions = 4'000;
  const MysqlTrace trace(options);
  const std::map<std::uint64_t, std::uint64_t> lengths = logged(trace);
  REQUIRE(lengths.size() == 5);
  const auto near = [&](std::uint64_t length, std::uint64_t wanted) {
    CAPTURE(length);
    CHECK(lengths.at(length) > wanted * 8 / 10);
    CHECK(lengths.at(length) < wanted * 12 / 10);
  };
  near(255, 1'200);             // insert
  near(215, 800);               // update-key
  near(169, 400);               // delete-key
  CHECK(lengths.at(173) > 20);  // delete-time: rows to remove have come meanwhile
  CHECK(lengths.at(173) < 65);
  CHECK(lengths.at(227) > 8);  // update-like, which sometimes finds nothing
  CHECK(lengths.at(227) < 65);
}

TEST_CASE("a scan that changes rows reads the table once, like one that only reads") {
  const auto pages = [](Statement statement) {
    MysqlMixOptions options = mysql_options(statement, 4);
    options.connections = 1;
    options.fulltext = false;
    options.rows = 400'000;  // more than the pool holds
    options.settling = 10;
    const MysqlTrace trace(options);
    return trace.count(read, "items.ibd");
  };
  const std::uint64_t only_read = pages(Statement::select_like);
  const std::uint64_t changed = pages(Statement::update_like);
  CHECK(only_read > 4 * 1'000);
  CHECK(changed > only_read * 9 / 10);
  CHECK(changed < only_read * 12 / 10);
}

TEST_CASE("inserts go on while a statement looks at all rows, unless that locks all at once") {
  // Times between two writes of the binary log in which a scan of 20,000 rows has room.
  const auto pauses = [](Statement scanning) {
    constexpr std::uint64_t kMost = 5'000'000;  // ns; the scans take 6 and 8 ms
    MysqlMixOptions options = mysql_options(Statement::insert);
    options.connections = 9;
    options.shares[static_cast<std::size_t>(Statement::insert)] = 90'000;
    options.shares[static_cast<std::size_t>(scanning)] = 10'000;
    const MysqlTrace trace(options);
    std::uint64_t before = 0, found = 0;
    for (const RecordedOperation& operation : trace.operations) {
      if (!trace.is(operation.operation, write, "binlog.000001")) continue;
      if (before != 0 && operation.start_ns - before > kMost) ++found;
      before = operation.start_ns;
    }
    return found;
  };
  CHECK(pauses(Statement::update_text) > 100);
  CHECK(pauses(Statement::update_like) < 50);
}

}  // namespace
}  // namespace filereel

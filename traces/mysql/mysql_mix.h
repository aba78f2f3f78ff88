// How this folder works: a discrete-event simulation (simulation.h) with a virtual clock.
// Connections (connections.h) run statements on a server made of the parts that InnoDB has: buffer
// pool, redo log, page cleaner, binary log and others, a file each. They act only by ServerCalls
// (server_calls.h), which take virtual time and become operations of the trace. No file is touched.
// Start with server.h, then connections.cc.
//
// mysql-mix and mysql-review: the file operations of an InnoDB-like server (MariaDB 10.11) under a
// mix of statements. A simulation of the server yields the trace. See docs/mysql-mix.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "traces/recorded_trace.h"

namespace filereel {

// Each is one transaction (autocommit).
enum class Statement : std::uint8_t {
  insert,
  update_key,    // new status for the row with an id
  update_text,   // new status for the rows whose status has a word
  delete_key,    // row with an id
  delete_range,  // rows in a range of ids
  select_key,    // row with an id
  select_text,   // rows whose status has a word
  select_scan,   // all rows
  update_like,   // new status for the rows whose status has four letters
  delete_time,   // rows whose time is above an integer
  select_time,   // rows whose time is above an integer
  select_like,   // rows whose status has four letters
  select_uid,    // rows whose uid is above an integer
};
inline constexpr std::size_t kStatements = 13;

// "insert", "update-key" …: as in workload files.
std::string_view statement_name(Statement statement);

// Speed of the simulated server: means, in nanoseconds. They determine the number of commits per
// write and the turnover of pages. The defaults were measured together with the shares of
// docs/mysql-mix.md, on ext4 on a virtual disk and two CPUs.
struct MysqlTiming {
  std::uint64_t statement = 470'000;  // CPU time around a statement
  std::uint64_t redo_write = 154'000, redo_sync = 198'000;
  std::uint64_t binlog_write = 9'000, binlog_sync = 443'000;
  std::uint64_t page_read = 168'000, page_write = 767'000, data_sync = 216'000;
  std::uint64_t doublewrite = 1'587'000;  // of 128 pages
  std::uint64_t word = 25'000;  // written by the full-text index, including waits for a CPU
  // A row read by a scan, and one locked by it.
  std::uint64_t scanned_row = 150, locked_row = 300;
};

struct MysqlMixOptions {
  static constexpr std::uint32_t kAllShares = 100'000;  // thousandths of a percent
  static constexpr std::uint32_t kMostConnections = 256;
  static constexpr std::uint64_t kMostRows = 1'000'000'000;
  static constexpr std::uint64_t kMostRowBytes = 32;    // varchar(32)
  static constexpr std::uint64_t kLeastPool = 5 << 20;  // minimum of the server
  static constexpr std::uint64_t kMostPool = 1ULL << 38;

  std::uint32_t connections = 4;
  std::uint64_t transactions = 100'000;  // total of all connections
  std::uint64_t rows = 200'000;          // initial rows of the table
  std::uint64_t row_bytes = 23;          // of the status
  std::uint64_t buffer_pool = 64 << 20;  // bytes
  // By statement, in thousandths of a percent; the sum is kAllShares.
  std::array<std::uint32_t, kStatements> shares = {20'000, 20'000, 1'000,  5'000,
                                                   1'000,  42'000, 10'000, 1'000};
  std::uint32_t flush_log_at_commit = 1;  // innodb_flush_log_at_trx_commit: 0, 1 or 2
  std::uint32_t sync_binlog = 1;          // commit groups per sync; 0: never
  bool doublewrite = true;
  bool native_aio = true;      // reads ahead and writes pages asynchronously, otherwise by calls
  bool fulltext = true;        // index of the words of the status
  std::uint64_t block = 4096;  // block size of the device for the redo log, in bytes
  std::uint64_t seed = 1;
  MysqlTiming timing = {};
  // Transactions before the trace begins, until the turnover of pages is steady. Default: a tenth
  // of the rows, at least 1,000 and at most 20,000. Tests of full scans, which need no such
  // turnover, set it.
  std::optional<std::uint64_t> settling = {};
};

// The trace starts with opening the server's files, which exist with the sizes required by the
// table.
class MysqlMix final : public RecordedTrace {
 public:
  // Simulates the whole load once, to determine its trees and figures. Throws Error(unusable_input)
  // if an option is invalid.
  explicit MysqlMix(const MysqlMixOptions& options);
  ~MysqlMix() override;

  const TraceTables& tables() const override;
  const TraceInfo& info() const override;
  const TraceTrees& trees() const override;

  std::size_t next(std::span<RecordedOperation> out) override;
  // Simulates everything again.
  void rewind() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel

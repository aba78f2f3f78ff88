#include "traces/workload/mysql_reader.h"

namespace filereel {
namespace {

void read_statements(const YamlValue& value, Sweep& sweep, MysqlMixOptions& options) {
  std::array<std::string_view, kStatements> names;
  for (std::size_t i = 0; i < kStatements; ++i) {
    names[i] = statement_name(static_cast<Statement>(i));
  }
  const SweptMap map(value.map(names), sweep);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kStatements; ++i) {
    options.shares[i] = 0;
    map.read_share(names[i], options.shares[i]);
    sum += options.shares[i];
  }
  check_share_sum(value, sum);
}

}  // namespace

MysqlMixOptions read_mysql(const YamlValue& value, Sweep& sweep) {
  const SweptMap map(value.map({"connections", "transactions", "rows", "row_bytes", "buffer_pool",
                                "statements", "flush_log_at_commit", "sync_binlog", "doublewrite",
                                "native_aio", "fulltext", "block"}),
                     sweep);
  MysqlMixOptions options;
  map.read_number("connections", options.connections, 1, options.kMostConnections);
  map.read_number("transactions", options.transactions, 1, 1'000'000'000);
  map.read_number("rows", options.rows, 1, options.kMostRows);
  map.read_number("row_bytes", options.row_bytes, 1, options.kMostRowBytes);
  map.read_size("buffer_pool", options.buffer_pool, options.kLeastPool);
  if (options.buffer_pool > options.kMostPool) {
    map.one("buffer_pool")->fail("must be at most 256 GiB");
  }
  if (map.whole("statements")) read_statements(*map.whole("statements"), sweep, options);
  map.read_number("flush_log_at_commit", options.flush_log_at_commit, 0, 2);
  map.read_number("sync_binlog", options.sync_binlog, 0, 1'000'000);
  map.read_truth("doublewrite", options.doublewrite);
  map.read_truth("native_aio", options.native_aio);
  map.read_truth("fulltext", options.fulltext);
  map.read_size("block", options.block, 512);
  if (options.block != 512 && options.block != 4096) {
    map.one("block")->fail("must be 512 B or 4 KiB, the block sizes of drives");
  }
  return options;
}

}  // namespace filereel

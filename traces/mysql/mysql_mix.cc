#include "traces/mysql/mysql_mix.h"

#include <algorithm>
#include <deque>
#include <optional>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "traces/mysql/server.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, kStatements> kStatementNames = {
    "insert",      "update-key",  "update-text", "delete-key",  "delete-range",
    "select-key",  "select-text", "select-scan", "update-like", "delete-time",
    "select-time", "select-like", "select-uid"};

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorKind::unusable_input, "mysql-mix: " + text);
}

void check(const MysqlMixOptions& options) {
  if (options.connections < 1 || options.connections > options.kMostConnections) {
    refuse(fmt::format("invalid number of connections {}: expected 1 to {}", options.connections,
                       options.kMostConnections));
  }
  if (options.transactions == 0) refuse("no transactions: expected 1 or more");
  if (options.rows < 1 || options.rows > options.kMostRows) {
    refuse(fmt::format("invalid number of rows {}: expected 1 to {}", options.rows,
                       options.kMostRows));
  }
  if (options.row_bytes < 1 || options.row_bytes > options.kMostRowBytes) {
    refuse(fmt::format("invalid row_bytes {}: expected 1 to {}", options.row_bytes,
                       options.kMostRowBytes));
  }
  if (options.buffer_pool < options.kLeastPool || options.buffer_pool > options.kMostPool) {
    refuse(fmt::format("invalid buffer pool size of {}: expected {} to {}",
                       counted(options.buffer_pool, "byte"), format_binary_size(options.kLeastPool),
                       format_binary_size(options.kMostPool)));
  }
  std::uint64_t sum = 0;
  for (const std::uint32_t share : options.shares) sum += share;
  if (sum != options.kAllShares) {
    refuse(fmt::format("the shares of the statements add up to {:g} %: expected 100 %",
                       static_cast<double>(sum) / 1000));
  }
  if (options.flush_log_at_commit > 2) {
    refuse(fmt::format("invalid flush_log_at_commit {}: expected 0, 1 or 2",
                       options.flush_log_at_commit));
  }
  if (options.block != 512 && options.block != 4096) {
    refuse(fmt::format("invalid block size of {}: expected 512 or 4096",
                       counted(options.block, "byte")));
  }
}

// Operations added and not yet taken.
class Queue final : public OperationSink {
 public:
  void add(const RecordedOperation& operation) override { operations_.push_back(operation); }
  bool empty() const { return operations_.empty(); }
  void clear() { operations_.clear(); }

  std::size_t take(std::span<RecordedOperation> out) {
    const std::size_t count = std::min(out.size(), operations_.size());
    std::copy_n(operations_.begin(), count, out.begin());
    operations_.erase(operations_.begin(),
                      operations_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

 private:
  std::deque<RecordedOperation> operations_;
};

}  // namespace

std::string_view statement_name(Statement statement) {
  return kStatementNames[static_cast<std::size_t>(statement)];
}

struct MysqlMix::State {
  // One simulation from start to end.
  struct Pass {
    Pass(const MysqlMixOptions& options, TraceTables& tables)
        : builder(tables, queue), server(options, builder) {}
    Queue queue;
    TraceBuilder builder;
    MysqlServer server;
  };

  explicit State(const MysqlMixOptions& given) : options(given) {
    check(options);
    pass.emplace(options, tables);
    while (pass->server.step()) pass->queue.clear();
    pass->builder.fact("source", "mysql-mix");
    pass->builder.fact("transactions", fmt::format("{}", options.transactions));
    pass->builder.fact("commits", fmt::format("{}", pass->server.commits()));
    info = pass->builder.info();
    trees = pass->builder.trees();
    pass.reset();
  }

  MysqlMixOptions options;
  TraceTables tables;
  TraceInfo info;
  TraceTrees trees;
  std::optional<Pass> pass;  // created by the first next()
};

MysqlMix::MysqlMix(const MysqlMixOptions& options) : state_(std::make_unique<State>(options)) {}
MysqlMix::~MysqlMix() = default;

const TraceTables& MysqlMix::tables() const {
  return state_->tables;
}
const TraceInfo& MysqlMix::info() const {
  return state_->info;
}
const TraceTrees& MysqlMix::trees() const {
  return state_->trees;
}

std::size_t MysqlMix::next(std::span<RecordedOperation> out) {
  if (!state_->pass) state_->pass.emplace(state_->options, state_->tables);
  State::Pass& pass = *state_->pass;
  while (pass.queue.empty() && pass.server.step()) {
  }
  return pass.queue.take(out);
}

void MysqlMix::rewind() {
  state_->pass.reset();
}

}  // namespace filereel

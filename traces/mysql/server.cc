#include "traces/mysql/server.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace filereel {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kCheckpointEvery = 2;  // seconds (measured: 8 to 13 in 30 s)
constexpr std::uint64_t kLeastSettling = 1'000, kMostSettling = 20'000;

}  // namespace

MysqlServer::MysqlServer(const MysqlMixOptions& options, TraceBuilder& trace)
    : options_(options),
      threads_(options.connections),
      calls_(simulation_, trace, options.timing, mix_seed(options.seed, 2)),
      redo_(calls_, options.block),
      binlog_(calls_, options.sync_binlog),
      io_(calls_, threads_, options.native_aio),
      cache_(calls_, io_, redo_, options.buffer_pool),
      undo_(calls_, threads_, cache_),
      cleaner_(calls_, threads_, io_, cache_, options.doublewrite),
      table_(options.rows, options.row_bytes, options.fulltext),
      connections_(options, calls_, cache_, undo_, binlog_, table_,
                   options.fulltext
                       ? &fulltext_.emplace(calls_, threads_, cache_, undo_, options.rows,
                                            FulltextIndex::words_of(options.row_bytes),
                                            options.timing.word, mix_seed(options.seed, 3))
                       : nullptr) {
  calls_.set_size(ServerFile::redo_log, RedoLog::kFileSize);
  calls_.set_size(ServerFile::table, table_.file_size());
  name_threads(trace);
  table_.visit_leaves([&](PageId page) { cache_.loaded(page); });
  io_.start();
  undo_.start();
  cleaner_.start();
  if (fulltext_) fulltext_->start();
  simulation_.start(master());
  connections_.start(
      options.settling.value_or(std::clamp(options.rows / 10, kLeastSettling, kMostSettling)));
  while (!connections_.done()) simulation_.step();
  calls_.begin(threads_.master());
  connections_.start(options.transactions);
}

bool MysqlServer::step() {
  if (ended_) return false;
  if (!connections_.done()) {
    simulation_.step();
    return true;
  }
  for (std::uint32_t i = 0; options_.native_aio && i <= threads_.completer(); ++i) {
    calls_.reap(i, 0);
  }
  calls_.end(threads_.master());
  ended_ = true;
  return true;
}

// Once a second the redo log is made durable, regardless of commits. Now and then its header
// records the progress of pages written to disk.
Part MysqlServer::master() {
  for (std::uint64_t second = 1;; ++second) {
    co_await simulation_.sleep(kSecond);
    co_await redo_.write_up_to(threads_.master(), redo_.end(), true);
    if (second % kCheckpointEvery == 0) {
      co_await redo_.checkpoint(threads_.master(), cache_.oldest_change());
    }
  }
}

void MysqlServer::name_threads(TraceBuilder& trace) {
  const auto add = [&](const std::string& name) {
    TraceThread thread;
    thread.process = 1;
    thread.name = name;
    const std::uint32_t number = trace.add_thread(thread);
    trace.thread(number).thread = number + 1;
  };
  for (std::uint32_t i = 0; i < options_.connections; ++i) add(fmt::format("connection {}", i + 1));
  for (const char* name : {"page cleaner", "completer", "full-text", "purge", "master"}) add(name);
  if (options_.native_aio) return;
  for (std::uint32_t i = 0; i < ServerThreads::kIoThreads; ++i) add(fmt::format("io {}", i + 1));
}

}  // namespace filereel

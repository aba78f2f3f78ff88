#include "traces/mysql/undo_log.h"

namespace filereel {
namespace {

// Pages of the system table space: the headers of the rollback segments, then undo logs, which are
// reused in turn after the purge has freed them.
constexpr std::uint32_t kHeaders = 256;
constexpr std::uint32_t kFirstUndo = 512, kUndoPages = 2048;
constexpr std::uint32_t kLoadedUndoPages = 700;
constexpr std::uint64_t kSystemPages = 4864;  // 76 MiB
// Fill level above which a page is not used for another transaction.
constexpr std::uint64_t kReuse = kPage * 3 / 4;
constexpr std::uint64_t kLogHeader = 250;  // of one transaction, with its XID
// The redo log of this work is counted with the statements.
constexpr std::uint64_t kPurgeCpu = 8'000;  // ns per page
constexpr std::size_t kPurgeBatch = 300;    // innodb_purge_batch_size
constexpr std::uint64_t kPurgePause = 20'000'000;

}  // namespace

UndoLog::UndoLog(ServerCalls& calls, ServerThreads threads, PageCache& cache)
    : calls_(calls), threads_(threads), cache_(cache), work_(calls.simulation()) {
  calls.set_size(ServerFile::system, kSystemPages * kPage);
  for (UndoSegment& segment : segments_) segment.page = kFirstUndo + next_page_++;
}

void UndoLog::start() {
  // Remains of the load that are not needed any more.
  for (std::uint32_t i = kUndoPages - kLoadedUndoPages; i < kUndoPages; ++i) {
    cache_.loaded({ServerFile::system, kFirstUndo + i});
  }
  calls_.simulation().start(purge());
}

Part UndoLog::write(std::uint32_t thread, std::uint64_t bytes) {
  const std::size_t number = next_segment_++ % kSegments;
  UndoSegment& segment = segments_[number];
  for (bytes += kLogHeader; bytes > 0;) {
    const std::uint64_t here = std::min(bytes, kPage);
    if (segment.bytes + here > kReuse && segment.bytes > 0) {
      segment.bytes = 0;
      segment.page = kFirstUndo + next_page_++ % kUndoPages;
      const PageId fresh{ServerFile::system, segment.page};
      segment.bytes += here;
      co_await cache_.create(thread, fresh, 0);
    } else {
      segment.bytes += here;
      co_await cache_.change(thread, {ServerFile::system, segment.page}, 0);
    }
    bytes -= here;
  }
  const auto header = static_cast<std::uint32_t>(kHeaders + number);
  co_await cache_.change(thread, {ServerFile::system, header}, 0);
}

void UndoLog::committed(std::span<const PageId> pages) {
  history_.insert(history_.end(), pages.begin(), pages.end());
}

void UndoLog::release() {
  if (--holders_ == 0) work_.raise();
}

Part UndoLog::purge() {
  const std::uint32_t thread = threads_.purger();
  for (;;) {
    co_await calls_.simulation().sleep(kPurgePause);
    while (holders_ > 0) co_await work_.wait();
    while (!history_.empty() && holders_ == 0) {
      for (std::size_t i = 0; i < kPurgeBatch && !history_.empty(); ++i) {
        const PageId page = history_.front();
        history_.pop_front();
        co_await cache_.change(thread, page, 0);
        co_await calls_.simulation().sleep(kPurgeCpu);
      }
    }
  }
}

}  // namespace filereel

#include "traces/mysql/page_cache.h"

#include <algorithm>

#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kFirstRedoByte =
    54321;  // written during the creation of the server and its table
// The two alternating positions of checkpoints in the header, and their size.
constexpr std::uint64_t kCheckpointAt = 4096, kCheckpointSize = 4096;
// Bytes gathered before a write (innodb_log_write_ahead_size only concerns the block).
constexpr std::uint64_t kBuffer = 2 << 20;

}  // namespace

RedoLog::RedoLog(ServerCalls& calls, std::uint64_t block)
    : calls_(calls),
      block_(block),
      end_(kFirstRedoByte),
      written_(kFirstRedoByte),
      durable_(kFirstRedoByte),
      checkpointed_(kFirstRedoByte),
      done_(calls.simulation()) {}

Part RedoLog::write_up_to(std::uint32_t thread, std::uint64_t place, bool sync) {
  while ((sync ? durable_ : written_) < place) {
    if (busy_) {
      co_await done_.wait();
      continue;
    }
    busy_ = true;
    co_await write_new(thread);
    if (sync) {
      const std::uint64_t durable = written_;
      co_await calls_.sync(thread, ServerFile::redo_log);
      durable_ = std::max(durable_, durable);
    }
    busy_ = false;
    done_.raise();
  }
}

// Rewrites the last block of the previous write, and writes everything after it.
Part RedoLog::write_new(std::uint32_t thread) {
  while (written_ < end_) {
    const std::uint64_t at = written_ % capacity();
    const std::uint64_t bytes = std::min({end_ - written_, kBuffer, capacity() - at});
    const std::uint64_t begin = at / block_ * block_;
    const std::uint64_t end = (at + bytes + block_ - 1) / block_ * block_;
    const std::uint64_t up_to = written_ + bytes;
    co_await calls_.write(thread, ServerFile::redo_log, kHeader + begin, end - begin);
    written_ = up_to;
    if (bytes < kBuffer) break;  // later changes are left to the next write
  }
}

Part RedoLog::checkpoint(std::uint32_t thread, std::uint64_t place) {
  if (place <= checkpointed_) co_return;
  co_await write_up_to(thread, end_, true);
  const std::uint64_t offset = kCheckpointAt * (1 + ++checkpoints_ % 2);
  co_await calls_.write(thread, ServerFile::redo_log, offset, kCheckpointSize);
  co_await calls_.sync(thread, ServerFile::redo_log);
  checkpointed_ = place;
}

namespace {

// A table space grows by one extent, and by four from 32 extents.
constexpr std::uint64_t kLargeFile = 32 * kMiB;
// Pages examined for a victim if no frame is free.
constexpr int kSearched = 100;
// Frames not available to read-ahead.
constexpr std::size_t kSpared = 64;

}  // namespace

PageCache::PageCache(ServerCalls& calls, PageIo& io, RedoLog& redo, std::uint64_t bytes)
    : calls_(calls),
      io_(io),
      redo_(redo),
      pool_(bytes),
      wanted_(calls.simulation()),
      cleaned_(calls.simulation()) {}

bool PageCache::needs_room() const {
  return pool_.used() > kFewestPages && pool_.free() < kScanDepth / 2;
}

std::uint64_t PageCache::oldest_change() const {
  const BufferPool::Frame oldest = pool_.oldest_dirty();
  return oldest == BufferPool::kNone ? redo_.end() : pool_.oldest_change(oldest);
}

bool PageCache::hit(PageId page) {
  const BufferPool::Frame frame = pool_.use(page, calls_.simulation().now());
  return frame != BufferPool::kNone && pool_.arrival(frame) <= calls_.simulation().now();
}

bool PageCache::was_used(PageId page) const {
  const BufferPool::Frame frame = pool_.find(page);
  return frame != BufferPool::kNone && pool_.was_used(frame);
}

bool PageCache::evict_one() {
  BufferPool::Frame frame = pool_.last();
  for (int i = 0; i < kSearched && frame != BufferPool::kNone; ++i) {
    if (!pool_.dirty(frame) && !pool_.writing(frame) &&
        pool_.arrival(frame) <= calls_.simulation().now()) {
      pool_.evict(frame);
      return true;
    }
    frame = pool_.before(frame);
  }
  return false;
}

Part PageCache::take_room() {
  if (needs_room()) wanted_.raise();
  while (pool_.free() == 0 && !evict_one()) {
    wanted_.raise();
    co_await cleaned_.wait();
  }
}

Part PageCache::get(std::uint32_t thread, PageId page) {
  for (;;) {
    const BufferPool::Frame frame = pool_.use(page, calls_.simulation().now());
    if (frame != BufferPool::kNone) {
      if (pool_.arrival(frame) <= calls_.simulation().now()) co_return;
      co_await io_.wait_for_arrival(page, pool_);
      continue;
    }
    co_await take_room();
    if (pool_.find(page) != BufferPool::kNone) continue;  // another thread was faster
    const BufferPool::Frame taken = pool_.put(page, calls_.simulation().now());
    Simulation::Sleep reading = calls_.read(thread, page.file, page.number * kPage, kPage);
    pool_.set_arrival(taken, reading.until);
    co_await reading;
  }
}

Part PageCache::change(std::uint32_t thread, PageId page, std::uint64_t redo_bytes) {
  if (!hit(page)) co_await get(thread, page);
  const std::uint64_t begin = redo_.end();
  redo_.append(redo_bytes);
  pool_.change(pool_.find(page), begin, redo_.end());
}

Part PageCache::create(std::uint32_t thread, PageId page, std::uint64_t redo_bytes) {
  while (calls_.size(page.file) < (page.number + 1) * kPage) {
    co_await calls_.allocate(thread, page.file,
                             calls_.size(page.file) < kLargeFile ? kMiB : 4 * kMiB);
    co_await calls_.sync(thread, page.file);
    co_await calls_.sync(thread, page.file);
  }
  while (pool_.find(page) == BufferPool::kNone) {
    co_await take_room();
    if (pool_.find(page) == BufferPool::kNone) {
      pool_.put(page, calls_.simulation().now(), BufferPool::Coming::made);
    }
  }
  co_await change(thread, page, redo_bytes);
}

void PageCache::loaded(PageId page) {
  if (pool_.free() > kScanDepth && pool_.find(page) == BufferPool::kNone) {
    pool_.put(page, calls_.simulation().now(), BufferPool::Coming::made);
  }
}

void PageCache::read_ahead(std::uint32_t thread, PageId first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const PageId page{first.file, first.number + i};
    if ((page.number + 1) * kPage > calls_.size(page.file)) break;
    if (pool_.find(page) != BufferPool::kNone) continue;
    if (pool_.free() <= kSpared) break;
    io_.read_ahead(thread, page, pool_);
  }
  if (needs_room()) wanted_.raise();
}

namespace {

constexpr std::size_t kBatch = 128;  // pages per doublewrite
constexpr std::uint64_t kDoublewriteAt = 1 << 20;
constexpr std::size_t kMostOfRound = 2000;    // innodb_io_capacity_max: written pages
constexpr std::uint32_t kNeighbourhood = 64;  // pages: innodb_flush_neighbors
// Shares of the log's capacity: above the first, pages are written to shorten the log, down to the
// second.
constexpr std::uint64_t kLongLog = RedoLog::capacity() / 10 * 9 / 8 * 7;
constexpr std::uint64_t kShortened = kLongLog - (1 << 20);

}  // namespace

PageCleaner::PageCleaner(ServerCalls& calls, ServerThreads threads, PageIo& io, PageCache& cache,
                         bool doublewrite)
    : calls_(calls),
      threads_(threads),
      io_(io),
      cache_(cache),
      doublewrite_(doublewrite),
      handed_over_(calls.simulation()),
      completed_(calls.simulation()) {}

void PageCleaner::start() {
  calls_.simulation().start(run());
  calls_.simulation().start(complete());
}

std::uint64_t PageCleaner::log_age() {
  return cache_.redo().end() - cache_.oldest_change();
}

Part PageCleaner::run() {
  for (;;) {
    while (!cache_.needs_room() && log_age() < kLongLog) co_await cache_.wanted().wait();
    if (cache_.needs_room()) co_await make_room();
    if (log_age() >= kLongLog) co_await keep_log_short();
    round_ends_ = true;
    co_await hand_over();
    while (!doublewrite_ && is_running_) co_await completed_.wait();
    round_ends_ = false;
    cache_.cleaned().raise();
  }
}

// One round: releases clean pages and writes dirty ones, from the end of the list, until enough
// frames are free or the maximum number of pages is written. A later round releases the written
// pages when they are clean.
Part PageCleaner::make_room() {
  BufferPool& pool = cache_.pool();
  std::size_t evicted = 0;
  const std::uint64_t before = pages_written_;
  BufferPool::Frame frame = pool.last();
  while (frame != BufferPool::kNone && pool.used() > PageCache::kFewestPages &&
         pool.free() < PageCache::kScanDepth && pages_written_ - before < kMostOfRound) {
    const BufferPool::Frame next = pool.before(frame);
    const bool here = pool.arrival(frame) <= calls_.simulation().now();
    if (pool.dirty(frame)) {
      // The list may change meanwhile, so the next page is looked up again.
      const PageId next_page = next == BufferPool::kNone ? PageId{} : pool.page(next);
      co_await write_with_neighbours(frame);
      frame = next == BufferPool::kNone ? next : pool.find(next_page);
      if (frame == BufferPool::kNone && next != BufferPool::kNone) frame = pool.last();
      continue;
    }
    if (!pool.writing(frame) && here) {
      pool.evict(frame);
      if (++evicted % kBatch == 0) cache_.cleaned().raise();
    }
    frame = next;
  }
}

Part PageCleaner::keep_log_short() {
  BufferPool& pool = cache_.pool();
  while (pool.oldest_dirty() != BufferPool::kNone && log_age() > kShortened) {
    co_await write_with_neighbours(pool.oldest_dirty());
  }
}

// Dirty neighbours in the same extent of the file.
Part PageCleaner::write_with_neighbours(BufferPool::Frame frame) {
  BufferPool& pool = cache_.pool();
  const PageId page = pool.page(frame);
  const std::uint32_t low = page.number / kNeighbourhood * kNeighbourhood;
  const auto is_dirty = [&](std::uint32_t number) {
    const BufferPool::Frame there = pool.find({page.file, number});
    return there != BufferPool::kNone && pool.dirty(there) && !pool.writing(there);
  };
  std::uint32_t first = page.number, end = page.number + 1;
  while (first > low && is_dirty(first - 1)) --first;
  while (end < low + kNeighbourhood && is_dirty(end)) ++end;
  for (std::uint32_t number = first; number < end; ++number) {
    if (number != page.number && !is_dirty(number)) continue;
    const BufferPool::Frame there = pool.find({page.file, number});
    if (there != BufferPool::kNone && pool.dirty(there)) co_await write_page(there);
  }
}

// A page is written after the redo log of its changes.
Part PageCleaner::write_page(BufferPool::Frame frame) {
  BufferPool& pool = cache_.pool();
  if (pool.writing(frame)) {  // changed again while it is being written
    co_await hand_over();
    while (is_running_) co_await completed_.wait();
    co_return;
  }
  const PageId page = pool.page(frame);
  pool.begin_write(frame);
  ++pages_written_;
  batch_.push_back(page);
  const std::uint64_t newest = pool.newest(frame);
  if (newest > cache_.redo().durable()) {
    co_await cache_.redo().write_up_to(threads_.cleaner(), newest, true);
  }
  if (batch_.size() == kBatch) co_await hand_over();
}

// Starts writing the batch after the previous one is done.
Part PageCleaner::hand_over() {
  if (batch_.empty()) co_return;
  while (is_running_) co_await completed_.wait();
  is_running_ = true;
  running_.swap(batch_);
  batch_.clear();
  if (doublewrite_) {
    io_.write(threads_.cleaner(), ServerFile::system, kDoublewriteAt, running_.size() * kPage,
              requests_);
    co_await io_.wait(threads_.cleaner(), requests_);
  }
  handed_over_.raise();
}

Part PageCleaner::complete() {
  const std::uint32_t thread = threads_.completer();
  PageIo::Requests pages;
  for (;;) {
    while (!is_running_) co_await handed_over_.wait();
    if (doublewrite_) co_await calls_.sync(thread, ServerFile::system);
    for (const PageId page : running_) {
      io_.write(thread, page.file, page.number * kPage, kPage, pages);
      touched_[static_cast<std::size_t>(page.file)] = true;
    }
    co_await io_.wait(thread, pages);
    for (const PageId page : running_) {
      cache_.pool().end_write(cache_.pool().find(page));
    }
    // The doublewrite buffer is free when its pages are durable. Without the buffer there is no
    // hurry.
    for (std::size_t i = 0; i < kServerFiles && (doublewrite_ || round_ends_); ++i) {
      if (!touched_[i]) continue;
      touched_[i] = false;
      co_await calls_.sync(thread, static_cast<ServerFile>(i));
    }
    running_.clear();
    is_running_ = false;
    completed_.raise();
    cache_.cleaned().raise();
  }
}

}  // namespace filereel

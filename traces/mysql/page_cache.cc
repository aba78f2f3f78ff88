#include "traces/mysql/page_cache.h"

#include "filesets/system/units.h"

namespace filereel {
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

}  // namespace filereel

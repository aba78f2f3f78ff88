#include "traces/mysql/buffer_pool.h"

#include <algorithm>

namespace filereel {
namespace {

// One in this number of frames has data that is not simulated. Of 4096, 40 describe frames and 25
// are headers and bitmaps of files (counted); 17 are assumed to be inner pages of indexes.
constexpr std::uint64_t kOverheadShare = 50;
// innodb_old_blocks_pct and innodb_old_blocks_time.
constexpr std::size_t kOldPercent = 37;
constexpr std::uint64_t kOldTime = 1'000'000'000;
constexpr std::size_t kOldTolerance = 20;

}  // namespace

BufferPool::BufferPool(std::uint64_t bytes) {
  const std::uint64_t all = bytes / kPage;
  frames_.resize(all - all / kOverheadShare);
  for (std::size_t i = frames_.size(); i-- > 0;) free_.push_back(static_cast<Frame>(i));
  pages_.reserve(frames_.size());
}

BufferPool::Frame BufferPool::find(PageId page) const {
  const auto found = pages_.find(page);
  return found == pages_.end() ? kNone : found->second;
}

BufferPool::Frame BufferPool::use(PageId page, std::uint64_t now) {
  const Frame frame = find(page);
  if (frame == kNone) return kNone;
  FrameState& state = frames_[frame];
  bool to_head = false;
  if (state.list == kOld) {
    // A scan uses a page several times in quick succession, which is no reason to keep it.
    if (!state.used) state.first_use = now;
    to_head = state.used && now - state.first_use >= kOldTime;
  } else {
    to_head = evictions_ - state.evictions > frames_.size() * (100 - kOldPercent) / 400;
  }
  state.used = true;
  if (to_head) {
    remove(state.list, frame);
    push_head(kYoung, frame);
    state.evictions = evictions_;
    balance();
  }
  return frame;
}

BufferPool::Frame BufferPool::put(PageId page, std::uint64_t now, Coming coming) {
  const Frame frame = free_.back();
  free_.pop_back();
  frames_[frame] = {};
  frames_[frame].page = page;
  frames_[frame].used = coming != Coming::read_ahead;
  frames_[frame].first_use = now;
  frames_[frame].evictions = evictions_;
  pages_.emplace(page, frame);
  push_head(coming == Coming::made ? kYoung : kOld, frame);
  balance();
  return frame;
}

void BufferPool::change(Frame frame, std::uint64_t begin, std::uint64_t end) {
  FrameState& state = frames_[frame];
  state.newest = end;
  if (state.oldest != kClean) return;
  state.oldest = begin;
  push_head(kDirty, frame);
}

void BufferPool::begin_write(Frame frame) {
  remove(kDirty, frame);
  frames_[frame].oldest = kClean;
  frames_[frame].writing = true;
}

BufferPool::Frame BufferPool::before(Frame frame) const {
  const FrameState& state = frames_[frame];
  if (state.place.before == kNone && state.list == kOld) return lists_[kYoung].tail;
  return state.place.before;
}

void BufferPool::evict(Frame frame) {
  remove(frames_[frame].list, frame);
  pages_.erase(frames_[frame].page);
  free_.push_back(frame);
  ++evictions_;
  balance();
}

void BufferPool::add(ListName name, Frame frame, Links at) {
  List& list = lists_[name];
  links(name, frame) = at;
  (at.before != kNone ? links(name, at.before).behind : list.head) = frame;
  (at.behind != kNone ? links(name, at.behind).before : list.tail) = frame;
  ++list.length;
  if (name != kDirty) frames_[frame].list = name;
}

void BufferPool::remove(ListName name, Frame frame) {
  List& list = lists_[name];
  const Links at = links(name, frame);
  (at.before != kNone ? links(name, at.before).behind : list.head) = at.behind;
  (at.behind != kNone ? links(name, at.behind).before : list.tail) = at.before;
  --list.length;
}

// Keeps the old part near its share.
void BufferPool::balance() {
  const std::size_t wanted = pages_.size() * kOldPercent / 100;
  while (lists_[kOld].length > wanted + kOldTolerance) {
    const Frame frame = lists_[kOld].head;
    remove(kOld, frame);
    push_tail(kYoung, frame);
  }
  while (lists_[kOld].length + kOldTolerance < wanted && lists_[kYoung].tail != kNone) {
    const Frame frame = lists_[kYoung].tail;
    remove(kYoung, frame);
    push_head(kOld, frame);
  }
}

PageIo::PageIo(ServerCalls& calls, ServerThreads threads, bool native)
    : calls_(calls),
      threads_(threads),
      native_(native),
      added_(calls.simulation()),
      done_(calls.simulation()) {}

void PageIo::start() {
  if (native_) return;
  for (std::uint32_t i = 0; i < ServerThreads::kIoThreads; ++i) calls_.simulation().start(work(i));
}

void PageIo::write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                   std::uint64_t length, Requests& requests) {
  if (native_) {
    requests.until = std::max(requests.until, calls_.submit_write(thread, file, offset, length));
    return;
  }
  ++requests.queued;
  jobs_.push_back({file, offset, length, &requests, nullptr});
  added_.raise();
}

Part PageIo::wait(std::uint32_t thread, Requests& requests) {
  while (requests.queued > 0) co_await done_.wait();
  if (requests.until == 0) co_return;
  co_await calls_.simulation().sleep_until(requests.until);
  calls_.reap(thread, 0);
  requests.until = 0;
}

void PageIo::read_ahead(std::uint32_t thread, PageId page, BufferPool& pool) {
  const BufferPool::Frame frame =
      pool.put(page, calls_.simulation().now(), BufferPool::Coming::read_ahead);
  if (native_) {
    pool.set_arrival(frame, calls_.submit_read(thread, page.file, page.number * kPage, kPage));
    return;
  }
  pool.set_arrival(frame, BufferPool::kUnknown);
  jobs_.push_back({page.file, page.number * kPage, kPage, nullptr, &pool});
  added_.raise();
}

Part PageIo::wait_for_arrival(PageId page, const BufferPool& pool) {
  for (;;) {
    const BufferPool::Frame frame = pool.find(page);
    if (frame == BufferPool::kNone) co_return;
    const std::uint64_t arrival = pool.arrival(frame);
    if (arrival <= calls_.simulation().now()) co_return;
    if (arrival == BufferPool::kUnknown) {
      co_await done_.wait();
    } else {
      co_await calls_.simulation().sleep_until(arrival);
    }
  }
}

Part PageIo::work(std::uint32_t number) {
  const std::uint32_t thread = threads_.io(number);
  for (;;) {
    while (jobs_.empty()) co_await added_.wait();
    const Job job = jobs_.front();
    jobs_.pop_front();
    if (job.requests) {
      co_await calls_.write(thread, job.file, job.offset, job.length);
      --job.requests->queued;
    } else {
      co_await calls_.read(thread, job.file, job.offset, job.length);
      const PageId page{job.file, static_cast<std::uint32_t>(job.offset / kPage)};
      const BufferPool::Frame frame = job.pool->find(page);
      if (frame != BufferPool::kNone) job.pool->set_arrival(frame, calls_.simulation().now());
    }
    done_.raise();
  }
}

}  // namespace filereel

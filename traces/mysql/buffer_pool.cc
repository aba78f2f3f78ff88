#include "traces/mysql/buffer_pool.h"

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

}  // namespace filereel

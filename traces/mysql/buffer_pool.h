// The buffer pool: which pages are in memory, in the order in which they are given up, and which of
// them are dirty. As InnoDB's: a list in two parts, into whose middle pages come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "traces/mysql/server_calls.h"

namespace filereel {

struct PageId {
  ServerFile file;
  std::uint32_t number;
  bool operator==(const PageId&) const = default;
};

class BufferPool {
 public:
  using Frame = std::uint32_t;
  static constexpr Frame kNone = UINT32_MAX;

  explicit BufferPool(std::uint64_t bytes);

  // Pages that are in no use, and that are.
  std::size_t free() const { return free_.size(); }
  std::size_t used() const { return pages_.size(); }

  // The page if it is here; counts as a use at that time.
  Frame use(PageId page, std::uint64_t now);
  Frame find(PageId page) const;
  // Takes a free frame, of which there must be one. Pages that are made begin among the young ones,
  // those that are read in the middle; what is read ahead is not used yet.
  enum class Coming : std::uint8_t { made, read, read_ahead };
  Frame put(PageId page, std::uint64_t now, Coming coming = Coming::read);
  bool was_used(Frame frame) const { return frames_[frame].used; }

  PageId page(Frame frame) const { return frames_[frame].page; }
  // When its bytes will have been read; kUnknown as long as that is not known.
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  std::uint64_t arrival(Frame frame) const { return frames_[frame].arrival; }
  void set_arrival(Frame frame, std::uint64_t time) { frames_[frame].arrival = time; }

  // Changed up to this place of the redo log; `begin` is where the change begins in it.
  void change(Frame frame, std::uint64_t begin, std::uint64_t end);
  bool dirty(Frame frame) const { return frames_[frame].oldest != kClean; }
  std::uint64_t newest(Frame frame) const { return frames_[frame].newest; }
  // It is being written: changes from now on make it dirty again.
  void begin_write(Frame frame);
  void end_write(Frame frame) { frames_[frame].writing = false; }
  bool writing(Frame frame) const { return frames_[frame].writing; }

  // The page that was not used for the longest time, and the one before it in that order.
  Frame last() const {
    return lists_[kOld].tail != kNone ? lists_[kOld].tail : lists_[kYoung].tail;
  }
  Frame before(Frame frame) const;
  void evict(Frame frame);

  // The dirty page that was changed first, and where in the redo log; those that are being written
  // are not dirty.
  Frame oldest_dirty() const { return lists_[kDirty].tail; }
  std::uint64_t oldest_change(Frame frame) const { return frames_[frame].oldest; }

 private:
  static constexpr std::uint64_t kClean = UINT64_MAX;
  enum ListName : std::uint8_t { kYoung, kOld, kDirty };
  struct Links {
    Frame before = kNone, behind = kNone;  // towards the head, towards the tail
  };
  struct FrameState {
    PageId page{};
    std::uint64_t oldest = kClean, newest = 0;
    std::uint64_t first_use = 0, arrival = 0;
    std::uint64_t evictions = 0;  // when it came to the head of a part
    ListName list = kOld;
    bool used = false, writing = false;
    Links place, dirty;
  };
  struct List {
    Frame head = kNone, tail = kNone;
    std::size_t length = 0;
  };
  struct Hash {
    std::size_t operator()(const PageId& page) const {
      return (static_cast<std::size_t>(page.file) << 40 ^ page.number) * 0x9e3779b97f4a7c15;
    }
  };

  Links& links(ListName list, Frame frame) {
    return list == kDirty ? frames_[frame].dirty : frames_[frame].place;
  }
  void push_head(ListName list, Frame frame) { add(list, frame, {kNone, lists_[list].head}); }
  void push_tail(ListName list, Frame frame) { add(list, frame, {lists_[list].tail, kNone}); }
  void add(ListName list, Frame frame, Links at);
  void remove(ListName list, Frame frame);
  void balance();

  std::vector<FrameState> frames_;
  std::vector<Frame> free_;
  std::unordered_map<PageId, Frame, Hash> pages_;
  List lists_[3];
  std::uint64_t evictions_ = 0;
};

}  // namespace filereel

// The buffer pool: pages in memory, in order of eviction, with dirty marks. As in InnoDB, it is a
// list of two parts, and new pages are inserted in the middle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
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

  // Unused and used frames.
  std::size_t free() const { return free_.size(); }
  std::size_t used() const { return pages_.size(); }

  // The page if it is in the pool; counts as a use at that time.
  Frame use(PageId page, std::uint64_t now);
  Frame find(PageId page) const;
  // Takes a free frame, which must exist. Created pages start among the young ones, pages read in
  // the middle. Pages read ahead are not used yet.
  enum class Coming : std::uint8_t { made, read, read_ahead };
  Frame put(PageId page, std::uint64_t now, Coming coming = Coming::read);
  bool was_used(Frame frame) const { return frames_[frame].used; }

  PageId page(Frame frame) const { return frames_[frame].page; }
  // Time at which its bytes have been read; kUnknown as long as it is unknown.
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  std::uint64_t arrival(Frame frame) const { return frames_[frame].arrival; }
  void set_arrival(Frame frame, std::uint64_t time) { frames_[frame].arrival = time; }

  // Changed up to this position of the redo log; `begin` is the start of the change.
  void change(Frame frame, std::uint64_t begin, std::uint64_t end);
  bool dirty(Frame frame) const { return frames_[frame].oldest != kClean; }
  std::uint64_t newest(Frame frame) const { return frames_[frame].newest; }
  // Being written: later changes make the page dirty again.
  void begin_write(Frame frame);
  void end_write(Frame frame) { frames_[frame].writing = false; }
  bool writing(Frame frame) const { return frames_[frame].writing; }

  // The least recently used page, and its predecessor in that order.
  Frame last() const {
    return lists_[kOld].tail != kNone ? lists_[kOld].tail : lists_[kYoung].tail;
  }
  Frame before(Frame frame) const;
  void evict(Frame frame);

  // The dirty page with the oldest change, and its position in the redo log. Pages being written
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
    std::uint64_t evictions = 0;  // value when the page came to the head of a part
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

// Writes and read-ahead of pages: by native AIO, which a thread submits without waiting, or by
// dedicated threads.
class PageIo {
 public:
  PageIo(ServerCalls& calls, ServerThreads threads, bool native);
  void start();

  // Requests that are awaited together.
  struct Requests {
    std::uint64_t until = 0;  // time when requests of native AIO are done
    std::size_t queued = 0;   // unfinished requests of the threads
  };

  // `requests` must live until it has been awaited.
  void write(std::uint32_t thread, ServerFile file, std::uint64_t offset, std::uint64_t length,
             Requests& requests);
  // Called on `thread`, which submitted them.
  Part wait(std::uint32_t thread, Requests& requests);

  // Reads a page into a frame, which reports its arrival.
  void read_ahead(std::uint32_t thread, PageId page, BufferPool& pool);
  Part wait_for_arrival(PageId page, const BufferPool& pool);

 private:
  struct Job {
    ServerFile file;
    std::uint64_t offset, length;
    Requests* requests;  // of a write
    BufferPool* pool;    // of a read
  };
  Part work(std::uint32_t number);

  ServerCalls& calls_;
  ServerThreads threads_;
  bool native_;
  std::deque<Job> jobs_;
  Signal added_, done_;
};

}  // namespace filereel

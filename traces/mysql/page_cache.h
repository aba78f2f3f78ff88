// Pages as the server's threads use them: from the buffer pool, else read; changed with redo log.
#pragma once

#include <cstdint>

#include "traces/mysql/buffer_pool.h"
#include "traces/mysql/page_io.h"
#include "traces/mysql/redo_log.h"
#include "traces/mysql/server_calls.h"

namespace filereel {

class PageCache {
 public:
  PageCache(ServerCalls& calls, PageIo& io, RedoLog& redo, std::uint64_t bytes);

  BufferPool& pool() { return pool_; }
  RedoLog& redo() { return redo_; }

  // Makes the page be in the pool.
  Part get(std::uint32_t thread, PageId page);
  // The same, and changes it, with so many bytes of redo log.
  Part change(std::uint32_t thread, PageId page, std::uint64_t redo_bytes);
  // A page that is new: nothing is read. The file grows if it has to.
  Part create(std::uint32_t thread, PageId page, std::uint64_t redo_bytes);
  // The page was made when the table was loaded, and is in the pool if there is room for it.
  void loaded(PageId page);
  // Whether it is in the pool; counts as a use if it is.
  bool hit(PageId page);
  // Whether it is in the pool and was used since it came.
  bool was_used(PageId page) const;
  // Reads `count` pages of a file from `first` on that are not in the pool, without waiting, as
  // long as there is room.
  void read_ahead(std::uint32_t thread, PageId first, std::uint32_t count);

  // Raised when pages are needed: the page cleaner waits for it, and raises `cleaned`.
  Signal& wanted() { return wanted_; }
  Signal& cleaned() { return cleaned_; }
  // Whether there are so few free frames, for so many pages, that the cleaner has to work.
  bool needs_room() const;
  static constexpr std::size_t kScanDepth = 1536;  // innodb_lru_scan_depth: frames to keep free
  static constexpr std::size_t kFewestPages = 256;
  // Where in the redo log the oldest change is that no file has yet.
  std::uint64_t oldest_change() const;

 private:
  Part take_room();
  bool evict_one();

  ServerCalls& calls_;
  PageIo& io_;
  RedoLog& redo_;
  BufferPool pool_;
  Signal wanted_, cleaned_;
};

}  // namespace filereel

// Pages as used by the server's threads: from the buffer pool, otherwise read; changed with redo
// log.
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

  // Loads the page into the pool.
  Part get(std::uint32_t thread, PageId page);
  // The same, and changes the page with `redo_bytes` of redo log.
  Part change(std::uint32_t thread, PageId page, std::uint64_t redo_bytes);
  // A new page: nothing is read. The file grows if necessary.
  Part create(std::uint32_t thread, PageId page, std::uint64_t redo_bytes);
  // A page created when the table was loaded, in the pool if it fits.
  void loaded(PageId page);
  // Whether the page is in the pool; counts as a use if it is.
  bool hit(PageId page);
  // Whether the page is in the pool and has been used.
  bool was_used(PageId page) const;
  // Reads the missing ones of `count` pages of a file, starting at `first`, without waiting, as
  // long as frames are free.
  void read_ahead(std::uint32_t thread, PageId first, std::uint32_t count);

  // Raised when pages are needed. The page cleaner waits for it and raises `cleaned`.
  Signal& wanted() { return wanted_; }
  Signal& cleaned() { return cleaned_; }
  // Whether the number of free frames, relative to the pool, requires the cleaner to work.
  bool needs_room() const;
  static constexpr std::size_t kScanDepth = 1536;  // innodb_lru_scan_depth: frames to keep free
  static constexpr std::size_t kFewestPages = 256;
  // Position in the redo log of the oldest change that is not in any file.
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

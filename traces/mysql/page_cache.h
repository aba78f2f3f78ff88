// The pages of the simulated server on their way to disk: redo log, page cache and cleaner.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/mysql/buffer_pool.h"
#include "traces/mysql/server_calls.h"

namespace filereel {

// The redo log: one circular file, written in whole blocks. A thread that needs durable changes
// writes those of all threads. Threads that arrive meanwhile wait and share the next write.
class RedoLog {
 public:
  static constexpr std::uint64_t kFileSize = 96 << 20;  // innodb_log_file_size
  static constexpr std::uint64_t kHeader = 12288;       // before the circular part

  RedoLog(ServerCalls& calls, std::uint64_t block);

  // Bytes since the creation of the server, and the written and durable parts of these.
  std::uint64_t end() const { return end_; }
  std::uint64_t written() const { return written_; }
  std::uint64_t durable() const { return durable_; }

  // Adds a change in memory.
  void append(std::uint64_t bytes) { end_ += bytes; }

  // Returns when everything up to `place` is written, and durable if `sync`.
  Part write_up_to(std::uint32_t thread, std::uint64_t place, bool sync);

  // Records in the header that all changes before `place` are in the pages on disk. Their space is
  // then free.
  Part checkpoint(std::uint32_t thread, std::uint64_t place);
  static constexpr std::uint64_t capacity() { return kFileSize - kHeader; }

 private:
  Part write_new(std::uint32_t thread);

  ServerCalls& calls_;
  std::uint64_t block_;
  std::uint64_t end_, written_, durable_, checkpointed_;
  bool busy_ = false;
  Signal done_;
  std::uint64_t checkpoints_ = 0;
};

// Pages as used by the server's threads: from the buffer pool, otherwise read; changed with redo
// log.
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

// The page cleaner: keeps frames free by writing the least recently used dirty pages, through the
// doublewrite buffer, and keeps the redo log from filling.
class PageCleaner {
 public:
  PageCleaner(ServerCalls& calls, ServerThreads threads, PageIo& io, PageCache& cache,
              bool doublewrite);
  void start();

 private:
  Part run();
  Part complete();
  Part make_room();
  Part keep_log_short();
  Part write_page(BufferPool::Frame frame);
  Part write_with_neighbours(BufferPool::Frame frame);
  Part hand_over();
  std::uint64_t log_age();

  ServerCalls& calls_;
  ServerThreads threads_;
  PageIo& io_;
  PageCache& cache_;
  bool doublewrite_;
  std::vector<PageId> batch_;        // being gathered
  std::vector<PageId> running_;      // being written
  PageIo::Requests requests_;        // the doublewrite of running_
  bool touched_[kServerFiles] = {};  // files written and not synced
  bool round_ends_ = false;
  bool is_running_ = false;
  Signal handed_over_, completed_;
  std::uint64_t pages_written_ = 0;
};

}  // namespace filereel

// The page cleaner: keeps frames free by writing the least recently used dirty pages, through the
// doublewrite buffer, and keeps the redo log from filling.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/mysql/page_cache.h"
#include "traces/mysql/page_io.h"

namespace filereel {

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

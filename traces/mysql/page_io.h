// Writes and read-ahead of pages: by native AIO, which a thread submits without waiting, or by
// dedicated threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "traces/mysql/buffer_pool.h"
#include "traces/mysql/server_calls.h"

namespace filereel {

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

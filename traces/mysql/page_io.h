// How pages are written, and read ahead: by native AIO, which a thread submits and does not wait
// for, or by threads that do nothing else.
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

  // Requests that are waited for together.
  struct Requests {
    std::uint64_t until = 0;  // when those of native AIO are done
    std::size_t queued = 0;   // those of the threads that are not done
  };

  // `requests` must live until it was waited for.
  void write(std::uint32_t thread, ServerFile file, std::uint64_t offset, std::uint64_t length,
             Requests& requests);
  // By `thread`, which submitted them.
  Part wait(std::uint32_t thread, Requests& requests);

  // Reads a page into a frame, which says when it has arrived.
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

// Undo logs, written first by every change, and the purge of those no longer needed, which revisits
// the pages changed by a transaction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "traces/mysql/page_cache.h"

namespace filereel {

class UndoLog {
 public:
  UndoLog(ServerCalls& calls, ServerThreads threads, PageCache& cache);
  void start();

  // Writes the undo records of one transaction.
  Part write(std::uint32_t thread, std::uint64_t bytes);
  // The transaction changed these pages, and the purge will revisit them.
  void committed(std::span<const PageId> pages);

  // Nothing is purged while a transaction reads an old state.
  void hold() { ++holders_; }
  void release();

 private:
  Part purge();

  static constexpr std::size_t kSegments = 128;
  struct UndoSegment {
    std::uint32_t page = 0;
    std::uint64_t bytes = 0;
  };

  ServerCalls& calls_;
  ServerThreads threads_;
  PageCache& cache_;
  std::array<UndoSegment, kSegments> segments_;
  std::size_t next_segment_ = 0;
  std::uint32_t next_page_ = 0;
  std::deque<PageId> history_;
  std::uint32_t holders_ = 0;
  Signal work_;
};

}  // namespace filereel

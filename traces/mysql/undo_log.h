// Undo logs, which every change writes first, and what is done when they are no longer needed: the
// purge comes back to the pages that a transaction changed.
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
  // It has changed these pages, to which the purge will come.
  void committed(std::span<const PageId> pages);

  // As long as someone reads an old state nothing is purged.
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

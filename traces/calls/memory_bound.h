// The memory that a recording needs for its state: names, files, open files. It only grows; at the
// end, the trees before and after are built from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "filesets/system/descriptor.h"
#include "traces/model/trace_builder.h"
#include "traces/path_table.h"

namespace filereel {

class MemoryBound {
 public:
  // In bytes of this process's own memory.
  struct Limits {
    std::uint64_t now = 0;     // without the bytes reported by `besides`, such as a queue's
    std::uint64_t at_end = 0;  // including the trees
  };

  // `dropped` counts the dropped calls. It and `paths` outlive this.
  MemoryBound(const Limits& limits, const PathTable& paths, std::atomic<std::uint64_t>& dropped,
              std::function<std::uint64_t()> besides = {});

  // Call before each call: whether to drop it. Once true, it stays true, so that the trace is
  // complete up to that point.
  bool is_reached();

  // Counts a call of that name as lost.
  void drop(std::string_view name, TraceBuilder& builder);

 private:
  Limits limits_;
  const PathTable& paths_;
  std::atomic<std::uint64_t>& dropped_;
  std::function<std::uint64_t()> besides_;
  Descriptor pages_;  // /proc/self/statm
  std::uint64_t asked_ = 0;
  bool reached_ = false;
};

}  // namespace filereel

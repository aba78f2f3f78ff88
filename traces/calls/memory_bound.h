// The memory that a recording takes for what it knows: names, files, what is open. That only grows,
// and at its end the trees before and after are made of it.
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
  // Bytes of this process's own memory.
  struct Limits {
    std::uint64_t now = 0;     // without those that `besides` tells: of a queue, say
    std::uint64_t at_end = 0;  // with the trees
  };

  // `dropped` counts the calls that were. It and `paths` outlive this.
  MemoryBound(const Limits& limits, const PathTable& paths, std::atomic<std::uint64_t>& dropped,
              std::function<std::uint64_t()> besides = {});

  // To be asked before each call: whether it has to be dropped. Once so, it stays so, which leaves
  // a trace that is whole up to there.
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

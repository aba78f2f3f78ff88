// The memory limit of a recording, and its division among what grows.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "filesets/system/descriptor.h"
#include "traces/model/trace_builder.h"
#include "traces/path_table.h"

namespace filereel {

// The memory that a recording needs for its state: names, files, open files. It only grows; at the
// end, the trees before and after are built from it.
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

// --- Division of the memory limit of a recording.

// All in bytes.
struct RecordingMemory {
  static constexpr std::uint64_t kLeast = 64'000'000, kDefault = 1'000'000'000;
  // The least that is chosen where memory is limited; and the tables of the kernel program, which
  // come in addition and are charged to the control group.
  static constexpr std::uint64_t kLeastWithRing = 48'000'000, kLeastWithoutRing = 32'000'000;
  static constexpr std::uint64_t kTables = 24'000'000;

  std::uint32_t ring = 0;   // in the kernel
  std::uint64_t queue = 0;  // limit on events waiting for translation
  MemoryBound::Limits known;
};

// Memory that must be left for a recorder.
constexpr std::uint64_t least_memory(bool has_ring) {
  return has_ring ? RecordingMemory::kLeastWithRing + RecordingMemory::kTables
                  : RecordingMemory::kLeastWithoutRing;
}

// The limit for a recording if none is given and `left` bytes, least_memory() or more, are left to
// it and the program: half of them, at most kDefault.
std::uint64_t default_memory(std::uint64_t left, bool has_ring);

// `bytes`: kLeastWithRing or kLeastWithoutRing or more, for a recorder with or without a ring.
RecordingMemory divide_memory(std::uint64_t bytes, bool has_ring);

}  // namespace filereel

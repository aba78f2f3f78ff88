// Executes operations. Two implementations: blocking system calls, and null, which does all but the
// calls and so measures filereel's own cost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>

#include "replay/engine/statistics.h"
#include "traces/operation_source.h"

namespace filereel {

// Read by a progress display while the replay runs.
struct ReplayProgress {
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> files = 0;
};

// What all threads of a replay share. Everything referred to outlives the engines.
struct EngineContext {
  const PathTable* paths = nullptr;
  const FileSet* files = nullptr;
  std::array<int, kRoles> roots = {-1, -1};  // descriptors of the volumes' root directories
  FileSlot slots = 0;
  std::uint64_t largest_io = 0;
  std::stop_token stop;
};

// One thread's engine: its open files, its buffer, its statistics. Not shared between threads.
class IoEngine {
 public:
  virtual ~IoEngine() = default;

  // Executes `operations` (no barriers) in order, until the first divergence if
  // `stop_on_divergence`, or until the context's stop is requested. Neither throws nor allocates.
  // False: it stopped early.
  virtual bool execute(std::span<const Operation> operations, bool stop_on_divergence) noexcept = 0;

  virtual const ReplayStatistics& statistics() const = 0;
};

enum class EngineKind : std::uint8_t { blocking, null };

// `thread` names the thread in divergences.
std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t thread);

}  // namespace filereel

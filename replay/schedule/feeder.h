// Compiles a trace into the lanes' queues.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replay/engine/lane_board.h"
#include "replay/schedule/dependencies.h"
#include "replay/schedule/lane_queue.h"
#include "replay/schedule/lanes.h"
#include "replay/schedule/pacing.h"
#include "traces/recorded_operation.h"

namespace filereel {

// Runs on its own thread, ahead of the lanes as far as the pool has chunks.
class Feeder {
 public:
  struct Output {
    ChunkPool& pool;
    std::vector<LaneQueue>& queues;  // by lane
    const LaneBoard& board;
    std::atomic<std::uint64_t>& waits;      // number of awaits
    const std::atomic<bool>& cancelled;     // no more operations are needed
    std::atomic<std::uint32_t>& prefilled;  // set and notified when the first window is compiled
  };

  // All arguments outlive the feeder. Null dependencies: there is one lane.
  Feeder(RecordedSource& source, const Lanes& lanes, const Pacing& pacing, bool paced,
         std::unique_ptr<Dependencies> dependencies, const Output& output);

  // Returns at the end of the trace or when cancelled; throws the errors of the source. The caller
  // must then end the queues.
  void run();

 private:
  static constexpr std::size_t kBatch = 256;

  void add(RecordedOperation& recorded);
  void add_waits(Operation& operation, std::uint32_t lane);
  void append(std::uint32_t lane, const Operation& operation);
  Chunk* take_chunk();
  void flush(std::uint32_t lane);
  void flush_all();
  void flush_waiting_lanes();
  void look_at_board();

  RecordedSource& source_;
  const Lanes& lanes_;
  Pacing pacing_;
  bool paced_;
  std::unique_ptr<Dependencies> dependencies_;
  Output out_;
  std::vector<Chunk*> open_;           // by lane: the chunk being filled, or null
  std::vector<std::uint64_t> counts_;  // by lane: operations so far
  std::size_t since_look_ = 0;
  std::array<RecordedOperation, kBatch> batch_;
};

}  // namespace filereel

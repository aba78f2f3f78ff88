// One thread of a replay: passes operations from their source to the engine, at the right time.
#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>

#include "replay/engine/io_engine.h"
#include "replay/engine/replayer.h"

namespace filereel {

// --- Balances the work of a replayed thread with that of the recorded one.

// The recorded thread used the processor between its calls. So does the replay: it looks for the
// next operation, generates content and compares results. Both are work, so this time of the replay
// counts as a part of the recorded work, and only the rest remains to be done. What the replay
// needs in excess is subtracted from later work, up to a limit: a thread that waits for a processor
// is not working. All times are nanoseconds of the stopwatch; `calls` is the time spent in calls so
// far.
class WorkBalance {
 public:
  // Work starts here; nothing is owed.
  void begin(std::uint64_t now, std::uint64_t calls) {
    owed_ns_ = 0;
    skip(now, calls);
  }
  // The time since the last function of this class was called was a wait.
  void skip(std::uint64_t now, std::uint64_t calls) {
    until_ns_ = now;
    calls_ns_ = calls;
  }
  // It was work, except for the calls.
  void settle(std::uint64_t now, std::uint64_t calls) {
    const auto passed = static_cast<std::int64_t>(now - until_ns_);
    const auto called = static_cast<std::int64_t>(calls - calls_ns_);
    owed_ns_ = std::max(owed_ns_ - std::max<std::int64_t>(passed - called, 0), -kMostInExcessNs);
    skip(now, calls);
  }
  void owe(std::uint64_t ns) { owed_ns_ += static_cast<std::int64_t>(ns); }
  // Work that was done in time that was skipped.
  void done(std::uint64_t ns) { owed_ns_ -= static_cast<std::int64_t>(ns); }
  // Negative: in excess.
  std::int64_t owed_ns() const { return owed_ns_; }

 private:
  static constexpr std::int64_t kMostInExcessNs = 200'000;

  std::uint64_t until_ns_ = 0, calls_ns_ = 0;
  std::int64_t owed_ns_ = 0;
};

// State shared by the threads of a replay, in addition to the engines' context.
struct SharedReplay {
  // The kinds that are calls.
  static std::bitset<kOperationKinds> call_kinds();

  const ReplayOptions& options;
  std::barrier<>& meeting;
  std::stop_token stop;
  const std::uint64_t& start_ns;  // set before the first operation
  bool queues;                    // threads queue requests (Trace::depths)
  bool paced;                     // some operations have times
  std::bitset<kOperationKinds> calls = call_kinds();

  std::uint64_t measured_start_ns() const { return start_ns + options.warm_up_ns; }
};

class Lane {
 public:
  // All arguments outlive the lane. `open_files` are those of its engine.
  Lane(const SharedReplay& replay, OperationSource& source, IoEngine& engine,
       std::span<const OpenFile> open_files, std::uint32_t number)
      : replay_(replay),
        source_(source),
        engine_(engine),
        open_files_(open_files),
        number_(number) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Runs to the end of the source or of the time; returns false if it stopped early. Nothing is in
  // flight afterwards.
  bool run();

  // The end of its work, if it ends now: a wait that no operation of the thread follows is not part
  // of it. It was going on when the recording ended, and says nothing of the files.
  std::uint64_t end_of_work(std::uint64_t now) const {
    return idle_since_ns_ ? idle_since_ns_ : now;
  }

 private:
  // Fits the L1 cache, and is large enough to hide the cost of refilling.
  static constexpr std::size_t kBatch = 64;
  static constexpr std::uint64_t kNever = UINT64_MAX;

  enum class Stage : std::uint8_t {
    warm_up,   // until the alarm; nothing is counted
    measured,  // until the alarm or the end
    wind_up,   // time is up: remaining operations of the source
  };

  bool take_all();
  bool ended();
  void number(std::size_t filled);
  bool is_call(const Operation& op) const {
    return replay_.calls[static_cast<std::size_t>(op.kind)];
  }
  bool execute(std::span<const Operation> rest);
  bool execute_calls(std::span<const Operation>& rest);
  bool execute_last(std::span<const Operation> rest);
  bool execute_control(const Operation& op);
  bool await(const Operation& op);
  void wait_paced(const Operation& op);
  bool pace(const Operation& op);
  bool work(const Operation& op);
  bool wait(const Operation& op);
  void prepare_sleep();
  std::uint64_t call_ns() { return engine_.statistics().call_ns; }

  void set_alarm(std::uint64_t at_ns);
  bool handle_alarm(std::uint64_t now);
  void begin_measuring();
  bool begin_winding_up();

  const SharedReplay& replay_;
  OperationSource& source_;
  IoEngine& engine_;
  std::span<const OpenFile> open_files_;
  std::uint32_t number_;
  Stage stage_ = Stage::measured;
  std::uint64_t alarm_ns_ = kNever;
  std::uint64_t position_ = 0;
  std::uint64_t last_end_ns_ = 0;    // of an operation, if paced
  std::uint64_t idle_since_ns_ = 0;  // the begin of waits that nothing has followed; 0: none
  bool sleeps_precisely_ = false;
  WorkBalance balance_;  // if paced
  std::array<Operation, kBatch> batch_;
};

}  // namespace filereel

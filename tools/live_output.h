// Figures of every second of a run: lines for people on standard error (--live), JSON for programs
// (--live-json).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "filesets/system/descriptor.h"
#include "replay/run/observer.h"
#include "tools/live.h"
#include "tools/session.h"

namespace filereel {

struct LiveOptions {
  bool lines = false;  // on standard error
  std::string json;    // where JSON goes: "" nowhere, "-" standard output
};

// "   12.0 s   8.12k ops/s    123 MB/s  p50    12 us  p99   1.2 ms  max    33 ms"; `at_s` is the
// end of the interval, in seconds since the start of the run.
std::string live_line(const LiveInterval& interval, double at_s);

// The same as a line of JSON, with what is measured; docs/plans.md describes it.
std::string live_json(const StepInfo& step, const LiveInterval& interval, double at_s);

// Prints from a thread of its own, so that measuring threads never wait for output. The thread that
// ends a step prints its last lines, when nothing is being measured.
class LiveOutput {
 public:
  // Calls `lost` if standard error cannot be written to, on any thread, possibly more than once.
  LiveOutput(const Session& session, const LiveOptions& options, std::uint64_t run_began_ns,
             std::function<void()> lost);
  ~LiveOutput();
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;

  // Opens the file on the first call; throws Error if it cannot.
  void step_begins(const StepInfo& step, const ReplayProgress& progress);
  void step_ended() noexcept;

  // The reason why JSON output stopped, and its first missing line; "" if it did not stop.
  std::string failure() const;

 private:
  void run(const std::stop_token& stop);
  void print();
  void print(const LiveInterval& interval);
  void print_line(const LiveInterval& interval, double at_s, bool is_long);
  void write_json(const std::string& line);

  const Session& session_;
  LiveOptions options_;
  std::uint64_t run_began_ns_;
  std::function<void()> lost_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  const ReplayProgress* progress_ = nullptr;  // of the step; null between two
  StepInfo step_;
  std::string title_;  // heading of the last lines
  LiveSeconds seconds_;
  Descriptor file_;
  bool reader_gone_ = false;  // of standard output
  std::string failure_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace filereel

// Progress line on standard error.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "replay/run/observer.h"
#include "tools/cli/live.h"
#include "tools/cli/session.h"

namespace filereel {

// Redraws a line on standard error five times a second if the session shows progress. The
// destructor removes it. `line` provides the text and is called on another thread; without it only
// notices are printed. If writing to standard error fails, `lost` is called, on any thread and
// possibly more than once.
class ProgressLine {
 public:
  ProgressLine(
      const Session& session, std::function<std::string()> line,
      std::function<void()> lost = [] {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Prints above the line.
  void notice(const std::string& text);

 private:
  void draw(const std::string& text);

  const Session& session_;
  std::function<std::string()> line_;
  std::function<void()> lost_;
  std::mutex terminal_;
  std::jthread thread_;
};

// The longest prefix of `text` that fits in `columns` of a terminal.
std::string_view fitting(std::string_view text, std::size_t columns);

// "3 min 20 s left", extrapolated from the time for the share `done` (0 to 1); "" if too early.
std::string time_left(double done, double elapsed_s);

// Shortens the text to `columns`, with a "…" at the end if it was cut.
std::string shortened(std::string_view text, std::size_t columns);

// "ext4 programs create 1/3".
std::string step_name(const StepInfo& step);

// Progress of a step.
struct StepState {
  std::uint64_t bytes = 0, files = 0, operations = 0;
  double elapsed_s = 0, run_s = 0;              // since the start of the step and of the run
  std::optional<LiveFigures> last_second = {};  // nothing if no replay runs
  bool flushing = false;                        // waiting for write-back to the device
};

// Text of the progress line for a step. Shortens the step's name to fit into `columns`.
std::string describe_step(const StepInfo& step, const StepState& state,
                          std::size_t columns = std::string::npos);

std::size_t terminal_width();  // of standard error; 80 if it is not a terminal

// Progress if standard error is not a terminal, such as a log: an occasional plain line.
class PlainProgress {
 public:
  static constexpr std::uint64_t kIntervalNs = 30'000'000'000;  // least time between lines

  explicit PlainProgress(std::uint64_t began_ns) : began_ns_(began_ns), last_ns_(began_ns) {}

  // "12 %  ext4 programs create 1/3  3 min 05 s left" for a step that starts now; "" if the last
  // line or the start of the run was less than kIntervalNs ago. Uses the clock of `began_ns`.
  std::string step_begins(const StepInfo& step, std::uint64_t now_ns);

 private:
  std::uint64_t began_ns_, last_ns_;
};

}  // namespace filereel

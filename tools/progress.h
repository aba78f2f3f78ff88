// The one calm progress line.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "replay/run/observer.h"
#include "tools/live.h"
#include "tools/session.h"

namespace filereel {

// Redraws a line on standard error five times a second while it lives, if the session shows
// progress; removes it at the end. The text comes from `line`, called on a thread of its own.
// Without `line` nothing is drawn and there are notices only. Where standard error takes no more,
// `lost` is called, on any thread and maybe more than once.
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

// As much of `text` as fits in so many columns of a terminal.
std::string_view fitting(std::string_view text, std::size_t columns);

// "3 min 20 s left" from how long `done` (0 to 1) of the work took; "" while that says nothing.
std::string time_left(double done, double elapsed_s);

// The text, or as much of it as fits with a "…" at its end.
std::string shortened(std::string_view text, std::size_t columns);

// "ext4 programs create 1/3".
std::string step_name(const StepInfo& step);

// How far a step is.
struct StepState {
  std::uint64_t bytes = 0, files = 0;
  double elapsed_s = 0, run_s = 0;              // since the step began, and since the run did
  std::optional<LiveFigures> last_second = {};  // nothing where nothing runs
  bool flushing = false;                        // what was written goes to the device
};

// What the progress line says of a step. Its name is shortened if there are not so many columns.
std::string describe_step(const StepInfo& step, const StepState& state,
                          std::size_t columns = std::string::npos);

std::size_t terminal_width();  // of standard error; 80 where it is no terminal

// Progress where standard error is no terminal, such as a log: a plain line now and then.
class PlainProgress {
 public:
  static constexpr std::uint64_t kIntervalNs = 30'000'000'000;  // between two lines, at least

  explicit PlainProgress(std::uint64_t began_ns) : began_ns_(began_ns), last_ns_(began_ns) {}

  // "12 %  ext4 programs create 1/3  3 min 05 s left" for a step that begins now, of the same clock
  // as the run; "" while the last line, or the beginning of the run, is not long ago.
  std::string step_begins(const StepInfo& step, std::uint64_t now_ns);

 private:
  std::uint64_t began_ns_, last_ns_;
};

}  // namespace filereel

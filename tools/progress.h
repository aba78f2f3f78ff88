// The one calm progress line.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "replay/run/observer.h"
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

// What the progress line says of a step that began `elapsed_s` ago, in a run that began `run_s`
// ago.
std::string describe_step(const StepInfo& step, std::uint64_t bytes, std::uint64_t files,
                          double elapsed_s, double run_s);

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

#include "tools/cli/progress.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <new>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/utf8.h"

namespace filereel {
namespace {

// Fraction of the step; 0 if unknown.
double share_done(const StepInfo& step, const StepState& state) {
  // Steps without data count files.
  double share = 0;
  if (state.bytes > 0 && step.bytes > 0) {
    share = static_cast<double>(state.bytes) / static_cast<double>(step.bytes);
  } else if (step.files > 0) {
    share = static_cast<double>(state.files) / static_cast<double>(step.files);
  } else if (step.operations > 0) {
    share = static_cast<double>(state.operations) / static_cast<double>(step.operations);
  }
  if (step.seconds > 0) share = std::max(share, state.elapsed_s / step.seconds);
  return std::min(share, 1.0);
}

// Seconds left of the run; 0 if unknown. An assumed time of the step gives way to what follows from
// the done share, the more is done.
double seconds_left(const StepInfo& step, const StepState& state) {
  const double share = step.expected_is_measured ? 0 : share_done(step, state);
  const double step_left = share > 0
                               ? (1 - share) * ((1 - share) * step.expected_s + state.elapsed_s)
                               : std::max(0.0, step.expected_s - state.elapsed_s);
  return std::max(0.0, step.left_s - step.expected_s) + step_left;
}

// Speed over the last second; in operations if no data is moved.
std::string speed(const StepState& state) {
  if (state.flushing) return "  flushing";
  if (!state.last_second || state.files + state.bytes + state.operations == 0) return "";
  const LiveFigures& last = *state.last_second;
  if (last.operations == 0) return state.bytes > 0 ? "  0 MB/s" : "  0 ops/s";
  const std::string text = state.bytes > 0
                               ? fmt::format("  {} MB/s", format_number(last.mb_per_s()))
                               : fmt::format("  {} ops/s", format_number(last.operations_per_s()));
  return text + ", p99 " + format_duration(static_cast<double>(last.p99_ns) * 1e-9);
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

ProgressLine::ProgressLine(const Session& session, std::function<std::string()> line,
                           std::function<void()> lost)
    : session_(session), line_(std::move(line)), lost_(std::move(lost)) {
  if (!line_ || !session_.shows_progress()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    constexpr auto kInterval = std::chrono::milliseconds(200);
    std::mutex idle;
    std::condition_variable_any wake;
    while (!stop.stop_requested()) {
      try {
        draw(line_());
      } catch (const std::bad_alloc&) {  // the work itself reports this
      }
      std::unique_lock lock(idle);
      wake.wait_for(lock, stop, kInterval, [] { return false; });
    }
  });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  draw("");
}

void ProgressLine::draw(const std::string& text) {
  const std::string safe = printable_line(text);
  const std::lock_guard lock(terminal_);
  // A wrapped line cannot be overwritten.
  if (!session_.draw(fitting(safe, terminal_width() - 1))) lost_();
}

void ProgressLine::notice(const std::string& text) {
  const std::lock_guard lock(terminal_);
  if (thread_.joinable()) session_.draw("");
  if (!session_.notice(text)) lost_();
}

std::string_view fitting(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Character next = first_character(text.substr(end)).value_or(Character{0, 1});
    const std::size_t width = columns_of(next.code);
    if (width > columns) break;
    columns -= width;
    end += next.length;
  }
  return text.substr(0, end);
}

std::string time_left(double done, double elapsed_s) {
  constexpr double kTooEarly = 0.01;
  if (done < kTooEarly || done > 1) return "";
  return fmt::format("{} left", format_duration(elapsed_s * (1 - done) / done));
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (fitting(text, columns).size() == text.size()) return std::string(text);
  return std::string(fitting(text, columns - std::min<std::size_t>(columns, 1))) + "…";
}

std::string step_name(const StepInfo& step) {
  std::string text = step.volume;
  if (!text.empty()) text += ":";
  for (const std::string& part : {step.file_system, step.set, step.operation}) {
    if (!text.empty() && !part.empty()) text += " ";
    text += part;
  }
  if (step.runs == 0) text += fmt::format(" run {}", step.run);
  if (step.runs > 1) text += fmt::format(" {}/{}", step.run, step.runs);
  return text;
}

std::string describe_step(const StepInfo& step, const StepState& state, std::size_t columns) {
  const double left_s = seconds_left(step, state);
  // At the end of the last step nothing is left.
  const bool known = step.left_s > 0 || share_done(step, state) > 0;
  const double done = known && state.run_s > 0 ? state.run_s / (state.run_s + left_s) : 0;
  const std::string percent = fmt::format("{:3.0f} %  ", done * 100);
  std::string figures = speed(state);
  if (left_s > 0) figures += fmt::format("  {} left", format_duration(left_s));
  const std::size_t taken = columns_of(percent) + columns_of(figures);
  constexpr std::size_t kLeast = 8;
  const std::string name = printable_line(step_name(step));
  return percent + shortened(name, std::max(columns - std::min(columns, taken), kLeast)) + figures;
}

std::string PlainProgress::step_begins(const StepInfo& step, std::uint64_t now_ns) {
  if (now_ns - last_ns_ < kIntervalNs) return "";
  last_ns_ = now_ns;
  const std::string line =
      describe_step(step, {.run_s = static_cast<double>(now_ns - began_ns_) * 1e-9});
  return line.substr(line.find_first_not_of(' '));
}

}  // namespace filereel

#include "tools/cli/live.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>

#include "filesets/ownership/output_stream.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/json.h"
#include "replay/measure/clock.h"
#include "tools/cli/progress.h"

namespace filereel {
namespace {

constexpr std::uint64_t kLiveIntervalNs = 1'000'000'000;

double in_seconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

double rate(double count, double seconds) {
  return seconds > 0 ? count / seconds : 0;
}

// Nothing before and after the replay.
std::optional<LivePart> part_at(const ReplayTimes& times) {
  if (times.durable_ns > 0 || times.start_ns == 0) return {};
  if (times.end_ns > 0) return LivePart::flush;
  return times.measured_ns > 0 ? LivePart::measured : LivePart::warm_up;
}

}  // namespace

double LiveFigures::operations_per_s() const {
  return rate(static_cast<double>(operations), seconds);
}

double LiveFigures::mb_per_s() const {
  return rate(static_cast<double>(bytes) / 1e6, seconds);
}

LiveFigures figures_between(const ProgressSnapshot& earlier, const ProgressSnapshot& later,
                            double seconds) {
  // Counts come from the latency histogram, because other counters are read at another time.
  const std::uint64_t before = earlier.latency.count(), after = later.latency.count();
  if (after < before) return figures_between({}, later, seconds);
  LiveFigures figures{.seconds = seconds, .operations = after - before};
  figures.bytes = later.bytes - std::min(later.bytes, earlier.bytes);
  Histogram latency = later.latency;
  latency.subtract(earlier.latency);
  figures.p50_ns = latency.percentile(0.5);
  figures.p99_ns = latency.percentile(0.99);
  figures.max_ns = latency.max();
  return figures;
}

std::optional<LiveFigures> LastSecond::add(const ProgressSnapshot& look, std::uint64_t now_ns) {
  const std::optional<LivePart> part = part_at(look.times);
  if (!part || part == LivePart::flush) {
    past_.clear();
    return {};
  }
  const std::uint64_t begin =
      part == LivePart::measured ? look.times.measured_ns : look.times.start_ns;
  if (past_.empty() || past_.front().at_ns < begin) past_ = {{begin, {}}};
  past_.push_back({now_ns, look});
  while (past_.size() > 2 && now_ns - past_[1].at_ns >= kLiveIntervalNs) past_.pop_front();
  const Past& first = past_.front();
  return figures_between(first.look, look, in_seconds(now_ns - std::min(now_ns, first.at_ns)));
}

std::string_view live_part_name(LivePart part) {
  static constexpr std::array<std::string_view, 3> kNames = {"warm-up", "measured", "flush"};
  return kNames[static_cast<std::size_t>(part)];
}

bool LiveSeconds::due(const ReplayTimes& times, std::uint64_t now_ns) const {
  const std::optional<LivePart> part = part_at(times);
  if (!part) return times.durable_ns > at_ns_;
  return part != part_ || now_ns >= next_ns_;
}

std::vector<LiveInterval> LiveSeconds::take(const ProgressSnapshot& look, std::uint64_t now_ns) {
  std::vector<LiveInterval> intervals;
  const ReplayTimes& times = look.times;
  if (times.start_ns == 0) return intervals;
  if (times.measured_ns == 0) {
    if (!part_) enter(LivePart::warm_up, times.start_ns);
    if (now_ns >= next_ns_) cut(look, now_ns, intervals);
    return intervals;
  }
  if (!part_ || part_ == LivePart::warm_up) {
    enter(LivePart::measured, times.measured_ns);
    base_ = {};
  }
  const auto go_on_to = [&](std::uint64_t end_ns) {
    if (end_ns > 0) {
      cut(look, end_ns, intervals);
    } else if (now_ns >= next_ns_) {
      cut(look, now_ns, intervals);
    }
  };
  if (part_ == LivePart::measured) {
    go_on_to(times.end_ns);
    if (times.end_ns > 0) enter(LivePart::flush, times.end_ns);
  }
  if (part_ == LivePart::flush) go_on_to(times.durable_ns);
  return intervals;
}

void LiveSeconds::enter(LivePart part, std::uint64_t begin_ns) {
  part_ = part;
  begin_ns_ = at_ns_ = begin_ns;
  next_ns_ = begin_ns + kLiveIntervalNs;
}

void LiveSeconds::cut(const ProgressSnapshot& look, std::uint64_t end_ns,
                      std::vector<LiveInterval>& intervals) {
  if (end_ns <= at_ns_) return;
  intervals.push_back({*part_, end_ns, figures_between(base_, look, in_seconds(end_ns - at_ns_))});
  base_ = look;
  at_ns_ = end_ns;
  // Round to the nearest grid point and take the next one, so that early or late calls stay on the
  // grid.
  next_ns_ = begin_ns_ +
             ((at_ns_ - begin_ns_ + kLiveIntervalNs / 2) / kLiveIntervalNs + 1) * kLiveIntervalNs;
}

namespace {

// Unmeasured steps are parts, too.
std::string_view part_name(const StepInfo& step, LivePart part) {
  const bool prepares = !step.measured && part == LivePart::measured;
  return prepares ? "preparation" : live_part_name(part);
}

// "ext4 random-read read 1/3, warm-up".
std::string title_of(const StepInfo& step, LivePart part) {
  std::string name = printable_line(step_name(step));
  if (part == LivePart::warm_up || !step.measured) {
    name += fmt::format(", {}", part_name(step, part));
  }
  constexpr std::size_t kColumns = 80;
  return shortened(name, kColumns);
}

// Number of digits after the decimal point; the clock knows no more.
double rounded(double value, double per_unit) {
  return std::round(value * per_unit) / per_unit;
}

std::string latency_text(const LiveFigures& figures, std::uint64_t ns) {
  return figures.operations > 0 ? format_duration(static_cast<double>(ns) * 1e-9) : "-";
}

// A shorter remainder of a second is left out for people, and for programs too if it has no
// operations.
constexpr double kLeastSeconds = 0.1;

}  // namespace

std::string live_line(const LiveInterval& interval, double at_s) {
  const LiveFigures& figures = interval.figures;
  if (interval.part == LivePart::flush) return fmt::format("{:7.1f} s  flushing", at_s);
  const bool any = figures.operations > 0;
  const std::string mb = figures.bytes > 0 ? format_number(figures.mb_per_s()) : "-";
  return fmt::format("{:7.1f} s {:>6} ops/s {:>6} MB/s  p50 {:>7}  p99 {:>7}  max {:>7}", at_s,
                     any ? format_number(figures.operations_per_s()) : "0", mb,
                     latency_text(figures, figures.p50_ns), latency_text(figures, figures.p99_ns),
                     latency_text(figures, figures.max_ns));
}

std::string live_json(const StepInfo& step, const LiveInterval& interval, double at_s) {
  constexpr double kMicro = 1e6, kMilli = 1e3;
  const LiveFigures& figures = interval.figures;
  Json json = {{"t_s", rounded(at_s, kMicro)},
               {"interval_s", rounded(figures.seconds, kMicro)},
               {"part", part_name(step, interval.part)},
               {"job", step.job}};
  if (!step.of_set.empty()) json["set"] = step.of_set;
  if (!step.point.empty()) {
    json["point"] = Json::object();
    for (const auto& [axis, value] : step.point) json["point"][axis] = value;
  }
  json["operation"] = step.operation;
  json["file_system"] = step.file_system.empty() ? "none" : step.file_system;
  if (!step.volume.empty()) json["volume"] = step.volume;
  json["run"] = step.run;
  json["operations"] = figures.operations;
  json["bytes"] = figures.bytes;
  json["mb_per_s"] = rounded(figures.mb_per_s(), kMicro);
  if (figures.operations > 0) {
    const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / kMilli; };
    json["p50_us"] = us(figures.p50_ns);
    json["p99_us"] = us(figures.p99_ns);
    json["max_us"] = us(figures.max_ns);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

LiveOutput::LiveOutput(const Session& session, const LiveOptions& options,
                       std::uint64_t run_began_ns, std::function<void()> lost)
    : session_(session), options_(options), run_began_ns_(run_began_ns), lost_(std::move(lost)) {
  if (session_.quiet) options_.lines = false;
  if (!options_.lines && options_.json.empty()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LiveOutput::~LiveOutput() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void LiveOutput::step_begins(const StepInfo& step, const ReplayProgress& progress) {
  if (!thread_.joinable() || step.job.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!file_ && !options_.json.empty() && options_.json != "-") {
    constexpr mode_t kMode = 0666;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    file_ = names_stream(options_.json) ? open_stream(options_.json)
                                        : Descriptor(::open(options_.json.c_str(), kFlags, kMode));
    if (!file_) {
      throw_failed(fmt::format("cannot write '{}': {}", options_.json, error_text(errno)));
    }
  }
  step_ = step;
  title_.clear();
  seconds_ = {};
  progress_ = &progress;
  wake_.notify_all();
}

void LiveOutput::step_ended() noexcept {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  if (progress_) print();
  progress_ = nullptr;
}

std::string LiveOutput::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void LiveOutput::run(const std::stop_token& stop) {
  // Delay until the start and the end of a part are noticed; their times are exact regardless.
  constexpr std::uint64_t kPause = 100'000'000;
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return progress_ != nullptr; })) {
    const std::uint64_t now = now_ns();
    if (seconds_.due(progress_->times(), now)) print();
    const std::uint64_t next = seconds_.next_ns();
    const std::uint64_t pause = next > now ? std::min(next - now, kPause) : kPause;
    wake_.wait_for(lock, stop, std::chrono::nanoseconds(pause),
                   [this] { return progress_ == nullptr; });
  }
}

void LiveOutput::print() {
  try {
    for (const LiveInterval& interval : seconds_.take(progress_->look(), now_ns())) {
      print(interval);
    }
  } catch (const std::exception& error) {  // out of memory: the run itself reports it
    if (failure_.empty()) failure_ = failure_text(error);
  }
}

void LiveOutput::print(const LiveInterval& interval) {
  const double at_s =
      static_cast<double>(interval.end_ns - std::min(interval.end_ns, run_began_ns_)) * 1e-9;
  const bool is_long = interval.figures.seconds >= kLeastSeconds;
  if (options_.lines) print_line(interval, at_s, is_long);
  const bool tells = is_long || interval.figures.operations > 0;
  if (!options_.json.empty() && tells) write_json(live_json(step_, interval, at_s));
}

void LiveOutput::print_line(const LiveInterval& interval, double at_s, bool is_long) {
  std::string text = live_line(interval, at_s) + "\n";
  std::string title = title_of(step_, interval.part);
  const bool stands = title == title_ || (interval.part == LivePart::flush && !title_.empty());
  if (!is_long && (stands || interval.figures.operations == 0)) return;
  if (!stands) {
    text = session_.bold(title, STDERR_FILENO) + "\n" + text;
    title_ = std::move(title);
  }
  if (!session_.print_aside(text)) lost_();
}

void LiveOutput::write_json(const std::string& line) {
  if (reader_gone_ || !failure_.empty()) return;
  if (options_.json == "-") {
    reader_gone_ = !session_.pipe(line);
  } else if (const int error = write_to(file_.get(), line)) {
    failure_ = fmt::format("cannot write '{}': {}", printable(options_.json), error_text(error));
  }
}

}  // namespace filereel

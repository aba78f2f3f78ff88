#include "tools/terminal_observer.h"

#include <functional>

#include <unistd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/ownership/output_stream.h"
#include "filesets/system/terminal.h"
#include "replay/measure/clock.h"
#include "replay/results/result_json.h"

namespace filereel {
namespace {

// No progress line with --live, which prints lines, or with JSON on the same terminal.
bool draws_line(const LiveOptions& live) {
  return !live.lines && !(live.json == "-" && is_terminal(STDOUT_FILENO));
}

}  // namespace

TerminalObserver::TerminalObserver(const Session& session, SignalWatch& signals,
                                   const std::vector<ResultFile>& files, const LiveOptions& live)
    : session_(session),
      lines_(live.lines),
      run_began_ns_(now_ns()),
      plain_(run_began_ns_),
      live_(session, live, run_began_ns_, [&signals] { signals.hang_up(); }),
      line_(session,
            draws_line(live) ? std::function([this] { return describe(); })
                             : std::function<std::string()>(),
            [&signals] { signals.hang_up(); }) {
  for (const ResultFile& file : files) kept_.push_back({file, names_stream(file.path)});
}

void TerminalObserver::notice(const std::string& text) {
  line_.notice(text);
}

void TerminalObserver::step_begins(const StepInfo& step, const ReplayProgress& progress) {
  {
    const std::lock_guard lock(mutex_);
    step_ = step;
    progress_ = &progress;
    began_ns_ = now_ns();
    last_second_ = {};
  }
  live_.step_begins(step, progress);
  if (session_.shows_progress() || lines_) return;
  const std::string line = plain_.step_begins(step, now_ns());
  if (!line.empty()) line_.notice(line);
}

void TerminalObserver::step_ended() {
  live_.step_ended();
  const std::lock_guard lock(mutex_);
  progress_ = nullptr;
}

void TerminalObserver::result_grew(const Result& result) {
  constexpr std::uint64_t kShare = 20;  // saving takes at most 1/20 of the time
  for (Kept& kept : kept_) {
    if (&kept.file.result != &result || kept.stream) continue;
    const std::uint64_t begin = now_ns();
    if (begin - kept.saved_ns < kShare * kept.saving_ns) continue;
    save(kept.file);
    kept.saved_ns = now_ns();
    kept.saving_ns = kept.saved_ns - begin;
  }
}

void TerminalObserver::save() const {
  for (const Kept& kept : kept_) save(kept.file);
}

void TerminalObserver::save_new() const {
  for (const Kept& kept : kept_) save(kept.file, false);
}

void TerminalObserver::save(const ResultFile& kept, bool replace) const {
  if (kept.path.empty() || kept.path == "-") return;
  AtomicFile file(kept.path);
  file.write(result_to_json(kept.result));
  if (!replace) {
    file.commit_new();
  } else if (const std::string elsewhere = file.commit(); !elsewhere.empty()) {
    session_.warn(elsewhere);
  }
}

std::string TerminalObserver::describe() {
  const std::lock_guard lock(mutex_);
  if (!progress_) return "";
  const auto seconds = [](std::uint64_t since) {
    return static_cast<double>(now_ns() - since) * 1e-9;
  };
  const ProgressSnapshot look = progress_->look();
  const bool flushing = look.times.end_ns > 0 && look.times.durable_ns == 0;
  return describe_step(*step_,
                       {.bytes = look.bytes,
                        .files = look.files,
                        .operations = look.operations,
                        .elapsed_s = seconds(began_ns_),
                        .run_s = seconds(run_began_ns_),
                        .last_second = last_second_.add(look, now_ns()),
                        .flushing = flushing},
                       terminal_width() - 1);
}

}  // namespace filereel

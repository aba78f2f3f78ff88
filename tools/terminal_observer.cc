#include "tools/terminal_observer.h"

#include <utility>

#include "filesets/atomic_file.h"
#include "replay/measure/clock.h"
#include "replay/runner/result_json.h"

namespace filereel {

TerminalObserver::TerminalObserver(const Session& session, std::string json)
    : json_(std::move(json)),
      run_began_ns_(now_ns()),
      line_(session, [this] { return describe(); }) {}

void TerminalObserver::notice(const std::string& text) {
  line_.notice(text);
}

void TerminalObserver::step_begins(const StepInfo& step, const ReplayProgress& progress) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  progress_ = &progress;
  began_ns_ = now_ns();
}

void TerminalObserver::step_ended() {
  const std::lock_guard lock(mutex_);
  progress_ = nullptr;
}

void TerminalObserver::save(const Result& result) const {
  if (json_.empty() || json_ == "-") return;
  AtomicFile file(json_);
  file.write(result_to_json(result));
  file.commit();
}

std::string TerminalObserver::describe() {
  const std::lock_guard lock(mutex_);
  if (!progress_) return "";
  const auto seconds = [](std::uint64_t since) {
    return static_cast<double>(now_ns() - since) * 1e-9;
  };
  return describe_step(*step_, progress_->bytes, progress_->files, seconds(began_ns_),
                       seconds(run_began_ns_));
}

}  // namespace filereel

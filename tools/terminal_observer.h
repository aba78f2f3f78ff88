// Shows a run on the terminal and keeps its result on the disk.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "replay/runner/runner.h"
#include "tools/progress.h"
#include "tools/session.h"

namespace filereel {

class TerminalObserver final : public RunObserver {
 public:
  // `json` is the file that gets the result; "" and "-" for none. `session` outlives the observer.
  TerminalObserver(const Session& session, std::string json);

  void notice(const std::string& text) override;
  void step_begins(const StepInfo& step, const ReplayProgress& progress) override;
  void step_ended() override;
  void result_grew(const Result& result) override { save(result); }

  void save(const Result& result) const;

 private:
  std::string describe();

  std::string json_;
  std::uint64_t run_began_ns_;
  std::mutex mutex_;
  std::optional<StepInfo> step_;
  const ReplayProgress* progress_ = nullptr;
  std::uint64_t began_ns_ = 0;
  ProgressLine line_;  // last: its thread uses all of the above
};

}  // namespace filereel

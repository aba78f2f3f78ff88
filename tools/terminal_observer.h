// Shows the progress of a run on the terminal or in a log, and saves its result.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "replay/run/observer.h"
#include "tools/live_output.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/signals.h"

namespace filereel {

// A result and its file; "" and "-" for none.
struct ResultFile {
  Result& result;
  std::string path;
};

class TerminalObserver final : public RunObserver {
 public:
  // `session`, `signals` and the results must outlive the observer. If the output is closed, the
  // run ends as on SIGHUP.
  TerminalObserver(const Session& session, SignalWatch& signals,
                   const std::vector<ResultFile>& files, const LiveOptions& live);

  void notice(const std::string& text) override;
  void step_begins(const StepInfo& step, const ReplayProgress& progress) override;
  void step_ended() override;
  // Saves the result in its file, unless that takes too much time: a large sweep has a large
  // result.
  void result_grew(const Result& result) override;

  // Why live figures could not be written; "" if they were.
  std::string failure() const { return live_.failure(); }

  void save() const;      // all
  void save_new() const;  // all whose file does not exist yet

 private:
  struct Kept {
    ResultFile file;
    bool stream = false;                        // what was sent stays sent: saved once, at the end
    std::uint64_t saved_ns = 0, saving_ns = 0;  // time of the last save, and its duration
  };
  void save(const ResultFile& kept, bool replace = true) const;
  std::string describe();

  const Session& session_;
  std::vector<Kept> kept_;
  bool lines_;  // --live, which replaces other progress
  std::uint64_t run_began_ns_;
  PlainProgress plain_;
  std::mutex mutex_;
  std::optional<StepInfo> step_;
  const ReplayProgress* progress_ = nullptr;
  std::uint64_t began_ns_ = 0;
  LastSecond last_second_;
  LiveOutput live_;
  ProgressLine line_;  // last: its thread uses all of the above
};

}  // namespace filereel

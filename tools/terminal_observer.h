// Shows a run on the terminal, or in a log, and keeps its result on the disk.
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

// Which result is kept where; "" and "-": in no file.
struct ResultFile {
  Result& result;
  std::string path;
};

class TerminalObserver final : public RunObserver {
 public:
  // `session`, `signals` and the results outlive the observer. The run ends as on a hang-up when
  // nobody can see it any more.
  TerminalObserver(const Session& session, SignalWatch& signals,
                   const std::vector<ResultFile>& files, const LiveOptions& live);

  void notice(const std::string& text) override;
  void step_begins(const StepInfo& step, const ReplayProgress& progress) override;
  void step_ended() override;
  // Saves it, unless that would take much of the time: a large sweep's result is large too.
  void result_grew(const Result& result) override;

  // Why figures of the run could not be written; "" if they could.
  std::string failure() const { return live_.failure(); }

  void save() const;      // all
  void save_new() const;  // those of which there is no older file

 private:
  struct Kept {
    ResultFile file;
    std::uint64_t saved_ns = 0, saving_ns = 0;  // when it was last saved, and how long that took
  };
  static void save(const ResultFile& kept, bool replace = true);
  std::string describe();

  const Session& session_;
  std::vector<Kept> kept_;
  bool lines_;  // of --live: there is no other progress
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

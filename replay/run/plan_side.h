// One of the volumes that a plan is run on, with the one it copies to and the result it fills.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "filesets/file_set.h"
#include "replay/results/result.h"
#include "replay/run/baseline_run.h"
#include "replay/run/repetitions.h"
#include "replay/run/runner.h"
#include "replay/volumes/volume.h"
#include "traces/fc_test.h"

namespace filereel {

// What all sides share.
struct PlanRun {
  Plan plan;
  RunObserver& observer;
  std::stop_token stop;
  std::uint64_t began_ns = 0;  // on whose clock samples start
};

class PlanSide {
 public:
  // `far` is nullptr where nothing is copied to another volume. `name` tells the sides apart on the
  // terminal; empty where there is one alone. All outlive this object.
  PlanSide(const PlanRun& run, Volume& near, Volume* far, std::string name, Result& result)
      : run_(run), near_(near), far_(far), name_(std::move(name)), result_(result) {}

  // Measures the block level; before anything else. False when the stop was requested.
  bool measure_block_level();

  // From here on repetitions are of that set on that file system (nothing: directories).
  void begin(std::optional<FileSystemKind> kind, const FileSet& set);

  // One repetition on fresh volumes; `stretch` is where it lies in the whole run. False when the
  // stop was requested. Throws Error.
  bool repeat(const Repetitions& repetitions, const Stretch& stretch);

 private:
  void prepare(std::uint32_t run);
  FittedSet fit();
  std::string file_system() const;
  void add_measurements();
  bool run_step(FcStep step, const StepInfo& info, Measurement& measurement);
  void warn_of_no_data(const Measurement& measurement);

  const PlanRun& run_;
  Volume& near_;
  Volume* far_;
  std::string name_;
  Result& result_;
  std::vector<BlockBaseline> baselines_;

  std::optional<FileSystemKind> kind_;
  const FileSet* original_ = nullptr;
  FittedSet fitted_;
  std::unique_ptr<FcTest> test_;
  std::size_t first_ = 0;  // of the measurements of this set
};

}  // namespace filereel

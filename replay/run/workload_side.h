// One of the volumes that a workload is run on, with the result it fills.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/baseline_run.h"
#include "replay/run/repetitions.h"
#include "replay/run/runner.h"
#include "replay/run/workload_needs.h"
#include "replay/run/workload_phase.h"
#include "replay/run/workload_run.h"
#include "replay/volumes/volume.h"
#include "traces/workload/recipe.h"
#include "traces/workload/synthesis.h"

namespace filereel {

inline constexpr std::string_view kWorkloadRoomAdvice = "use --scale or a larger volume";
// The file that direct I/O is tried with.
inline constexpr std::string_view kProbeFile = ".filereel-probe";

// The recipe at a point, as the request wants it.
Recipe recipe_at(const WorkloadRunRequest& request, std::uint64_t point);

class WorkloadSide {
 public:
  // `name` tells the sides apart on the terminal; empty where there is one alone. All outlive this
  // object.
  WorkloadSide(const WorkloadRunRequest& request, RunObserver& observer, Volume& volume,
               std::string name, Result& result)
      : request_(request),
        observer_(observer),
        volume_(volume),
        name_(std::move(name)),
        result_(result) {}

  // Measures the block level; before anything else. False when the stop was requested.
  bool measure_block_level(std::span<const AccessShape> shapes);

  // From here on repetitions are of that file system (nothing: a directory).
  void begin(std::optional<FileSystemKind> kind);
  // A repetition begins with fresh files, whatever the recipe says of points.
  void begin_repetition() { before_.reset(); }

  // All phases at a point; `stretch` is where they lie in the whole run. False when the stop was
  // requested. Throws Error.
  bool run_point(const Repetitions& repetitions, std::uint64_t point, const Stretch& stretch);

 private:
  SynthesisOptions options_for(const Recipe& one);
  std::string file_system() const { return volume_.describe().file_system; }
  void add_measurements(const Recipe& one, std::uint64_t point);
  bool run_phases(const PreparedRecipe& prepared, const Repetitions& repetitions,
                  std::uint64_t point, const Stretch& stretch);
  bool run_phase(const PreparedRecipe& prepared, std::size_t phase, const StepInfo& step,
                 Measurement* place);
  std::string describe_point(std::uint64_t point) const;

  const WorkloadRunRequest& request_;
  RunObserver& observer_;
  Volume& volume_;
  std::string name_;
  Result& result_;
  std::vector<BlockBaseline> baselines_;

  std::optional<FileSystemKind> kind_;
  std::uint64_t free_ = 0;        // bytes of the volume when it was prepared
  std::optional<Recipe> before_;  // whose files the volume holds, as its phases left them
  std::optional<DirectAccess> probed_;
  bool direct_ = false;                         // whether that works
  std::optional<bool> polling_;                 // the same, once it was tried on this file system
  std::vector<std::size_t> first_measurement_;  // of this file system, by point
};

}  // namespace filereel

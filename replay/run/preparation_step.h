// What the work on a volume before a job has in common: progress, a stop, messages. The parts are
// in preconditioning.h and fill.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/descriptor.h"
#include "replay/run/observer.h"
#include "replay/volumes/volume.h"

namespace filereel {

// What the work needs besides the volume. All of it outlives the calls.
struct Preparing {
  RunObserver& observer;
  StepInfo step;  // its operation, bytes and seconds are set by the work
  std::stop_token stop;
};

// Shows the written bytes as the progress of a step.
class PreparationStep {
 public:
  // `bytes`: to be written by so many threads; or `seconds` that it takes.
  PreparationStep(const Preparing& preparing, std::string operation, std::uint64_t bytes,
                  std::size_t threads, double seconds = 0);
  PreparationStep(const PreparationStep&) = delete;
  PreparationStep& operator=(const PreparationStep&) = delete;
  ~PreparationStep() { progress_.end(); }

  // Of each thread, called by one.
  void wrote(std::size_t thread, std::uint64_t bytes, std::uint64_t latency_ns) noexcept;

 private:
  std::vector<ReplayStatistics> statistics_;
  ReplayProgress progress_;
  StepWatch watch_;
};

// Waits without I/O. Returns false if the stop was requested.
bool rest_drive(std::uint64_t rest_ns, const Preparing& preparing);

// A directory in the root of the volume, which may exist. Throws Error(failed).
Descriptor make_directory_in(const Volume& volume, const std::string& name);

// Throws Error(failed) if the volume does not report it. `what`: "fill".
VolumeSpace known_space(const Volume& volume, std::string_view what);

}  // namespace filereel

// Continues a run that was interrupted: by the user, a crash, or a loss of power.
//
// A result is saved after each sample, so it tells how far the run came. The new run begins with an
// empty result of its own, as any run does, and takes over what counts: of a job that was complete
// all measurements, of others the complete repetitions. Jobs are measured one after another, so a
// job with all its points is complete if a later one has begun on any side. A job whose writes are
// part of its condition (preconditioning, steady state) is measured again from its start: what was
// written meanwhile is not known.
//
// The file comes from outside. Measurements that are taken over are found by their identity, never
// by their place, and the runner compares those of an incomplete job with what the job
// has on the prepared volumes, before it adds samples to them (check_resumed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/stage.h"

namespace filereel {

// How far a job of the stage has come.
struct JobProgress {
  bool complete = false;
  std::uint32_t repetitions = 0;  // complete ones of a job that is not
};

class Resumption {
 public:
  // `begun`: the interrupted results, by side of the stage; empty for a new run. All outlive the
  // object. Adds to the results of the sides what is not about a job: start, session, volumes,
  // warnings, and that they were resumed. Throws Error(usage) if the machine or the file systems
  // are others.
  Resumption(const Stage& stage, const std::vector<const Result*>& begun);

  // Adds what counts of the job's measurements to the results of the sides. Call in the order of
  // the stage.
  JobProgress take_over(std::size_t job) const;

 private:
  JobProgress progress_of(std::size_t job) const;

  const Stage& stage_;
  const std::vector<const Result*>& begun_;
};

// By point, the number of the job's first measurement in the result; empty unless all points have
// measurements.
std::vector<std::size_t> first_measurements(const StagedJob& staged, const Result& result);

// Throws Error(unusable_input) unless the measurements from `first` on have the operations and the
// parameters of `expected`, in this order, and no others of the point follow.
void check_resumed(const Result& result, std::size_t first, std::span<const Measurement> expected);

}  // namespace filereel

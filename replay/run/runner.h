// How running works: run_plan() measures overheads, then opens all volumes and checks everything
// that can be checked before one of them is touched (stage.h), then measures job by job:
// repetitions (repetitions.h), points of sweeps, volumes in turns. point_run.h does one point on
// one volume, by ClientWork (client_work.h) on the volumes of this process, alone or with other
// clients. measure.h does one step: caches, clock, durability, verification; sampling.h turns its
// counts into a sample. The result grows sample by sample. Start with Run::measure_all in
// runner.cc, then measure_point in point_run.cc and measure_step in measure.cc.
//
// Runs a plan: formats, mounts, replays, measures. Independent of the kind of job (job.h).
#pragma once

#include <span>

#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/run/run_request.h"

namespace filereel {

// Runs the plan's jobs on each file system, one after another, with the requested repetitions.
//
// Fills `result` step by step, so that it holds all measurements in any case. `against` are the
// results of the request's other volumes, one for each; if there are any, all results are labelled
// with their volume unless they have a label. The request's control is one more volume, and fills
// Result::control of all of them. Repetitions take turns, A B C C B A A B C …. While one volume is
// measured, nothing is done on the others. Divergence from a recorded trace is data in the result
// (replay/results/failures.h). Returns true if the whole plan was run, false if the stop was
// requested. Throws Error for everything that the user must fix; the volumes are cleaned up by
// then. With clients, samples are those of all together, complete only at the first client, and the
// failure of one is that of all. Call on the main thread: FUSE drivers end with the thread that
// started them.
bool run_plan(const RunRequest& request, RunObserver& observer, Result& result,
              std::span<Result> against = {});

}  // namespace filereel

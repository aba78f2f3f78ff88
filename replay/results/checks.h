// Checks for conditions that make the figures of a result less reliable.
#pragma once

#include "replay/results/result.h"

namespace filereel {

// The share of all CPU time that other programs may take: a step mostly waits, and below this it
// still gets the time it needs.
inline constexpr double kMuchOtherCpu = 0.2;

// Adds a warning for each problem found in the samples, the machine or the volumes, one for all
// measurements concerned. Removes the warnings of an earlier call first. `result` may be finished
// or still growing.
//
//   too-few-samples     fewer samples than a confidence interval of the median needs
//   not-cold            caches held content, or only file content could be dropped
//   not-warm            caches that should be warm did not hold all content
//   bimodal             samples form two groups
//   drift               samples have a trend over the run
//   calls-failed        calls failed that should have succeeded: the work was not done
//   cpu-throttled       a CPU quota made filereel wait
//   memory-pressure     programs waited for memory
//   run-stopped         filereel was stopped, or the machine suspended, during samples
//   runs-unequal        runs of a phase with a time limit did different numbers of operations
//   share-slow          an operation on a share took seconds
//   device-busy         other I/O on the drive shortly before steps
//   cpu-busy            other programs used CPU time
//   cpu-stolen          the host of this virtual machine used CPU time
//   cpu-frequency       CPU clocks differ between samples of the same measurement
//   clock-unstable      the kernel does not trust the CPU's counter
//   volume-nearly-full  the volume had little room left
//
// The thresholds are in checks.cc; docs/result-json.md gives the reasons.
void check_result(Result& result);

// Renews the warning too-few-samples alone, for results of several sessions together.
void check_sample_counts(Result& result);

// Adds the warning volume-degraded for each layer of the volume that is impaired now. The state is
// temporary, so this is called whenever a volume is prepared.
void warn_of_states(const VolumeDescription& volume, Result& result);

}  // namespace filereel

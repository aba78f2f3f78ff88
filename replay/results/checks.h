// What makes the figures of a result less sure than they look.
#pragma once

#include "replay/results/result.h"

namespace filereel {

// Adds a warning for each thing that the samples, the machine and the volumes give reason for, one
// for all measurements that it is true of, and takes away those that an earlier call had added. For
// a finished result or one that still grows.
//
//   too-few-samples     fewer than an interval of the median needs
//   not-cold            caches held content, or only contents could be thrown out of them
//   not-warm            caches that were to be warm did not hold all of the content
//   bimodal             samples gather around two places
//   drift               samples go somewhere in the course of the run
//   device-busy         others used the drive shortly before steps
//   cpu-busy            other programs took processor time
//   cpu-stolen          so did the host of this virtual machine
//   cpu-frequency       the processors' clocks differ between samples of the same measurement
//   clock-unstable      the kernel has no trust in the processors' counter
//   volume-nearly-full  the volume had little room left
//
// The thresholds are in checks.cc, with their reasons in docs/result-json.md.
void check_result(Result& result);

// Adds the warning volume-degraded for each layer of the volume that is impaired now: such a state
// passes, so it is looked at whenever a volume is prepared.
void warn_of_states(const VolumeDescription& volume, Result& result);

}  // namespace filereel

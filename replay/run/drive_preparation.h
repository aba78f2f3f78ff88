// Makes the condition of the drives before a job (docs/drive-condition.md), in this order: purge,
// preconditioning of the device, format, preconditioning with files, fill. The runner formats in
// between, and rests after the job's files exist.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "replay/jobs/drive_condition.h"
#include "replay/run/observer.h"
#include "replay/volumes/volume.h"

namespace filereel {

// What the work on a volume needs besides the volume. All of it outlives the calls.
struct Preparing {
  RunObserver& observer;
  StepInfo step;  // its operation, bytes and seconds are set by the work
  std::stop_token stop;
};

// Writes the device below a volume that is not mounted, or the free space of a mounted one with
// files that are removed afterwards. Returns false if the stop was requested. Throws Error(failed).
bool precondition_device(Volume& volume, const Preconditioning& how, const Preparing& preparing);
bool precondition_files(Volume& volume, const Preconditioning& how, const Preparing& preparing);

// Whether it is done with files on such a volume.
bool preconditions_files(const Volume& volume, const Preconditioning& how);

// Creates files in kFillDirectory until the share of the condition is in use, within half a
// percent. Returns false if the stop was requested. Throws Error(failed) if more is in use already,
// or if the share cannot be reached.
bool fill_volume(Volume& volume, const DriveCondition& condition, const Preparing& preparing);

// Waits without I/O. Returns false if the stop was requested.
bool rest_drive(std::uint64_t rest_ns, const Preparing& preparing);

// Bytes that all of this writes on a volume of such a size, for estimates.
double bytes_of_condition(const DriveCondition& condition, std::uint64_t capacity);

}  // namespace filereel

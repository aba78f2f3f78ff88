// Writes drives before a job, so that they have no blocks that were never written
// (docs/drive-condition.md).
#pragma once

#include "replay/jobs/drive_condition.h"
#include "replay/run/preparation_step.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Writes the device below a volume, which it unmounts, or the free space of a mounted one with
// files that are removed afterwards. Returns false if the stop was requested. Throws Error(failed).
bool precondition_device(Volume& volume, const Preconditioning& how, const Preparing& preparing);
bool precondition_files(Volume& volume, const Preconditioning& how, const Preparing& preparing);

// Whether it is done with files on such a volume.
bool preconditions_files(const Volume& volume, const Preconditioning& how);

}  // namespace filereel

// Fills volumes with files before a job (docs/drive-condition.md).
#pragma once

#include "replay/jobs/drive_condition.h"
#include "replay/run/preparation_step.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Creates files in kFillDirectory until the share of the condition is in use, within half a
// percent. Returns false if the stop was requested. Throws Error(failed) if more is in use already,
// or if the share cannot be reached.
bool fill_volume(Volume& volume, const DriveCondition& condition, const Preparing& preparing);

}  // namespace filereel

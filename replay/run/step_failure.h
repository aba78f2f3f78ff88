// Why a step failed.
#pragma once

#include <span>
#include <string_view>

#include "replay/jobs/job.h"
#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Throws Error(failed) if a volume was removed, unmounted or the like: that explains other errors.
void check_present(std::span<Volume* const> volumes);

// Adds to the errors of failed calls that their volume, one of a network or of FUSE, is full.
void name_full_volumes(const Volumes& volumes, Sample& sample);

// Throws Error(failed): what has become of a volume, otherwise the operation that failed, and what
// to do. `room`: what to do if the volume is full.
[[noreturn]] void throw_failure(const StepInfo& step, DivergenceExample what,
                                std::span<Volume* const> volumes, std::string_view room);

}  // namespace filereel

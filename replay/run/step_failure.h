// Why a step failed.
#pragma once

#include <span>
#include <string_view>

#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Throws Error(failed) if a volume was removed, unmounted or the like: that explains other errors.
void check_present(std::span<Volume* const> volumes);

// Throws Error(failed): what has become of a volume, otherwise the operation that failed, and what
// to do. `room`: what to do if the volume is full.
[[noreturn]] void throw_failure(const StepInfo& step, DivergenceExample what,
                                std::span<Volume* const> volumes, std::string_view room);

}  // namespace filereel

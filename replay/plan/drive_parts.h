// Parts of one drive that are measured one after another (--parts).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/plan/plan.h"
#include "replay/volumes/target.h"

namespace filereel {

// The axis of parts in results.
inline constexpr std::string_view kPartAxis = "part";

// The names of parts, which are not percentages.
std::span<const std::string_view> drive_part_names();

// "begin", "middle", "end", "25%". A percentage is a position between the first possible start
// ("0%", "begin") and the last one ("100%", "end"). Throws Error(usage) for other texts, for
// duplicate positions and for a single part.
std::vector<DrivePart> parse_drive_parts(std::span<const std::string> texts);

// The locations of the parts of a block device, each of the size of `whole`. Throws Error(usage)
// unless `whole` is a block device with a size and without a start. `option` names it in messages.
std::vector<Target> place_parts(const Target& whole, std::span<const DrivePart> parts,
                                std::string_view option);

// Makes all jobs of the plan run on each part. The parts become the first axis of their sweeps.
// Throws Error(usage) if that makes too many points.
void measure_on_parts(Plan& plan, std::vector<DrivePart> parts);

}  // namespace filereel

// Parts of one drive on which the same is measured, one after the other (--parts).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/run/plan.h"
#include "replay/volumes/target.h"

namespace filereel {

// The axis that parts are in results.
inline constexpr std::string_view kPartAxis = "part";

// "begin", "middle", "end", "25%"; the last is a share of the way from the first start that is
// possible to the last one: "0%" is "begin", "100%" is "end". Throws Error(usage) for others, for
// the same place twice and for one alone.
std::vector<DrivePart> parse_drive_parts(std::span<const std::string> texts);

// Where the parts of a block device lie, each as large as `whole` says. Throws Error(usage) unless
// that is a block device with a size and without a start. `option` stands for it in messages.
std::vector<Target> place_parts(const Target& whole, std::span<const DrivePart> parts,
                                std::string_view option);

// Has all jobs of the plan measured on each of the parts, which become the first axis of their
// sweeps. Throws Error(usage) where that makes too many points.
void measure_on_parts(Plan& plan, std::vector<DrivePart> parts);

}  // namespace filereel

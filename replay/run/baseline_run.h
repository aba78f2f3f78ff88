// Measures block-level baselines with fio and direct I/O: sequential and random, reads and writes.
// Works on the device that is to be formatted, or on one large file in a directory.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/observer.h"
#include "replay/volumes/volume.h"

namespace filereel {

// The file that is measured in a directory; removed afterwards. Volumes must count it among the
// names that filereel creates.
inline constexpr std::string_view kBaselineFile = ".filereel-baseline";

// Call before the volume's first prepare(). Measures all four patterns for each block size and
// depth, a few seconds each, after the area was written once. Reuses what the result (of one
// volume) already has for another file system. A failure becomes a warning in the result. The
// caller sets BlockBaseline::file_system. Returns nothing if the stop was requested.
std::optional<std::vector<BlockBaseline>> measure_baselines(const Volume& volume,
                                                            std::span<const AccessShape> shapes,
                                                            RunObserver& observer,
                                                            const std::stop_token& stop,
                                                            Result& result);

// The time that measure_baselines takes, as it is assumed before. `shapes`: their number.
double baseline_seconds(std::size_t shapes);

// Adds them to the result for that file system, unless it has them.
void add_baselines(std::span<const BlockBaseline> baselines, const std::string& file_system,
                   Result& result);

}  // namespace filereel

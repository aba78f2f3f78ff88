// Measures block-level baselines: the real fio with direct I/O, sequential and random, reading and
// writing, on the device that a volume is going to be made on, or on one large file of a directory.
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

// The file in a directory that is measured; removed afterwards. Volumes must know it among the
// names that are made.
inline constexpr std::string_view kBaselineFile = ".filereel-baseline";

// What goes through the page cache has many requests in flight at the device: it writes back and
// reads ahead. Block-level tests show what a device can do then with so many.
inline constexpr std::uint32_t kCachedDepth = 32;

// Adds the shape unless one of its block size and depth is there.
void add_shape(std::vector<AccessShape>& shapes, const AccessShape& shape);

// To be called before the volume's first prepare. For each block size and depth all four patterns,
// a few seconds each, after what they work on was written once; but what the result, which is of
// one volume, has of another file system on it is not measured again. What fails is a warning in
// the result. BlockBaseline::file_system is left to the caller. Nothing when the stop was
// requested.
std::optional<std::vector<BlockBaseline>> measure_baselines(const Volume& volume,
                                                            std::span<const AccessShape> shapes,
                                                            RunObserver& observer,
                                                            const std::stop_token& stop,
                                                            Result& result);

// Adds them to the result as those of that file system, unless it has them.
void add_baselines(std::span<const BlockBaseline> baselines, const std::string& file_system,
                   Result& result);

}  // namespace filereel

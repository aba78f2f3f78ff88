// The operations of a thread that reads and writes at positions.
#pragma once

#include <memory>
#include <span>

#include "traces/operation_source.h"
#include "traces/workload/access_pattern.h"

namespace filereel {

struct AccessFile {
  PathId path;
  FileId entry;
  std::uint32_t mode;
};

// All references outlive the source.
struct AccessJob {
  const RecipeThreads& threads;
  std::span<const AccessFile> files;  // as in `space`; file i is opened as slot i
  const FileSpace& space;
  bool direct = false;  // required by the recipe and supported by the volume
  std::uint32_t thread = 0;
  std::uint64_t seed = 0, spots_seed = 0;  // see AccessPattern
  // Number of this source among `turns` sources that share the accesses of one thread in turns.
  std::uint32_t turn = 0, turns = 1;
  // For this thread; 0: no limit.
  std::uint64_t operations = 0, bytes = 0, passes = 0;
};

// Opens the files, accesses them until a limit is reached or the phase is wound up, syncs as
// configured, and closes them. `space` satisfies check_zone.
std::unique_ptr<OperationSource> make_access_source(const AccessJob& job);

}  // namespace filereel

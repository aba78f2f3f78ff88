// From a recipe to what the engine replays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "filesets/file_set.h"
#include "traces/operation_source.h"
#include "traces/workload/recipe.h"

namespace filereel {

struct SynthesisOptions {
  // Requests in flight become threads that block, each of which does its share of the accesses:
  // where there is no io_uring.
  bool depth_as_threads = false;
  // Past the page cache where the recipe says so. False where the file system cannot.
  bool direct = true;
  std::uint64_t free_bytes = 0;  // of the volume, for files that fill it
};

// The files and phases of one recipe (no mysql, no reel), whose volumes are named (name_volumes). A
// group has the same names on each of its volumes, below near in the table of paths, and contents
// of its own. Not changed by what is replayed: the files of a phase are in the state that the
// phases before it leave.
class Synthesis {
 public:
  // `recipe` outlives this object and every trace made by it. Throws Error.
  Synthesis(const Recipe& recipe, const SynthesisOptions& options);
  ~Synthesis();
  Synthesis(const Synthesis&) = delete;
  Synthesis& operator=(const Synthesis&) = delete;

  // What must exist on a volume before the first phase: a directory for each group, and the files
  // of those that exist.
  const FileSet& initial(Role volume = Role::near) const;
  // All that can exist there in the end, the copies that steps make included: names and sizes, for
  // limits and room.
  const FileSet& largest(Role volume = Role::near) const;

  // The operations of one phase. Sources of a phase without an end of their own (a time limit
  // alone) go on for ever. The trace must not outlive this object.
  Trace trace(std::size_t phase) const;
  const PathTable& paths() const;

  // True if the phase is io_uring's.
  bool queues(std::size_t phase) const;
  // Bytes that a phase is known to work on, for progress; 0 if only time ends it.
  std::uint64_t bytes(std::size_t phase) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel

// Turns a recipe into a trace for the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "filesets/file_set.h"
#include "traces/operation_source.h"
#include "traces/workload/recipe.h"

namespace filereel {

struct SynthesisOptions {
  // Without io_uring: requests in flight become blocking threads, each with its share of the
  // accesses.
  bool depth_as_threads = false;
  // Bypass the page cache where the recipe requires it. False if the file system does not support
  // it.
  bool direct = true;
  std::uint64_t free_bytes = 0;  // of the volume, for `fill`
  // Of clients that share the files, this one's number and their number: see share_recipe.
  bool shared = false;
  std::uint32_t part = 0, parts = 1;
};

// Makes a recipe of the threads of all `parts` clients that share its files; a Synthesis creates
// those of one part. Each client keeps its number of threads and its limits. Accesses that write
// have separate zones, and a file belongs to one thread of one client. Throws Error(usage) for a
// phase that truncates files as it opens them.
void share_recipe(Recipe& recipe, std::uint32_t parts);

// The files and phases of one recipe (no mysql, no reel) with named volumes (name_volumes). A group
// has the same names on each of its volumes, below near in the path table, and different content.
// Replays do not change it: the files of a phase are in the state left by the previous phases.
class Synthesis {
 public:
  // `recipe` outlives this object and all traces created by it. Throws Error.
  Synthesis(const Recipe& recipe, const SynthesisOptions& options);
  ~Synthesis();
  Synthesis(const Synthesis&) = delete;
  Synthesis& operator=(const Synthesis&) = delete;

  // The initial files of a volume: a directory for each group, and the files of existing groups.
  const FileSet& initial(Role volume = Role::near) const;
  // All files that can exist there at the end, including copies, with names and sizes, for limits
  // and space requirements.
  const FileSet& largest(Role volume = Role::near) const;

  // The operations of one phase. The sources are endless if only a time limit ends the phase. The
  // trace must not outlive this object.
  Trace trace(std::size_t phase) const;
  const PathTable& paths() const;

  // True if the phase uses io_uring.
  bool queues(std::size_t phase) const;
  // Expected bytes of a phase of this part, for progress; 0 if time or a number of operations ends
  // it.
  std::uint64_t bytes(std::size_t phase) const;
  // The files of a group on each of its volumes, without copies.
  std::uint64_t files(std::size_t group) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace filereel

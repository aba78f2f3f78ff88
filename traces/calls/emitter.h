// Writes operations: the last step of every call that becomes one.
#pragma once

#include <cstdint>
#include <optional>

#include "traces/calls/call_context.h"
#include "traces/calls/kept_part.h"
#include "traces/calls/path_resolution.h"
#include "traces/model/trace_builder.h"

namespace filereel {

// Error codes that depend on who asks and on what the place is like.
bool depends_on_the_place(int error);

// Owns which part of the trace is kept. Requires operations in their order, on slots and mappings
// that are taken from the builder. Guarantees that within a thread time does not go back, and that
// an operation which succeeds can: what must have happened unseen before it (another program made a
// name, or a call did that the trace leaves out, such as bind) is added.
class Emitter {
 public:
  // `builder` and `paths` outlive the emitter. Only what touches `under` is kept; none: all.
  Emitter(TraceBuilder& builder, PathResolution& paths, std::optional<PathId> under)
      : builder_(builder), paths_(paths), kept_(paths, under) {}

  KeptPart& kept() { return kept_; }

  // What the call was: gets its times and, if it failed, its error.
  void emit(const CallContext& context, Operation operation);
  // Anything else, as it is.
  void add(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, const Operation& operation);
  // The asynchronous requests of `task` that were found to be done, if there are any.
  void reap(Task& task);

  // If nothing has the name, makes something of the type in `mode`: a symbolic link with `text`, a
  // file of `size` bytes.
  void appear(const CallContext& context, PathId path, std::uint32_t mode, TextId text = 0,
              std::uint64_t size = 0);
  void make_file(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, PathId path,
                 std::uint32_t mode);

 private:
  // Adds what must have happened before `operation` could have this result.
  void explain(const CallContext& context, const Operation& operation);

  TraceBuilder& builder_;
  PathResolution& paths_;
  KeptPart kept_;
};

}  // namespace filereel

// Calls that become one operation on a file or a name, and move no data.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/calls/call_context.h"
#include "traces/calls/names.h"

namespace filereel {

// Owns which files' modes the trace has told. Other operations on a file that is open, and the
// calls that open one, are in data_calls.h and open_calls.h.
class FileCalls {
 public:
  // All outlive this.
  FileCalls(TraceBuilder& builder, PathResolution& paths, Emitter& emitter, OpenFiles& files,
            Names& names, TaskTable& tasks)
      : builder_(builder),
        paths_(paths),
        emitter_(emitter),
        files_(files),
        names_(names),
        tasks_(tasks) {}

  // An operation of `kind` on the file behind `fd`, or on what `path` names.
  void on_file(CallContext& context, OperationKind kind);
  void on_path(CallContext& context, OperationKind kind);
  void rename(CallContext& context);
  void link(CallContext& context);
  void make_node(CallContext& context);
  void change_directory(CallContext& context);
  void change_root(CallContext& context);

 private:
  // Takes the rest of `operation` from the call: all but its kind and what it is on.
  void emit(const CallContext& context, const NamedFile& target, Operation operation);
  // What a stat saw, as far as the trace has not told it.
  void describe(const SystemCall& call, const NamedFile& target, Operation& operation);
  // From what a record lock asks for to the file's bytes.
  void locate_lock(const SystemCall& call, Description& file, std::uint64_t& offset,
                   std::uint64_t& length);
  // What lies below a directory that was renamed is somewhere else now.
  void follow_rename(PathId from, PathId to, bool exchange);
  void move_to(const CallContext& context, PathId directory);

  TraceBuilder& builder_;
  PathResolution& paths_;
  Emitter& emitter_;
  OpenFiles& files_;
  Names& names_;
  TaskTable& tasks_;
  std::vector<bool> known_modes_;  // by FileId
};

}  // namespace filereel

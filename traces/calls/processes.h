// Threads and processes: which task makes a call, and the calls that begin, change and end tasks.
#pragma once

#include <cstdint>

#include "traces/calls/call_context.h"
#include "traces/calls/call_resolver.h"
#include "traces/calls/mappings.h"
#include "traces/calls/names.h"

namespace filereel {

// Owns the tasks. Requires that tasks come and go only here. Guarantees that each task has
// descriptors, surroundings and memory, shared with others as clone says, and that what a task was
// the last to have is closed and unmapped when it ends.
class Processes {
 public:
  // All outlive this. `directory`: where tasks are whose working directory is not known.
  Processes(TraceBuilder& builder, PathResolution& paths, Emitter& emitter, OpenFiles& files,
            Names& names, Mappings& mappings, TaskTable& tasks, PathId directory)
      : builder_(builder),
        paths_(paths),
        emitter_(emitter),
        files_(files),
        names_(names),
        mappings_(mappings),
        tasks_(tasks),
        directory_(directory) {}

  // A process that was there before the trace, with all its threads and open files.
  void begin(const KnownProcess& process);
  // Who makes the call, new if it has to be; null: one that has ended.
  Task* task_of(const SystemCall& call);

  void fork(const CallContext& context);
  void unshare(const CallContext& context);
  void exec(CallContext& context);
  void wait(const CallContext& context);
  // The threads end; the context's task is gone then.
  void exit(const CallContext& context);
  void exit_group(const CallContext& context);
  // The trace ends.
  void finish(std::uint64_t at_ns);

 private:
  Task& new_root_task(const SystemCall& call);
  // `child` turns out to be what the call made.
  void adopt(const CallContext& context, Task& child);
  // They see other mounts from now on.
  void leave_mounts(Surroundings& surroundings);
  void end(Task& task, std::uint64_t at_ns, bool emits_exit);
  void end_others(const Task& task, std::uint64_t at_ns);

  TraceBuilder& builder_;
  PathResolution& paths_;
  Emitter& emitter_;
  OpenFiles& files_;
  Names& names_;
  Mappings& mappings_;
  TaskTable& tasks_;
  PathId directory_;
};

}  // namespace filereel

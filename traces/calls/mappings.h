// Calls that map files into memory, and faults on what they mapped.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/calls/call_context.h"
#include "traces/calls/open_files.h"

namespace filereel {

// Owns how many pieces each mapping has left; which addresses show what the tasks' address spaces
// know. Requires that address spaces change only here. Guarantees that a mapping which an operation
// uses is there in the trace, and is unmapped with its last piece.
class Mappings {
 public:
  // All outlive this. `sees_faults`: the tracer reports them.
  Mappings(TraceBuilder& builder, PathResolution& paths, Emitter& emitter, OpenFiles& files,
           bool sees_faults)
      : builder_(builder),
        paths_(paths),
        emitter_(emitter),
        files_(files),
        sees_faults_(sees_faults) {}

  // The calls of these names; use: msync, madvise, and faults at an address.
  void map(CallContext& context);
  void unmap(const CallContext& context);
  void remap(const CallContext& context);
  void use(const CallContext& context);
  void fault(const CallContext& context);

  // A forked process has the mappings of its parent.
  void copy(const Task& from, Task& to) { to.memory->copy_from(*from.memory, uses_); }
  // `task` does not use its memory any more.
  void leave(Task& task, std::uint64_t at_ns);

 private:
  void emit_unmaps(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                   const std::vector<FileSlot>& gone);
  void emit_part(const CallContext& context, OperationKind kind, const AddressSpace::Part& part,
                 std::uint64_t flags);
  // Maps the file, at least up to `end`, where no address is known; false if that cannot be.
  bool map_unseen(const CallContext& context, PathId path, std::uint64_t end);

  TraceBuilder& builder_;
  PathResolution& paths_;
  Emitter& emitter_;
  OpenFiles& files_;
  bool sees_faults_;
  MappingUses uses_;
};

}  // namespace filereel

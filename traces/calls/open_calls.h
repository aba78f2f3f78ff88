// Calls that open files.
#pragma once

#include "traces/calls/call_context.h"
#include "traces/calls/names.h"

namespace filereel {

// Owns nothing. Learns from each open what the tracer saw: which links led to the file, what it was
// before the call, and its identity.
class OpenCalls {
 public:
  // All outlive this.
  OpenCalls(TraceBuilder& builder, PathResolution& paths, Emitter& emitter, OpenFiles& files,
            Names& names)
      : builder_(builder), paths_(paths), emitter_(emitter), files_(files), names_(names) {}

  void open(CallContext& context);

 private:
  // The result is a descriptor of something that operations do not open.
  void put_no_file(const CallContext& context);
  // The path that was opened, as far as the tracer knows better than the name.
  PathId opened_path(CallContext& context, PathId path);
  // The open file that was opened again although it has no name any more; null: it has one.
  DescriptionRef nameless_file(const SystemCall& call, const NamedFile& target);
  void reopen(const CallContext& context, const DescriptionRef& file);
  // For the model to know before the operation comes, and after it.
  void learn_opened(const SystemCall& call, FileSlot slot);
  void identify(const SystemCall& call, FileSlot slot);

  TraceBuilder& builder_;
  PathResolution& paths_;
  Emitter& emitter_;
  OpenFiles& files_;
  Names& names_;
};

}  // namespace filereel

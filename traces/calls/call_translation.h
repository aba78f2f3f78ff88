// Turns system calls into operations, one at a time, in the order given. CallOrder decides that
// order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/calls/call_resolver.h"
#include "traces/calls/emitter.h"
#include "traces/calls/open_files.h"
#include "traces/calls/path_resolution.h"

namespace filereel {

// --- The state of the recorded system that the translation keeps between calls, in parts.

// Each part guards what it owns and uses only the parts before it. Functions work on the parts:
// names.h resolves what a call means; file_calls.h, mapping_calls.h and process_calls.h create its
// operations. The functions keep no state: they receive the parts, and the facts about the current
// call in the CallContext.
struct CallParts {
  // `builder` outlives the parts.
  CallParts(TraceBuilder& builder_, const ResolverOptions& options)
      : builder(builder_),
        paths(builder, options.link_at, options.bound, options.under),
        emitter(builder, paths, paths.under()),
        files(builder, paths, emitter),
        working_directory(paths.reached(builder.path(options.working_directory))),
        sees_faults(options.faults),
        executed(options.executed) {}

  TraceBuilder& builder;
  TreeModel& model = builder.model();
  PathResolution paths;  // links, and paths that are not files
  TaskTable tasks;       // threads and their shared state: descriptors, directories, memory
  Emitter emitter;       // writes the operations in the kept part of the trace
  OpenFiles files;       // the files behind descriptors
  MappingUses mapping_uses;
  // By process and request: threads that submitted the asynchronous requests in flight.
  std::multimap<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> submitters;
  std::vector<bool> known_modes;         // by FileId: the file's mode is in the trace
  const ResolvedPath working_directory;  // of tasks whose working directory is unknown
  const bool sees_faults;                // the tracer reports page faults
  const std::function<void(const std::string& path)> executed;  // as in the options
};

// Creates the context of a call, drops the call if it yields nothing, and passes it to its handler
// in the table of call_translation.cc.
void translate(CallParts& parts, const SystemCall& call, CallStart beginning);

// A call of `thread` that used `file` has ended. Closes the file if all its descriptors are closed.
void release(CallParts& parts, std::uint32_t thread, DescriptionRef file, std::uint64_t at_ns);
void release(CallParts& parts, std::uint32_t thread, CallStart&& beginning, std::uint64_t at_ns);

}  // namespace filereel

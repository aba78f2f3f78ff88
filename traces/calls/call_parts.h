// What the translation knows of the recorded system from call to call, in parts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "traces/calls/call_context.h"
#include "traces/calls/call_resolver.h"
#include "traces/calls/emitter.h"
#include "traces/calls/open_files.h"
#include "traces/calls/path_resolution.h"

namespace filereel {

// Each part guards what it owns and uses only those before it. Functions work on them: names.h
// finds what a call means, file_calls.h, mapping_calls.h and process_calls.h make its operations.
// They keep nothing themselves: they get the parts, and with the CallContext all that is true of
// the call in hand alone.
struct CallParts {
  // `builder` outlives the parts.
  CallParts(TraceBuilder& builder_, const ResolverOptions& options)
      : builder(builder_),
        paths(builder, options.link_at),
        emitter(builder, paths,
                options.under.empty() ? std::nullopt : std::optional(builder.path(options.under))),
        files(builder, paths, emitter),
        working_directory(builder.path(options.working_directory)),
        sees_faults(options.faults) {}

  TraceBuilder& builder;
  TreeModel& model = builder.model();
  PathResolution paths;  // links, and which paths are no files
  TaskTable tasks;       // threads, and what they share: descriptors, surroundings, memory
  Emitter emitter;       // writes operations, of the part of the trace that is kept
  OpenFiles files;       // the files behind descriptors
  MappingUses mapping_uses;
  // By process and request: threads that submitted the asynchronous requests that are under way.
  std::multimap<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> submitters;
  std::vector<bool> told_modes;    // by FileId: the trace has told the file's mode
  const PathId working_directory;  // of tasks of which it is not known
  const bool sees_faults;          // the tracer reports them
};

}  // namespace filereel

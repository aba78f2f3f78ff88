// Turns system calls into operations, one at a time, in the order in which it gets them. Which
// order that is, CallOrder decides.
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/calls/call_explanations.h"
#include "traces/calls/call_resolver.h"
#include "traces/calls/data_calls.h"
#include "traces/calls/file_calls.h"
#include "traces/calls/open_calls.h"
#include "traces/calls/processes.h"

namespace filereel {

// Owns the parts that translate, each with what it knows of the recorded system from call to call.
// Lowest first, and none uses one that comes later:
//
//   PathResolution    links, and which paths are no files
//   Emitter           writes operations, of the part of the trace that is kept
//   OpenFiles         descriptors, and the files behind them
//   Names             names that calls give
//   CallExplanations  what a call's result says of the order
//   Mappings          files in memory
//   Processes         threads and what they share
//   OpenCalls, FileCalls, DataCalls   the rest of the calls, by what they do
//
// What is true of one call alone is in its CallContext. dispatch() says which part takes which
// call.
class CallTranslation {
 public:
  // `builder` outlives this.
  CallTranslation(TraceBuilder& builder, const ResolverOptions& options);

  void expect_link(std::string_view path, std::string_view text) { paths_.expect_link(path, text); }
  void begin_process(const KnownProcess& process) { processes_.begin(process); }
  void translate(const SystemCall& call, CallBeginning beginning);
  void finish(std::uint64_t at_ns) { processes_.finish(at_ns); }

  // The call that used `file` is over: closes it if all descriptors of it are closed by now.
  void release(std::uint32_t thread, DescriptionRef file, std::uint64_t at_ns);
  void end_is_unknown() { builder_.approximated("asynchronous requests whose end is not known"); }

  std::uint64_t operations() const { return builder_.operations(); }
  TaskTable& tasks() { return tasks_; }
  CallExplanations& explanations() { return explanations_; }

 private:
  // Whether nothing comes of the call, as it failed: counts it if that is a loss.
  bool is_worth_nothing(CallContext& context);
  // Counts a call that failed for itself if it names a path or a file that is open.
  void count_wrong(CallContext& context);
  void dispatch(CallContext& context);

  TraceBuilder& builder_;
  PathResolution paths_;
  TaskTable tasks_;
  Emitter emitter_;
  OpenFiles files_;
  Names names_;
  CallExplanations explanations_;
  Mappings mappings_;
  Processes processes_;
  OpenCalls open_calls_;
  FileCalls file_calls_;
  DataCalls data_calls_;
};

}  // namespace filereel

// Which order of calls, and which working directory, explains a call's result: what CallOrder asks.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/calls/call_context.h"
#include "traces/calls/names.h"

namespace filereel {

// A name whose existence decides a call's result.
struct NameNeed {
  PathId path;
  bool exists;
};

// Owns nothing: compares calls with the model of the tree as it is now. Requires the operations of
// all calls that are done to be in the model. Adds no operations; what a name shows of links and
// open files on the way is learnt for good.
class CallExplanations {
 public:
  // All outlive this.
  CallExplanations(TraceBuilder& builder, PathResolution& paths, OpenFiles& files, Names& names,
                   TaskTable& tasks)
      : builder_(builder), paths_(paths), files_(files), names_(names), tasks_(tasks) {}

  // What `call` needs by its result, and the model says otherwise, wherever its names may begin. It
  // began when there were `position` operations.
  std::vector<NameNeed> contradictions(const SystemCall& call, std::uint64_t position);
  // Whether `other`, if it succeeds, could make true what `call` needs.
  bool could_explain(const SystemCall& other, const SystemCall& call, const NameNeed& need);
  // Whether `other` moves the working directory where the names of `call` begin.
  bool could_move(const SystemCall& other, const SystemCall& call);
  // Whether `other` removes what `call`, which removed a directory, found gone.
  bool could_empty(const SystemCall& other, const SystemCall& call);
  // Whether `other`, which unlocks or closes, could be what let `call` lock its file.
  bool could_unlock(const SystemCall& other, const SystemCall& call);

  // What `fd` of a call that begins refers to, if it only uses it.
  DescriptionRef used_file(const SystemCall& call);
  // False if `fd` is known to be no file.
  bool may_be_file(const SystemCall& call);

  // Working directories that threads share: one moves it while another looks up a relative name,
  // and only the result says where that name began. Sets the context's directory to that.
  void choose_directory(CallContext& context, std::uint64_t position);
  // Whether what the result needs has changed since the call began at `position`.
  bool is_race(CallContext& context, std::uint64_t position);

 private:
  // Where relative names of the call may begin, the likeliest first; empty: there is no doubt.
  std::vector<PathId> possible_directories(const CallContext& context, std::uint64_t position);
  // The same as for a call, with the context's working directory.
  std::vector<NameNeed> contradictions_here(CallContext& context);
  // Whether the result is possible where the context's directory is.
  bool fits(CallContext& context);

  TraceBuilder& builder_;
  PathResolution& paths_;
  OpenFiles& files_;
  Names& names_;
  TaskTable& tasks_;
};

}  // namespace filereel

// Which order of calls, and which working directory, explains a call's result.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/calls/names.h"

namespace filereel {

// Calls are compared with the model of the tree as it is now: it has the operations of all that
// were translated. No operations are added; what names show of links and open files is learnt for
// good.

// A name whose existence decides a call's result.
struct NameNeed {
  PathId path;
  bool exists;
};

// What CallOrder asks of `call`, which began when there were `position` operations:
// What it needs by its result, and the model says otherwise, wherever its names may begin.
std::vector<NameNeed> contradictions(CallParts& parts, const SystemCall& call,
                                     std::uint64_t position);
// Whether `other`, if it succeeds, could make true what `call` needs.
bool could_explain(CallParts& parts, const SystemCall& other, const SystemCall& call,
                   const NameNeed& need);
// Whether `other` moves the working directory where the names of `call` begin.
bool could_move(CallParts& parts, const SystemCall& other, const SystemCall& call);
// Whether `other` removes what `call`, which removed a directory, found gone.
bool could_empty(CallParts& parts, const SystemCall& other, const SystemCall& call);
// Whether `other`, which unlocks or closes, could be what let `call` lock its file.
bool could_unlock(CallParts& parts, const SystemCall& other, const SystemCall& call);
// What `fd` of a call that begins refers to, if it only uses it.
DescriptionRef used_file(CallParts& parts, const SystemCall& call);
// False if `fd` is known to be no file.
bool may_be_file(CallParts& parts, const SystemCall& call);

// Working directories that threads share: one moves it while another looks up a relative name, and
// only the result says where that name began. Sets the context's directory to that.
void choose_directory(CallParts& parts, CallContext& context, std::uint64_t position);
// Whether what the result needs has changed since the call began at `position`.
bool is_race(CallParts& parts, CallContext& context, std::uint64_t position);

}  // namespace filereel

// Determines which order of calls, and which working directory, explains a call's result.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/calls/names.h"

namespace filereel {

// Calls are compared with the current model of the tree, which includes the operations of all
// translated calls. No operations are added. What names reveal about links and open files is kept.

// A name that must or must not exist for a call to have its result.
struct NameNeed {
  PathId path;
  bool exists;
};

// The questions of CallOrder about `call`, which started when there were `position` operations.
// First: names that its result requires and that the model contradicts for every possible base.
std::vector<NameNeed> contradictions(CallParts& parts, const SystemCall& call,
                                     std::uint64_t position);
// Whether `other`, if it succeeds, could satisfy a need of `call`.
bool could_explain(CallParts& parts, const SystemCall& other, const SystemCall& call,
                   const NameNeed& need);
// Whether `other` changes the working directory that the names of `call` are relative to.
bool could_move(CallParts& parts, const SystemCall& other, const SystemCall& call);
// Whether `other` removes an entry that had to be gone before `call` could remove its directory.
bool could_empty(CallParts& parts, const SystemCall& other, const SystemCall& call);
// Whether `other`, an unlock or a close, could have let `call` lock its file.
bool could_unlock(CallParts& parts, const SystemCall& other, const SystemCall& call);
// What the descriptors of a starting call refer to, if the call only uses them.
std::array<CallStart::Used, 2> used_files(CallParts& parts, const SystemCall& call);
// False if `fd` is known not to be a file.
bool may_be_file(CallParts& parts, const SystemCall& call);

// For working directories shared by threads: one thread changes the directory while another looks
// up a relative name, and only the result shows which directory the lookup used. Sets the context's
// directory to it.
void choose_directory(CallParts& parts, CallContext& context, std::uint64_t position);
// Whether the names that the result depends on have changed since the call started at `position`.
bool is_race(CallParts& parts, CallContext& context, std::uint64_t position);

}  // namespace filereel

// Keeps working directories and open directories right when directories move or go away.
#pragma once

#include "traces/calls/call_parts.h"

namespace filereel {

// What is known of a directory only because a process works in or below it.
bool is_working_place(CallParts& parts, PathId path);

// Everything at or below `from` has moved to `to`; `exchange`: and the other way round.
void follow_rename(CallParts& parts, PathId from, PathId to, bool exchange);

// The empty directory `path`, which was `file` (kNoFileId: unknown), has been removed or replaced.
// Processes that work in it, and open files, still refer to it and not to another directory that
// gets its name: see PathResolution::removed.
void follow_removal(CallParts& parts, PathId path, FileId file);

// The call changed the working directory. Remembers the old directory of threads that share it, for
// calls in flight.
void move_to(CallParts& parts, const CallContext& context, PathId directory);

}  // namespace filereel

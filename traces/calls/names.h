// Resolves the names in calls: to a path, or to an open file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "filesets/system/search.h"
#include "traces/calls/call_translation.h"

namespace filereel {

inline bool is_one_of(Call call, std::initializer_list<Call> calls) {
  return contains(calls, call);
}

// Effect of a successful call on names.
enum class NameEffect : std::uint8_t { none, makes, removes, moves };
NameEffect effect_on_names(Call call);
// The call changes the last component of a name, whatever it refers to.
bool names_an_entry(Call call);
// Whether the call follows a symbolic link at the end of its first name.
bool follows_link(const SystemCall& call);

// A file named by a call.
struct GivenName {
  FileHandle dir;  // base of a relative path
  std::string_view path;
};
inline GivenName first_name(const SystemCall& call) {
  return {{call.dir, call.dir_path, call.dir_file}, call.path};
}
inline GivenName second_name(const SystemCall& call) {
  return {{call.dir2, call.dir2_path, call.dir2_file}, call.path2};
}

struct NamedFile {
  PathId path = 0;
  Description* file = nullptr;  // null: by path
};

// These require that the directory of the context has been chosen (call_explanations.h). They
// record in the context whether the meaning of a name is uncertain, or whether it is too long for
// operations.

// The path that the name refers to; nullopt: no path that operations can use.
std::optional<PathId> resolve_name(CallParts& parts, CallContext& context, const GivenName& name,
                                   bool follow);
// The same, or the open file that the name refers to. Counts names in /proc, /sys and /dev.
std::optional<NamedFile> find_named(CallParts& parts, CallContext& context, const GivenName& name,
                                    bool follow);
// The base of a relative name.
std::optional<PathId> base_of_name(CallParts& parts, CallContext& context, const GivenName& name);

// Whether the call used a removed directory itself, or a place above it: all other names in it fail
// with ENOENT.
bool is_gone(CallParts& parts, const SystemCall& call, PathId path);
void count_gone(CallParts& parts);

// Counts a call on a pipe, a socket or a device, which a replay does not create.
void count_special(CallParts& parts);

// Counts a call on something in /proc, /sys or /dev.
void count_omitted(CallParts& parts);

// --- Keeps working directories and open directories right when directories move or go away.

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

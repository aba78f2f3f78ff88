// What the names that calls give mean: a path, or a file that is open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "traces/calls/call_parts.h"

namespace filereel {

inline bool is_one_of(Call call, std::initializer_list<Call> calls) {
  return std::ranges::find(calls, call) != calls.end();
}

// What a call does to names if it succeeds.
enum class NameEffect : std::uint8_t { none, makes, removes, moves };
NameEffect effect_on_names(Call call);
// The last component of a name is what the call changes, whatever stands behind it.
bool names_an_entry(Call call);
// Whether the call follows a symbolic link that its first name ends in.
bool follows_link(const SystemCall& call);

// How a call names a file.
struct GivenName {
  FileHandle dir;  // what a relative path begins at
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
  Description* file = nullptr;  // null: by its path
};

// These require the directory of the context to be chosen (call_explanations.h). They tell the
// context if what a name means is not certain, or if it is too long for operations.

// The path that the name means; nothing: there is none for operations.
std::optional<PathId> resolve_name(CallParts& parts, CallContext& context, const GivenName& name,
                                   bool follow);
// The same, or the open file that the name means; counts what lies in /proc, /sys and /dev.
std::optional<NamedFile> find_named(CallParts& parts, CallContext& context, const GivenName& name,
                                    bool follow);
// Where a relative name begins.
std::optional<PathId> base_of_name(CallParts& parts, CallContext& context, const GivenName& name);

// Counts a call on what lies in /proc, /sys or /dev.
void leave_out(CallParts& parts);

}  // namespace filereel

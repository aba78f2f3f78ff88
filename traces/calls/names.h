// What the names that calls give mean: a path, or a file that is open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/calls/call_context.h"
#include "traces/calls/open_files.h"
#include "traces/calls/path_resolution.h"

namespace filereel {

// How a call names a file.
struct GivenName {
  int dir;  // what a relative path begins at
  const std::string& dir_path;
  std::uint64_t dir_file;
  std::string_view path;
};
inline GivenName first_name(const SystemCall& call) {
  return {call.dir, call.dir_path, call.dir_file, call.path};
}
inline GivenName second_name(const SystemCall& call) {
  return {call.dir2, call.dir2_path, call.dir2_file, call.path2};
}

struct NamedFile {
  PathId path = 0;
  Description* file = nullptr;  // null: by its path
};

// Owns nothing: roots and working directories are the tasks', links are known to PathResolution.
// Requires the directory of the context to be chosen (see CallExplanations). Tells the context if
// what a name means is not certain, or is too long for operations.
class Names {
 public:
  // All outlive this.
  Names(TraceBuilder& builder, PathResolution& paths, OpenFiles& files)
      : builder_(builder), paths_(paths), files_(files) {}

  // Whether the call follows a symbolic link that its first name ends in.
  static bool follows(const SystemCall& call);

  // The path that the name means; nothing: there is none for operations.
  std::optional<PathId> resolve(CallContext& context, const GivenName& name, bool follow);
  // The same, or the open file that the name means; counts what lies in /proc, /sys and /dev.
  std::optional<NamedFile> find(CallContext& context, const GivenName& name, bool follow);
  // Where a relative name begins.
  std::optional<PathId> base_of(CallContext& context, const GivenName& name);

  // Counts a call on what lies in /proc, /sys or /dev.
  void leave_out() { builder_.approximated("calls on /proc, /sys and /dev left out"); }

 private:
  TraceBuilder& builder_;
  PathResolution& paths_;
  OpenFiles& files_;
};

}  // namespace filereel

// How this folder works: small helpers for all other folders, one purpose per file, independent of
// each other as far as possible: text for people (printable.h, units.h, counted.h, failure_text.h),
// owned system objects (descriptor.h, process.h), and questions to the system (limits.h,
// mount_info.h, memory.h, sandbox.h). It includes no other folder. Start with Error here, which all
// code throws, and descriptor.h.
//
// The only exception type: an error that the user must fix.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace filereel {

// The values are the process's exit codes.
enum class ErrorKind : int {
  failed = 1,          // runtime failure: full disk, disconnected device, missing tool
  usage = 2,           // invalid command line
  unusable_input = 3,  // invalid input file
};

// The text is one line without a newline: what failed, where (file, line, byte offset or path), and
// what to do next. `main` prints it after "filereel: ".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

[[noreturn]] inline void throw_failed(const std::string& text) {
  throw Error(ErrorKind::failed, text);
}

// `where`: the file and the location in it.
[[noreturn]] inline void throw_unusable(std::string_view where, std::string_view text) {
  throw Error(ErrorKind::unusable_input, std::string(where).append(": ").append(text));
}

}  // namespace filereel

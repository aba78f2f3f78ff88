// The one exception type: something that the user must fix.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace filereel {

// The values are the process's exit codes.
enum class ErrorKind : int {
  failed = 1,          // the work could not be done: a full disk, a vanished device, a missing tool
  usage = 2,           // the command line asks for something that makes no sense
  unusable_input = 3,  // a file that was given cannot be used
};

// The text is one line without a final newline: what failed, where (file, line, byte offset or
// path), and what to do next. `main` prints it behind "filereel: ".
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

// `where`: the file, and what in it.
[[noreturn]] inline void throw_unusable(std::string_view where, std::string_view text) {
  throw Error(ErrorKind::unusable_input, std::string(where).append(": ").append(text));
}

}  // namespace filereel

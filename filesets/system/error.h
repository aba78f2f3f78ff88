// How this folder works: small helpers for all other folders, one purpose per file, independent of
// each other as far as possible: text for people (printable.h, units.h, wording.h, failure_text.h),
// owned system objects (descriptor.h, programs.h), and questions to the system (limits.h, mounts.h,
// privileges.h). It includes no other folder. Start with Error here, which all code throws, and
// descriptor.h.
//
// The only exception type: an error that the user must fix. Derived types have its parts as data,
// for callers that know more of the place: these compose another text from them.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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

// An error about a value.
class ValueError : public Error {
 public:
  struct Parts {
    std::string name = {};  // of the key or option, before the text and a colon; empty: none
    std::optional<std::string> value = {};  // the faulty one of several; nothing: not known
    std::string text;
    bool is_predicate = false;  // the text follows a name: "must be a number from 1 to 9"
  };
  ValueError(ErrorKind kind, Parts parts)
      : Error(kind, parts.name.empty() ? parts.text : parts.name + ": " + parts.text),
        parts_(std::move(parts)) {}
  const Parts& parts() const { return parts_; }

 private:
  Parts parts_;
};

[[noreturn]] inline void throw_failed(const std::string& text) {
  throw Error(ErrorKind::failed, text);
}

// `where`: the file and the location in it.
[[noreturn]] inline void throw_unusable(std::string_view where, std::string_view text) {
  throw Error(ErrorKind::unusable_input, std::string(where).append(": ").append(text));
}

}  // namespace filereel

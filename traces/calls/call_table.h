// The table of system calls that concern files: what each call is and what its arguments are. A
// source of calls (strace's text, the events of the BPF recorder) looks up a call by name and reads
// each argument by its role into CallArguments (call_arguments.h), which creates a SystemCall. To
// add a call, add a row, and its flags to known_calls.cc. Calls that are in no row are harmless
// (known_calls.h) or unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <sys/syscall.h>

#include "traces/calls/system_call.h"

namespace filereel {

// --- Numbers of system calls, some of which the headers or the processor lack.

// The value of a macro that may be undefined, from the text of its expansion: kNoNumber if that is
// the macro's name.
inline constexpr long kNoNumber = -1;
constexpr long number_in(std::string_view expansion) {
  long number = 0;
  for (const char c : expansion) {
    if (c < '0' || c > '9') return kNoNumber;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace filereel

#define FILEREEL_TEXT(expanded) #expanded
#define FILEREEL_TEXT_OF(macro) FILEREEL_TEXT(macro)
// SYS_`name` of this processor, or kNoNumber.
#define FILEREEL_CALL_NUMBER(name) ::filereel::number_in(FILEREEL_TEXT_OF(SYS_##name))

namespace filereel {

// The role of an argument or of a structure member: usually the member of SystemCall that it sets.
enum class Argument : std::uint8_t {
  end,      // no more arguments
  none,     // ignored
  unshown,  // ignored, and missing from strace's text
  // Numbers.
  descriptor,   // fd
  descriptor2,  // fd2
  first,        // fd, fd2: a range of descriptors; bounds can exceed any descriptor
  last,
  directory,   // dir: base of `path`
  directory2,  // dir2: base of `path2`
  flags,
  open_flags,  // flags: those of open(2), with the values of a trace (traces/open_flags.h)
  mode,
  offset,
  offset2,
  length,
  address,
  command,    // selects one of CallRow::commands
  commanded,  // meaning defined by that command
  // Memory behind pointers.
  path,
  path2,
  text,
  buffers,  // struct iovec[], whose sum is the length; the next argument is the number of elements
  link_text,    // buffer of a link's target
  entries,      // buffer of directory entries
  socket_name,  // struct sockaddr: path, if it is a name in the tree; the next argument is its
                // length
  value,        // of an attribute; the next argument is its length
  data,         // what is written; the next argument is its length
  // Structures: see structure_of().
  offset_pointer,  // offsets that the call advances by its result
  offset2_pointer,
  result_pointer,
  descriptor_pair,
  how,
  lock,
  source_range,
  loop_settings,
  status,
  status_x,
  ended_process,
  clone_settings,
  times_ns,  // two struct timespec
  times_us,  // two struct timeval
  times_s,   // struct utimbuf
  // Members of structures only.
  result,
  resolve,
  seen_mode,
  seen_size,
  seen_inode,
  seen_device,
  seen_major,
  seen_minor,
};

// A structure behind a pointer: the members that matter.
struct Structure {
  struct Member {
    std::string_view name;  // as strace writes it; empty: found by its position among the others
    Argument role = Argument::end;
    std::uint8_t offset = 0, size = 0;
    std::string_view older_name = {};  // as old versions of strace write it
    bool is_optional = false;          // strace omits it if it does not matter
  };
  Argument role;
  std::uint8_t size;       // from its start to the end of the last member
  bool is_needed;          // a successful call with it cannot be interpreted without its members
  Member members[6] = {};  // empty: two times, which each source reads in its own way
};

// nullptr: the role is not a structure.
const Structure* structure_of(Argument role);

// Interpretation of one command of a call with many (fcntl, ioctl).
struct CallCommand {
  std::uint64_t value;
  Call call;
  Argument argument = Argument::none;  // replaces Argument::commanded
  std::uint64_t flags = 0, mode = 0;
  std::string_view name = {};  // for counts, of an unsupported one
};

struct CallRow {
  std::string_view name;
  Call call;  // with commands: assumed until the command is known
  std::array<Argument, 6> arguments{};
  std::uint64_t flags = 0;  // in addition to those of the arguments
  // Special cases beyond roles, see call_arguments.h; false: the call is not about files.
  bool (*finish)(SystemCall& call) = nullptr;
  std::span<const CallCommand> commands{};
  bool (*is_harmless)(std::uint64_t command) = nullptr;  // of commands: other ones are unsupported

  constexpr bool has(Argument role) const {
    for (const Argument argument : arguments) {
      if (argument == role) return true;
    }
    return false;
  }
};

std::span<const CallRow> call_rows();

// nullptr: the call is not about files.
const CallRow* find_call(std::string_view name);

}  // namespace filereel

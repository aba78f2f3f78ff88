// The one table of the system calls that are about files: what each is and what its arguments are.
// A source of calls (strace's text, the events of the BPF recorder) finds a call here by its name
// and reads each argument by its role into CallArguments (call_arguments.h), which makes a
// SystemCall of them. To add a call, add a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "traces/calls/system_call.h"

namespace filereel {

// What an argument, or a member of a structure, is: mostly which member of SystemCall it becomes.
enum class Argument : std::uint8_t {
  end,      // there are no more
  none,     // of no interest
  unshown,  // of no interest, and not in strace's text
  // Numbers.
  descriptor,   // fd
  descriptor2,  // fd2
  first,        // fd, fd2: a range of descriptors, whose bounds may be greater than any
  last,
  directory,   // dir: where `path` begins
  directory2,  // dir2: where `path2` begins
  flags,
  mode,
  offset,
  offset2,
  length,
  address,
  command,    // selects one of CallRow::commands
  commanded,  // what that command says
  // Memory behind pointers.
  path,
  path2,
  text,
  buffers,    // struct iovec[], whose sum is the length; the next argument is their number
  link_text,  // where the call put the text of a link
  entries,    // where the call put the entries of a directory
  // Structures: see structure_of().
  offset_pointer,  // the call moves these two on by its result
  offset2_pointer,
  result_pointer,
  descriptor_pair,
  how,
  lock,
  source_range,
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

// A structure behind a pointer: what of it matters.
struct Structure {
  struct Member {
    std::string_view name;  // as strace writes it; empty: found by its place among the others
    Argument role = Argument::end;
    std::uint8_t offset = 0, size = 0;
  };
  Argument role;
  std::uint8_t size;       // from its begin to the end of the last member
  bool is_needed;          // a call that succeeded cannot be told without it
  Member members[6] = {};  // without any: two times, which each source reads in its own way
};

// nullptr: the role is no structure.
const Structure* structure_of(Argument role);

// What a command makes of a call with many (fcntl, ioctl).
struct CallCommand {
  std::uint64_t value;
  Call call;
  Argument argument = Argument::none;  // in the place of Argument::commanded
  std::uint64_t flags = 0, mode = 0;
};

struct CallRow {
  std::string_view name;
  Call call;  // with commands: the one that it is taken for before its command is known
  std::array<Argument, 6> arguments{};
  std::uint64_t flags = 0;  // beside those of the arguments
  // What roles cannot say, see call_finish.h; false: the call is not about files.
  bool (*finish)(SystemCall& call) = nullptr;
  std::span<const CallCommand> commands{};  // if any: other commands are not about files
  bool followed = true;  // else it changes what names and files are in ways that are not told

  constexpr bool has(Argument role) const {
    for (const Argument one : arguments) {
      if (one == role) return true;
    }
    return false;
  }
};

std::span<const CallRow> call_rows();

// nullptr: a call that is not about files.
const CallRow* find_call(std::string_view name);

}  // namespace filereel

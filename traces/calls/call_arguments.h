// Carries the arguments of one system call from a source to a SystemCall. The source reads each
// argument according to role(): numbers go through set(); paths and values that only the source can
// read go directly into call(). finish() does the rest, for all sources.
#pragma once

#include <cstddef>
#include <cstdint>

#include "traces/calls/call_table.h"
#include "traces/calls/system_call.h"

// Special cases of single system calls that argument roles cannot express: see CallRow::finish.
// Each function returns false if the call is not about files.

namespace filereel::call_finish {

// An empty path can mean the descriptor itself (AT_EMPTY_PATH): fstatat then is fstat.
bool by_descriptor(SystemCall& call);

bool at_own_position(SystemCall& call);      // preadv2, pwritev2
bool descriptor_command(SystemCall& call);   // fcntl
bool clone_command(SystemCall& call);        // ioctl
bool file_or_directory(SystemCall& call);    // unlinkat
bool file_or_memory(SystemCall& call);       // mmap
bool really_executed(SystemCall& call);      // execveat
bool ended_child(SystemCall& call);          // wait4, waitid
bool two_ends(SystemCall& call);             // pipe, socketpair
bool new_or_changed(SystemCall& call);       // signalfd
bool memory_file(SystemCall& call);          // memfd_create
bool performance_counter(SystemCall& call);  // perf_event_open
bool file_by_handle(SystemCall& call);       // open_by_handle_at
bool named_socket(SystemCall& call);         // bind
bool place_in_tree(SystemCall& call);        // open_tree

}  // namespace filereel::call_finish

namespace filereel {

enum class CallReading : std::uint8_t {
  call,     // call() is valid
  nothing,  // the call is not about files, or changed nothing
  no_path,  // a given path or name could not be read
};

class CallArguments {
 public:
  // Both outlive this. `call` is new; its result is set, or 0 if the call has not ended.
  CallArguments(const CallRow& row, bool ended, SystemCall& call)
      : row_(row), call_(call), ended_(ended) {
    call_.call = row.call;
    call_.name = row.name;
    call_.flags = row.flags;
  }

  SystemCall& call() const { return call_; }
  bool has_ended() const { return ended_; }
  bool succeeded() const { return ended_ && call_.result >= 0; }

  // The role of argument `i`, after the arguments before it have been read.
  Argument role(std::size_t i) const {
    const Argument role = row_.arguments[i];
    return role == Argument::commanded ? commanded_ : role;
  }

  void set(Argument role, std::uint64_t number);
  // `which`: 0 or 1, the two times of a file. `part` is in units of `unit` nanoseconds.
  void set_time(std::size_t which, std::uint64_t seconds, std::uint64_t part, std::uint64_t unit);

  // A path or text could not be read. `is_null`: the pointer was null.
  void lacks_text(bool is_null);
  // A pointer was given, but not all that matters of its structure could be read.
  void lacks(const Structure& structure) { lacks_structure_ |= structure.is_needed; }
  // A number could not be read.
  void lacks_number(Argument role);

  CallReading finish();

 private:
  void select(std::uint64_t command);
  SeenStat& seen() { return call_.stat ? *call_.stat : call_.stat.emplace(); }

  const CallRow& row_;
  SystemCall& call_;
  bool ended_;
  bool selected_ = false, harmless_ = false;
  bool lacks_text_ = false, all_null_ = true;  // all missing texts
  bool lacks_structure_ = false;
  Argument commanded_ = Argument::none;
};

}  // namespace filereel

// Limits on the resources of this process (setrlimit, control groups), and what to do about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/mounts.h"

namespace filereel {

// A limit on memory.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::uint64_t left = 0;   // not used so far; a file cache that the kernel can empty is not used
  std::string name;         // "limit on address space", "memory limit of the control group"
  std::string remedy;       // "raise it (ulimit -v)"
  bool is_machine = false;  // there is no limit but the memory of the machine

  // "the limit on address space is 60 MB: raise it (ulimit -v)".
  std::string text() const;
};

// The limit that leaves the least memory to this process: of the control group and those that it
// is in, on address space or data, or the machine's memory.
MemoryLimit memory_limit();

// The limits of the control group of `membership` (/proc/PID/cgroup) and of its parents, as far as
// they are mounted; of either version.
std::vector<MemoryLimit> cgroup_memory_limits(const std::string& membership,
                                              const std::vector<MountedFileSystem>& mounts);

// Memory that this process has now, in bytes.
std::uint64_t resident_memory();

// Whether the process has less address space than the machine has memory for it: reserving more
// than is used can then fail.
bool is_address_space_limited();

// Descriptors of this process that are open.
std::uint64_t open_descriptors();
// The current limit on them.
std::uint64_t descriptor_limit();

// The largest file that this process may write (RLIMIT_FSIZE, ulimit -f), in bytes.
std::uint64_t largest_file_of_process();

// The message of a failed system call (errno). If a limit of this process caused the error, the
// message names the limit and how to raise it.
std::string error_text(int error);
// The same with advice, which is omitted if a limit caused the error: "No such file or directory;
// check the name".
std::string error_text(int error, std::string_view advice);
// The same for the start of a process or thread, where EAGAIN means a limit on their number.
std::string start_error_text(int error, std::string_view advice);

// The limit of this process that caused the error, and how to raise it; "" if none did.
std::string limit_text(int error);
// The limit that a write to a file has reached, if it ended early or failed with EFBIG; "" if there
// is none.
std::string file_size_limit_text();

// --- Reports running out of memory as an error that names the cause.

// Throws Error(failed): `what` needs more memory than is available.
[[noreturn]] void fail_for_memory(std::string_view what);

// Returns the result of `work`. If it runs out of memory, throws Error(failed) that names `what`,
// such as "the file set 'many'".
template <class Work>
auto within_memory(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_for_memory(what);
  }
}

// Checks in advance, for work that must not run out of memory: throws unless `bytes` could be
// allocated.
void require_memory(std::size_t bytes, const std::string& what);

// --- Stacks that do not depend on the limit on stacks (RLIMIT_STACK, ulimit -s).

// From now on, threads have a stack that is large enough if the limit on stacks is small, and a
// small one if address space is limited; then the C library also reserves less for the heaps of
// threads.
void size_thread_stacks();

// Returns the result of `work`, which throws nothing. If the limit on stacks is small, runs it on a
// stack of its own. The limit itself stays as it is, because recorded programs inherit it.
int on_large_stack(const std::function<int()>& work);

}  // namespace filereel

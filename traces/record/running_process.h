// What /proc tells of processes that are recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/calls/call_resolver.h"

namespace filereel {

// Throws Error(failed) if its working directory or its open files may not be read, without which
// nobody would know which files its calls mean.
void check_visible(std::uint32_t process);

// The process as it is now, as far as it may be seen. `will_exec`: without the descriptors that it
// closes then.
KnownProcess running_process(std::uint32_t process, bool will_exec);

// It and all that descend from it now, without this process and what descends from that: who
// records a shell that it runs in would record itself recording.
std::vector<std::uint32_t> process_tree(std::uint32_t process);

// The name behind a descriptor, as SystemCall::fd_path; empty if there is none any more.
std::string open_file_name(std::uint32_t process, int number);

// The path by which a process has mapped a file; empty if it has not. `device` as st_dev.
std::string mapped_file_name(std::uint32_t process, std::uint64_t device, std::uint64_t inode);

// Prefixes that other tracers put before the paths of the process and of its children, for cut_root
// (traces/calls/path_resolution.h): the place of its root if that is not below ours, and the place
// of ours as seen from a copy of the mounts.
std::vector<std::string> roots_of_names(std::uint32_t process);

std::string working_directory_of(std::uint32_t process);  // "/" if that may not be read

// The words of its command line, or its name if it has none.
std::string command_of(std::uint32_t process);

}  // namespace filereel

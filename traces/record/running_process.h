// Reads the state of recorded processes from /proc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filesets/system/descriptor.h"
#include "traces/calls/call_resolver.h"

namespace filereel {

// Throws Error(failed) if its working directory or its open files cannot be read: without them, the
// files of its calls would be unknown.
void check_visible(std::uint32_t process);

// The current state of the process, as far as it is visible. `will_exec`: without descriptors that
// exec closes.
KnownProcess running_process(std::uint32_t process, bool will_exec);

// The process and its current descendants, except this process and its own: recording the shell
// that runs filereel would otherwise record the recording.
std::vector<std::uint32_t> process_tree(std::uint32_t process);

// The path by which a process has mapped a file; empty if it has not. `device` as in st_dev.
std::string mapped_file_name(std::uint32_t process, std::uint64_t device, std::uint64_t inode);

// Prefixes that other tracers add to the paths of the process and its children, for cut_root
// (traces/calls/path_resolution.h): its root if that is not below ours, and our root as seen from a
// copy of the mounts.
std::vector<std::string> roots_of_names(std::uint32_t process);

std::string working_directory_of(std::uint32_t process);  // "/" if it cannot be read

// The directory at which recorded paths of the process start: our root, or the root of the process
// if that is not below ours. Call it while the process lives.
Descriptor root_of_names(std::uint32_t process);

// The given command, otherwise the command line of the process, or its name if it has none. The
// command line of a script changes while its interpreter starts.
std::string command_text(std::span<const std::string> given, std::uint32_t process);

}  // namespace filereel

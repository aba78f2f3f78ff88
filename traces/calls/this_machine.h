// What a recording must ask this machine, as no call shows it: existing links, bind mounts, core
// dumps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/calls/path_resolution.h"
#include "traces/model/trace_builder.h"

namespace filereel {

// --- Symbolic links on this machine that a program uses while it is recorded.

// Programs pass links that they never read, and calls that do not open a file do not show where the
// links led. Links older than the recording were not created by the trace: they are read from disk.
class ExistingLinks {
 public:
  // `since_ns`: when the recording of `process` started, by the system clock. If that process is in
  // another mount namespace, names here are meaningless, which is counted in `builder`. `builder`
  // outlives this.
  ExistingLinks(std::uint64_t since_ns, std::uint32_t process, TraceBuilder& builder);

  // The target of the link at this absolute path; empty if it is not a link or is newer than the
  // recording.
  std::string operator()(const std::string& path);

 private:
  bool sees_what_is_recorded();

  std::uint64_t since_ns_;
  std::string namespace_;  // of the process, in /proc
  std::string here_;
  bool same_ = true;  // when last checked
  TraceBuilder* builder_;
};

// --- Directories and files that have two names on this machine.

// Mounts of what another mount shows, too: bind mounts, and file systems that are mounted twice.
// Empty if the process is in another mount namespace, whose names mean something else.
std::vector<BoundName> bind_mounts(std::uint32_t process);

// --- Core dumps of recorded programs: the kernel writes them, without system calls.

// False if this machine passes them to a program.
bool core_dumps_are_files();

}  // namespace filereel

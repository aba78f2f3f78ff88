// Symbolic links on this machine that a program uses while it is recorded.
#pragma once

#include <cstdint>
#include <string>

#include "traces/model/trace_builder.h"

namespace filereel {

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

}  // namespace filereel

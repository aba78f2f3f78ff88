// Symbolic links on this machine that a program uses while it is recorded.
#pragma once

#include <cstdint>
#include <string>

#include "traces/model/trace_builder.h"

namespace filereel {

// Programs go through links that they never read, and calls that do not open a file do not show
// where they led. What is older than the recording the trace did not make: that is looked at.
class ExistingLinks {
 public:
  // `since_ns`: when the recording of `process` began, by the system's clock. Where that process is
  // in another mount namespace, names here say nothing, which is counted in `builder`; it outlives
  // this.
  ExistingLinks(std::uint64_t since_ns, std::uint32_t process, TraceBuilder& builder);

  // The text of the link at this absolute path; empty if it is none, or a younger one.
  std::string operator()(const std::string& path);

 private:
  bool sees_what_is_recorded();

  std::uint64_t since_ns_;
  std::string namespace_;  // of the process, in /proc
  std::string here_;
  bool same_ = true;  // when it was last seen
  TraceBuilder* builder_;
};

}  // namespace filereel

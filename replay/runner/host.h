// The machine that a result was measured on.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

struct HostInfo {
  std::string cpu;           // model name
  std::uint32_t cores = 0;   // online
  std::uint64_t memory = 0;  // bytes
  std::string kernel;        // release
  std::string governor;      // of the first core; "" where there is none
  std::string clock_source;  // "tsc", "kvm-clock" …
  // What a release's name leaves open: distributions patch a kernel under the same release, and
  // microcode brings cures that make system calls slower. "" where there is none.
  std::string kernel_build = {}, microcode = {};
};

HostInfo describe_host();

}  // namespace filereel

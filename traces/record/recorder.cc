#include "traces/record/recorder.h"

#include <array>

namespace filereel {

std::span<const RecorderBackend> recorder_backends() {
  static const std::array kBackends{bpf_backend(), strace_backend()};
  return kBackends;
}

}  // namespace filereel

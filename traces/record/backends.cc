#include <array>

#include "traces/record/bpf_recorder.h"
#include "traces/record/recorder.h"
#include "traces/record/strace_recorder.h"

namespace filereel {

std::span<const RecorderBackend> recorder_backends() {
  static const std::array kBackends{bpf_backend(), strace_backend()};
  return kBackends;
}

}  // namespace filereel

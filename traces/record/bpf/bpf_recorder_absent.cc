// Used if the build did not find libbpf, clang or bpftool.
#include "traces/record/recorder.h"

namespace filereel {

const RecorderBackend& bpf_backend() {
  static constexpr RecorderBackend kBackend{
      .name = "bpf",
      .what = "BPF in the kernel",
      .time_unit_ns = 10,
      .missing = +[]() -> std::string {
        return "this filereel was built without BPF; rebuild it with clang, bpftool and libbpf-dev";
      },
      .has_ring = false,
      .descriptors = 0,
      .no_compat = {},
      .make = +[]() -> std::unique_ptr<Recorder> { return nullptr; },
  };
  return kBackend;
}

}  // namespace filereel

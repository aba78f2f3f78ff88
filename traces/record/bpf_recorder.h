// Recording with a program in the kernel: nothing stops, nearly nothing is slowed.
#pragma once

#include "traces/record/recorder.h"

namespace filereel {

const RecorderBackend& bpf_backend();

}  // namespace filereel

// Recording with a kernel program: nothing is stopped and almost nothing is slowed down.
#pragma once

#include "traces/record/recorder.h"

namespace filereel {

const RecorderBackend& bpf_backend();

}  // namespace filereel

// Recording with strace, for users who may not load BPF programs.
#pragma once

#include "traces/record/recorder.h"

namespace filereel {

const RecorderBackend& strace_backend();

}  // namespace filereel

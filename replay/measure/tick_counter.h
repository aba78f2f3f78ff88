// The processor's time stamp counter, if reading it is cheaper than the kernel's vDSO.
#pragma once

#if defined(__x86_64__)
#include "replay/measure/tick_counter_x86_64.h"
#elif defined(__aarch64__)
#include "replay/measure/tick_counter_aarch64.h"
#else
#include "replay/measure/tick_counter_absent.h"
#endif

// Threads that a busy machine does not delay.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace filereel::model_drive {

// The calling thread goes before all ordinary ones from now on, where the process may say so (root
// may). On two busy cores 1 % of the answers came more than 4 ms late without it, and 40 us with
// it.
inline void be_prompt() noexcept {
  const sched_param lowest_of_real_time{.sched_priority = 1};
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest_of_real_time);
}

}  // namespace filereel::model_drive

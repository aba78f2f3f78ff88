// Stacks that do not depend on the limit on stacks (RLIMIT_STACK, ulimit -s).
#pragma once

#include <functional>

namespace filereel {

// From now on, threads have a stack that is large enough if the limit on stacks is small, and a
// small one if address space is limited; then the C library also reserves less for the heaps of
// threads.
void size_thread_stacks();

// Returns the result of `work`, which throws nothing. If the limit on stacks is small, runs it on a
// stack of its own. The limit itself stays as it is, because recorded programs inherit it.
int on_large_stack(const std::function<int()>& work);

}  // namespace filereel

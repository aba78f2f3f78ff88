#include "filesets/system/stacks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "filesets/system/limits.h"

namespace filereel {
namespace {

constexpr std::size_t kEnough = 2 << 20;    // of the main thread and of all others
constexpr std::size_t kSmall = 256 << 10;   // of other threads, where address space is limited
constexpr std::size_t kOwnStack = 8 << 20;  // the usual limit; untouched pages take no memory

struct Run {
  const std::function<int()>& work;
  int result = 0;
};

// makecontext passes integers only.
void run(unsigned high, unsigned low) {
  const auto address = static_cast<std::uintptr_t>(high) << 32 | low;
  Run& run = *reinterpret_cast<Run*>(address);  // NOLINT(performance-no-int-to-ptr)
  run.result = run.work();
}

}  // namespace

void size_thread_stacks() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  const bool is_limited = is_address_space_limited();
  const std::size_t wanted = is_limited ? kSmall : std::max(bytes, kEnough);
  if (wanted != bytes && pthread_attr_setstacksize(&attributes, wanted) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
  if (is_limited) mallopt(M_ARENA_MAX, 1);
}

int on_large_stack(const std::function<int()>& work) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnough) return work();
  void* const stack = mmap(nullptr, kOwnStack, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return work();
  mprotect(stack, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);  // its end
  Run wanted{work};
  ucontext_t here{}, there{};
  getcontext(&there);
  there.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = kOwnStack};
  there.uc_link = &here;
  const auto address = reinterpret_cast<std::uintptr_t>(&wanted);
  makecontext(&there, reinterpret_cast<void (*)()>(run), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  swapcontext(&here, &there);
  munmap(stack, kOwnStack);
  return wanted.result;
}

}  // namespace filereel

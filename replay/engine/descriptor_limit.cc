#include "replay/engine/descriptor_limit.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "filesets/system/counted.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/root_user.h"
#include "replay/engine/linux_calls.h"
#include "replay/engine/parent_cache.h"

namespace filereel {
namespace {

constexpr std::uint64_t kFewestDirectories = ParentCache<LinuxCalls>::kFewest;
// More would need much memory of the kernel: about 1 KB each. The second is for all threads.
constexpr std::uint64_t kMostDirectories = 4096, kMostTogether = 16384;

std::uint64_t raise_limit_to(std::uint64_t wanted) noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit raised{.rlim_cur = std::clamp(wanted, limit.rlim_cur, limit.rlim_max),
                      .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

// The kernel enlarges its table of descriptors when one is opened, and waits until no processor
// uses the old table: milliseconds, which would be in the latency of some operation. The table
// never shrinks.
void enlarge_table(std::uint64_t descriptors) {
  const Descriptor any(::open("/", O_PATH | O_CLOEXEC));
  if (!any) return;
  const Descriptor last(::fcntl(any.get(), F_DUPFD_CLOEXEC, static_cast<int>(descriptors) - 1));
}

}  // namespace

std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads) {
  // Of a thread: the ring of io_uring, the directory of a second path, files open during a call.
  constexpr std::uint64_t kOthers = 4;
  constexpr std::uint64_t kSpare = 8;  // files that filereel opens during a replay
  return open_files + threads * (kFewestDirectories + kOthers) + open_descriptors() + kSpare;
}

std::uint64_t highest_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

std::uint64_t raise_descriptor_limit() noexcept {
  return raise_limit_to(highest_descriptor_limit());
}

std::size_t allow_descriptors(std::uint64_t open_files, std::size_t threads) {
  const std::uint64_t count = std::max<std::size_t>(threads, 1);
  const std::uint64_t most =
      std::clamp(kMostTogether / count, kFewestDirectories, kMostDirectories);
  const std::uint64_t needed = descriptors_needed(open_files, threads);
  const std::uint64_t wanted = needed + count * (most - kFewestDirectories);
  const std::uint64_t limit = raise_limit_to(wanted);
  if (limit < needed) {
    throw Error(ErrorKind::failed,
                fmt::format("the trace has {} open at once in {} and needs an open-file limit of "
                            "{}, but the limit is {}: raise it ({}) or cut the trace",
                            counted(open_files, "file"), counted(threads, "thread"), needed, limit,
                            root_advice("ulimit -n, or as root ulimit -Hn", "ulimit -n")));
  }
  enlarge_table(std::min(limit, wanted));
  return std::min(most, kFewestDirectories + (limit - needed) / count);
}

}  // namespace filereel

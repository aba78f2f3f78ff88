#include "replay/engine/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "filesets/system/counted.h"
#include "filesets/system/error.h"

namespace filereel {

std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads) {
  constexpr std::uint64_t kPerThread = 40;  // ParentCache and an io_uring ring
  constexpr std::uint64_t kOwn = 32;
  return open_files + threads * kPerThread + kOwn;
}

std::uint64_t highest_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

std::uint64_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit highest{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &highest) == 0 ? highest.rlim_cur : limit.rlim_cur;
}

void allow_descriptors(std::uint64_t open_files, std::size_t threads) {
  const std::uint64_t needed = descriptors_needed(open_files, threads);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return;
  const std::uint64_t raised = raise_descriptor_limit();
  if (raised >= needed) return;
  throw Error(ErrorKind::failed,
              fmt::format("the trace has {} open at once in {} and needs an "
                          "open-file limit of {}, but the limit is {}: raise it (ulimit -n, or "
                          "as root ulimit -Hn) or cut the trace",
                          counted(open_files, "file"), counted(threads, "thread"), needed, raised));
}

}  // namespace filereel

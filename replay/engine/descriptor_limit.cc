#include "replay/engine/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "filesets/system/counted.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"

namespace filereel {

std::uint64_t descriptors_needed(std::uint64_t open_files, std::size_t threads,
                                 std::size_t directories) {
  // Of a thread: the ring of io_uring, the directory of a second path, files open during a call.
  constexpr std::uint64_t kOthers = 4;
  constexpr std::uint64_t kSpare = 8;  // files that filereel opens during a replay
  return open_files + threads * (directories + kOthers) + open_descriptors() + kSpare;
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

std::size_t allow_descriptors(std::uint64_t open_files, std::size_t threads) {
  if (descriptor_limit() >= descriptors_needed(open_files, threads)) return kMostCachedDirectories;
  const std::uint64_t raised = raise_descriptor_limit();
  for (std::size_t directories = kMostCachedDirectories; directories > 0; directories /= 2) {
    if (raised >= descriptors_needed(open_files, threads, directories)) return directories;
  }
  throw Error(ErrorKind::failed,
              fmt::format("the trace has {} open at once in {} and needs an "
                          "open-file limit of {}, but the limit is {}: raise it (ulimit -n, or "
                          "as root ulimit -Hn) or cut the trace",
                          counted(open_files, "file"), counted(threads, "thread"),
                          descriptors_needed(open_files, threads, 1), raised));
}

}  // namespace filereel

#include "replay/run/step_failure.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/project_quota.h"
#include "replay/results/failures.h"

namespace filereel {
namespace {

// The error of writing `bytes` more to the volume; 0 if that succeeds or cannot be tried.
int error_of_writing(int root, std::uint64_t bytes) {
  const Descriptor file(openat(root, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) return errno == ENOSPC || errno == EDQUOT ? errno : 0;
  const std::vector<char> part(1 << 20);
  for (std::uint64_t written = 0; written < bytes;) {
    const ssize_t size = write(file.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    written += static_cast<std::uint64_t>(size);
  }
  return 0;
}

// A share tells of a full server by other errors: sshfs by EPERM or EIO.
int error_of_full_share(const DivergenceExample& what, std::span<Volume* const> volumes) {
  constexpr std::uint64_t kFull = 1 << 20;
  if (what.result != -EIO && what.result != -EPERM) return 0;
  const bool full = std::ranges::any_of(volumes, [](const Volume* volume) {
    struct statvfs space = {};
    return volume->describe().network && fstatvfs(volume->root(), &space) == 0 &&
           space.f_bavail * space.f_frsize < kFull;
  });
  return full ? ENOSPC : 0;
}

// The error of an operation that found too little space. An incomplete write has none: more writing
// tells whether the volume is full or a quota is exhausted.
int error_of_space(const DivergenceExample& what, std::span<Volume* const> volumes) {
  constexpr std::uint64_t kLeast = 8 << 20;
  const bool incomplete = what.result >= 0 && what.operation == "write";
  if (!incomplete && what.result != -ENOSPC) return error_of_full_share(what, volumes);
  for (const Volume* volume : volumes) {
    const auto missing = static_cast<std::uint64_t>(
        std::max<std::int64_t>(what.expected - what.result, static_cast<std::int64_t>(kLeast)));
    const int error = error_of_writing(volume->root(), missing);
    if (error == ENOSPC && has_project_quota(volume->root())) return EDQUOT;
    if (error == ENOSPC || error == EDQUOT) return error;
  }
  return 0;
}

}  // namespace

void check_present(std::span<Volume* const> volumes) {
  for (const Volume* volume : volumes) volume->check_present();
}

void throw_failure(const StepInfo& step, DivergenceExample what, std::span<Volume* const> volumes,
                   std::string_view room) {
  check_present(volumes);
  if (const int error = error_of_space(what, volumes)) what.result = -error;
  throw_failed(describe_failure(
      fmt::format("{}, {}, {}, run {}", step.file_system, step.set, step.operation, step.run), what,
      room));
}

}  // namespace filereel

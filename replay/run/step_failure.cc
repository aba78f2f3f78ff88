#include "replay/run/step_failure.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/search.h"
#include "replay/results/failures.h"
#include "traces/export/dump.h"

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

// Whether an operation of this kind may need space on the volume.
bool takes_space(OperationKind kind) {
  using enum OperationKind;
  constexpr std::array kKinds = {open,           close,      write,     truncate, copy_range,
                                 make_directory, symlink,    link,      rename,   make_node,
                                 allocate,       sync,       sync_data, sync_map, set_xattr,
                                 sync_range,     sync_volume};
  return contains(kKinds, kind);
}

bool takes_space(const std::string& operation) {
  OperationKind kind{};
  return find_operation_kind(operation, kind) && takes_space(kind);
}

// By the name of an error in results.
bool may_hide_full_volume(const std::string& error) {
  if (error == FailedCalls::kCutShort) return true;
  constexpr int kErrors = 134;
  for (int number = 1; number < kErrors; ++number) {
    if (errno_name(number) == error) return filereel::may_hide_full_volume(number);
  }
  return false;
}

// Whether the operation failed for lack of space without saying so.
bool hides_full_volume(const DivergenceExample& what, std::span<Volume* const> volumes) {
  const bool may_hide =
      what.result >= 0 || filereel::may_hide_full_volume(static_cast<int>(-what.result));
  return may_hide && takes_space(what.operation) &&
         std::ranges::any_of(volumes,
                             [](const Volume* volume) { return is_full_share(volume->root()); });
}

// The error of an operation that found too little space. An incomplete write has none: more writing
// tells whether the volume is full or a quota is exhausted.
int error_of_space(const DivergenceExample& what, std::span<Volume* const> volumes) {
  constexpr std::uint64_t kLeast = 8 << 20;
  const bool incomplete = what.result >= 0 && what.operation == "write";
  if (!incomplete && what.result != -ENOSPC) return 0;
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

void name_full_volumes(const Volumes& volumes, Sample& sample) {
  for (FailedCalls& calls : sample.failed_calls) {
    if (!takes_space(calls.operation) || !may_hide_full_volume(calls.error)) continue;
    const auto named = [&](Role role) { return role_name(role) == calls.volume; };
    for (std::size_t i = 0; i < kRoles; ++i) {
      const Volume* const volume =
          named(static_cast<Role>(i)) ? volumes.of(static_cast<Role>(i)) : nullptr;
      if (!volume || !is_full_share(volume->root())) continue;
      calls.error += kNoSpaceLeft;
      break;
    }
  }
}

void throw_failure(const StepInfo& step, DivergenceExample what, std::span<Volume* const> volumes,
                   std::string_view room) {
  check_present(volumes);
  const bool full = hides_full_volume(what, volumes);
  if (const int error = full ? 0 : error_of_space(what, volumes)) what.result = -error;
  throw_failed(describe_failure(
      fmt::format("{}, {}, {}, run {}", step.file_system, step.set, step.operation, step.run), what,
      room, full));
}

}  // namespace filereel

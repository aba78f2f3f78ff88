#include "replay/run/preparation_step.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "replay/jobs/job.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr auto kWrite = static_cast<std::size_t>(OperationKind::write);

StepInfo step_of(const Preparing& preparing, std::string operation, std::uint64_t bytes,
                 double seconds) {
  StepInfo step = preparing.step;
  step.operation = std::move(operation);
  step.bytes = bytes;
  step.seconds = seconds;
  step.files = step.operations = 0;
  step.expected_s = seconds > 0 ? seconds : static_cast<double>(bytes) / kAssumedRate;
  step.measured = false;
  return step;
}

}  // namespace

PreparationStep::PreparationStep(const Preparing& preparing, std::string operation,
                                 std::uint64_t bytes, std::size_t threads, double seconds)
    : statistics_(threads),
      watch_(preparing.observer, step_of(preparing, std::move(operation), bytes, seconds),
             progress_) {
  std::vector<const ReplayStatistics*> all;
  for (ReplayStatistics& one : statistics_) {
    one.kinds[kWrite].by_size[0].prepare();
    all.push_back(&one);
  }
  progress_.begin(std::move(all));
  progress_.start(now_ns(), 0);
}

void PreparationStep::wrote(std::size_t thread, std::uint64_t bytes,
                            std::uint64_t latency_ns) noexcept {
  ReplayStatistics& statistics = statistics_[thread];
  statistics.kinds[kWrite].by_size[0].record(latency_ns);
  statistics.bytes += bytes;
  ++statistics.operations;
}

bool rest_drive(std::uint64_t rest_ns, const Preparing& preparing) {
  const PreparationStep step(preparing, "rest", 0, 1, static_cast<double>(rest_ns) * 1e-9);
  std::mutex idle;
  std::condition_variable_any wake;
  std::unique_lock lock(idle);
  wake.wait_for(lock, preparing.stop, std::chrono::nanoseconds(rest_ns), [] { return false; });
  return !preparing.stop.stop_requested();
}

Descriptor make_directory_in(const Volume& volume, const std::string& name) {
  Descriptor directory;
  if (mkdirat(volume.root(), name.c_str(), 0700) == 0 || errno == EEXIST) {
    directory.reset(
        openat(volume.root(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (directory) return directory;
  throw_failed(fmt::format("cannot create a directory on {}: {}", volume.describe().target,
                           error_text(errno)));
}

VolumeSpace known_space(const Volume& volume, std::string_view what) {
  if (const std::optional<VolumeSpace> space = volume.space()) return *space;
  throw_failed(fmt::format("cannot {} {}: its driver does not report the used space", what,
                           volume.describe().target));
}

}  // namespace filereel

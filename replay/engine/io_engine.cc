#include "replay/engine/io_engine.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "replay/engine/sequential_engine.h"
#include "replay/engine/uring_engine.h"
#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kEngines = {"blocking", "io_uring", "null"};

}  // namespace

ReplayTimes ReplayProgress::known_times() const {
  ReplayTimes times = times_;
  if (times.end_ns == 0 && times.measured_ns > now_ns()) times.measured_ns = 0;
  return times;
}

ProgressSnapshot ReplayProgress::sum() const {
  ProgressSnapshot look;
  look.times = known_times();
  const bool warm_up = times_.measured_ns > times_.start_ns;
  for (const ReplayStatistics* one : threads_) {
    // A thread may still be at the last operation of its warm-up.
    if (warm_up && look.times.measured_ns > 0 && one->restarts.published() == 0) continue;
    look.bytes += one->bytes;
    look.files += one->files;
    look.operations += one->operations;
    for (const KindStatistics& kind : one->kinds) {
      for (const Histogram& size : kind.by_size) look.latency.merge(size);
    }
  }
  return look;
}

ProgressSnapshot ReplayProgress::look() const {
  const std::lock_guard lock(mutex_);
  if (!threads_.empty()) return sum();
  ProgressSnapshot look = last_;
  look.times = times_;
  return look;
}

ReplayTimes ReplayProgress::times() const {
  const std::lock_guard lock(mutex_);
  return known_times();
}

void ReplayProgress::begin(std::vector<const ReplayStatistics*> threads) {
  const std::lock_guard lock(mutex_);
  threads_ = std::move(threads);
}

void ReplayProgress::start(std::uint64_t start_ns, std::uint64_t warm_up_ns) {
  const std::lock_guard lock(mutex_);
  times_.start_ns = start_ns;
  times_.measured_ns = start_ns + warm_up_ns;
}

void ReplayProgress::end() {
  const std::lock_guard lock(mutex_);
  times_.end_ns = now_ns();
  if (times_.measured_ns > times_.end_ns) times_.measured_ns = times_.end_ns;
  last_ = sum();
  threads_.clear();
}

void ReplayProgress::durable() {
  const std::lock_guard lock(mutex_);
  times_.durable_ns = now_ns();
}

OpenFile::~OpenFile() {
  if (const int open = fd.load(); open >= 0) close(open);
}

Mapping::~Mapping() {
  if (std::byte* const mapped = begin.load()) munmap(mapped, length.load());
}

std::string_view engine_name(EngineKind kind) {
  return kEngines[static_cast<std::size_t>(kind)];
}

EngineKind parse_engine(std::string_view name) {
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    if (kEngines[i] == name) return static_cast<EngineKind>(i);
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown engine '{}'{}", printable(name), use_one_of(name, kEngines)));
}

std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane) {
  switch (kind) {
    case EngineKind::null:
      return std::make_unique<SequentialEngine<NullCalls>>(context, lane);
    case EngineKind::uring:
      return make_uring_engine(context, lane);
    case EngineKind::blocking:
      break;
  }
  return std::make_unique<SequentialEngine<LinuxCalls>>(context, lane);
}

}  // namespace filereel

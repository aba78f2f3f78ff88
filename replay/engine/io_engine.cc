#include "replay/engine/io_engine.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "replay/engine/executor.h"
#include "replay/engine/uring_engine.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kEngines = {"blocking", "io_uring", "null"};

}  // namespace

ReplayLook ReplayProgress::sum() const {
  ReplayLook look;
  for (const ReplayStatistics* one : threads_) {
    look.bytes += recorded_ ? one->moved_bytes() : one->content_bytes();
    look.files += recorded_ ? one->operations : one->files;
    look.operations += one->operations;
    for (const KindStatistics& kind : one->kinds) {
      for (const Histogram& size : kind.by_size) look.latency.merge(size);
    }
  }
  return look;
}

ReplayLook ReplayProgress::look() const {
  const std::lock_guard lock(mutex_);
  return threads_.empty() ? last_ : sum();
}

void ReplayProgress::begin(std::vector<const ReplayStatistics*> threads, bool recorded) {
  const std::lock_guard lock(mutex_);
  threads_ = std::move(threads);
  recorded_ = recorded;
}

void ReplayProgress::end() {
  const std::lock_guard lock(mutex_);
  last_ = sum();
  threads_.clear();
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
  throw Error(ErrorKind::usage, fmt::format("there is no engine '{}'{}", printable(name),
                                            use_one_of(name, kEngines)));
}

std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane) {
  switch (kind) {
    case EngineKind::null:
      return std::make_unique<Executor<NullCalls>>(context, lane);
    case EngineKind::uring:
      return make_uring_engine(context, lane);
    case EngineKind::blocking:
      break;
  }
  return std::make_unique<Executor<LinuxCalls>>(context, lane);
}

}  // namespace filereel

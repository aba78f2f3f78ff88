#include "tests/model_drive/medium.h"

#include <algorithm>
#include <utility>

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kNano = 1'000'000'000;
constexpr std::uint64_t kFsPerNs = 1'000'000;

// So fine that what is lost of each of many small transfers does not show in their sum.
using Femtoseconds = unsigned __int128;

// At most 1 TiB within 64 bits of nanoseconds: no rate is below kLeastRate. 0: without a limit.
Femtoseconds time_of(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  if (bytes_per_second == 0) return 0;
  return Femtoseconds{bytes} * kNano * kFsPerNs / bytes_per_second;
}

}  // namespace

Medium::Medium(Script script, std::uint64_t now_ns)
    : script_(std::move(script)), path_free_ns_(now_ns) {}

std::uint64_t Medium::transfer(Kind kind, std::uint64_t, std::uint64_t length,
                               std::uint64_t ready_ns) {
  if (kind == Kind::write && script_.write_cache) return write_through_cache(length, ready_ns);
  const Femtoseconds time = time_of(length, script_.of(kind).bytes_per_second);
  return ready_ns + static_cast<std::uint64_t>(time / kFsPerNs);
}

std::uint64_t Medium::write_through_cache(std::uint64_t length, std::uint64_t ready_ns) {
  const WriteCache& cache = *script_.write_cache;
  rest_until(ready_ns);
  const std::uint64_t fast = std::min(length, cache.size - cached_);
  cached_ += fast;
  const Femtoseconds end =
      path_free_fs_ + time_of(fast, cache.fast) + time_of(length - fast, cache.slow);
  path_free_ns_ += static_cast<std::uint64_t>(end / kFsPerNs);
  path_free_fs_ = static_cast<std::uint64_t>(end % kFsPerNs);
  return path_free_ns_;
}

void Medium::rest_until(std::uint64_t time_ns) {
  if (time_ns <= path_free_ns_) return;
  if (script_.write_cache) {
    const auto freed =
        static_cast<unsigned __int128>(script_.write_cache->refill) * (time_ns - path_free_ns_) +
        freed_nanobytes_;
    const bool is_empty = freed / kNano >= cached_;
    freed_nanobytes_ = is_empty ? 0 : static_cast<std::uint64_t>(freed % kNano);
    cached_ -= is_empty ? cached_ : static_cast<std::uint64_t>(freed / kNano);
  }
  path_free_ns_ = time_ns;
  path_free_fs_ = 0;
}

void Medium::replace(Script script, std::uint64_t now_ns) {
  rest_until(now_ns);
  script_ = std::move(script);
  cached_ = std::min(cached_, script_.write_cache ? script_.write_cache->size : 0);
}

}  // namespace filereel::model_drive

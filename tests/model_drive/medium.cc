#include "tests/model_drive/medium.h"

#include <algorithm>
#include <utility>

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kNano = 1'000'000'000;
constexpr std::uint64_t kFsPerNs = 1'000'000;
constexpr std::uint64_t kWhole = 1'000'000'000;  // factors are billionths
constexpr std::uint64_t kPermille = 1000;

using Wide = unsigned __int128;

// In femtoseconds, so that what is lost of each of many small transfers does not show in their sum.
// A rate of 0 is none. A factor makes no rate less than kLeastRate: 1 TiB takes less than 64 bits
// of nanoseconds.
Wide time_of(std::uint64_t bytes, std::uint64_t bytes_per_second, std::uint64_t factor = kWhole) {
  if (bytes_per_second == 0) return 0;
  const Wide rate = std::max(Wide{bytes_per_second} * factor, Wide{kLeastRate} * kWhole);
  return Wide{bytes} * (kNano * kFsPerNs) * kWhole / rate;
}

std::uint64_t whole_ns(Wide femtoseconds) {
  return static_cast<std::uint64_t>(femtoseconds / kFsPerNs);
}

std::uint64_t product(std::uint64_t factor, std::uint64_t other) {
  return static_cast<std::uint64_t>(Wide{factor} * other / kWhole);
}

BlockSet old_blocks_of(const Script& script) {
  BlockSet blocks(script.old_data.empty() ? 0 : script.size / kBlock);
  for (const OldData& old : script.old_data) {
    blocks.add(old.offset / kBlock, (old.offset + old.length) / kBlock);
  }
  return blocks;
}

// Bytes of the range that lie in blocks of the set.
std::uint64_t bytes_in(const BlockSet& set, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  const std::uint64_t first = begin / kBlock, last = (end - 1) / kBlock;
  const std::uint64_t before = begin % kBlock, after = kBlock - 1 - (end - 1) % kBlock;
  return set.count(first, last + 1) * kBlock - set.count(first, first + 1) * before -
         set.count(last, last + 1) * after;
}

}  // namespace

Medium::Medium(Script script, std::uint64_t now_ns)
    : script_(std::move(script)),
      path_free_ns_(now_ns),
      in_use_(script_.size / kBlock),
      old_(old_blocks_of(script_)) {
  if (script_.temperature) heat_.emplace(*script_.temperature, now_ns);
}

std::uint64_t Medium::transfer(Kind kind, std::uint64_t offset, std::uint64_t length,
                               std::uint64_t ready_ns) {
  if (kind == Kind::read) return read(offset, length, ready_ns);
  if (kind == Kind::write) return write(offset, length, ready_ns);
  // Blocks that it covers in part keep the rest.
  if (kind == Kind::discard) {
    const std::uint64_t first = (offset + kBlock - 1) / kBlock, end = (offset + length) / kBlock;
    in_use_.remove(first, end);
    old_.remove(first, end);
  }
  return ready_ns + whole_ns(time_of(length, script_.of(kind).bytes_per_second));
}

std::uint64_t Medium::read(std::uint64_t offset, std::uint64_t length, std::uint64_t ready_ns) {
  const std::uint64_t factor = throttle_factor(ready_ns);
  std::uint64_t others = length;
  Wide time = 0;
  for (const OldData& old : script_.old_data) {
    const std::uint64_t begin = std::max(offset, old.offset);
    const std::uint64_t bytes =
        bytes_in(old_, begin, std::min(offset + length, old.offset + old.length));
    time += time_of(bytes, old.bytes_per_second, factor);
    others -= bytes;
  }
  time += time_of(others, script_.of(Kind::read).bytes_per_second, factor);
  const std::uint64_t end = ready_ns + whole_ns(time);
  warm(length, ready_ns, end);
  return end;
}

std::uint64_t Medium::write(std::uint64_t offset, std::uint64_t length, std::uint64_t ready_ns) {
  std::uint64_t begin = ready_ns;
  if (script_.write_cache) {
    rest_until(ready_ns);
    begin = path_free_ns_;
  }
  const std::uint64_t factor = product(decay_factor(), throttle_factor(begin));
  const std::uint64_t first = offset / kBlock, last = (offset + length + kBlock - 1) / kBlock;
  in_use_.add(first, last);
  old_.remove(first, last);
  std::uint64_t end = 0;
  if (script_.write_cache) {
    end = write_through_cache(length, factor);
  } else {
    end = begin + whole_ns(time_of(length, script_.of(Kind::write).bytes_per_second, factor));
  }
  warm(length, begin, end);
  return end;
}

std::uint64_t Medium::write_through_cache(std::uint64_t length, std::uint64_t factor) {
  const WriteCache& cache = *script_.write_cache;
  const std::uint64_t fast = std::min(length, cache.size - cached_);
  cached_ += fast;
  const Wide end = path_free_fs_ + time_of(fast, cache.fast, factor) +
                   time_of(length - fast, cache.slow, factor);
  path_free_ns_ += whole_ns(end);
  path_free_fs_ = static_cast<std::uint64_t>(end % kFsPerNs);
  return path_free_ns_;
}

void Medium::rest_until(std::uint64_t time_ns) {
  if (time_ns <= path_free_ns_) return;
  if (script_.write_cache) {
    const Wide freed =
        Wide{script_.write_cache->refill} * (time_ns - path_free_ns_) + freed_nanobytes_;
    const bool is_empty = freed / kNano >= cached_;
    freed_nanobytes_ = is_empty ? 0 : static_cast<std::uint64_t>(freed % kNano);
    cached_ -= is_empty ? cached_ : static_cast<std::uint64_t>(freed / kNano);
  }
  path_free_ns_ = time_ns;
  path_free_fs_ = 0;
}

std::uint64_t Medium::decay_factor() const {
  if (!script_.decay) return kWhole;
  // Both in thousandths of a block.
  const std::uint64_t from = in_use_.blocks() * script_.decay->from;
  const std::uint64_t used = in_use_.count() * kPermille;
  if (used <= from) return kWhole;
  const std::uint64_t most_lost = kWhole / kPermille * (kPermille - script_.decay->to);
  const std::uint64_t range = in_use_.blocks() * kPermille - from;
  return kWhole - static_cast<std::uint64_t>(Wide{most_lost} * (used - from) / range);
}

std::uint64_t Medium::throttle_factor(std::uint64_t begin_ns) {
  if (!heat_ || !heat_->throttles(begin_ns)) return kWhole;
  return kWhole / kPermille * script_.temperature->throttle.to;
}

void Medium::warm(std::uint64_t bytes, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (heat_) heat_->add(bytes, begin_ns, end_ns);
}

void Medium::rest(std::uint64_t now_ns) {
  rest_until(now_ns);
  if (heat_) heat_->cool_until(now_ns);
}

void Medium::replace(Script script, std::uint64_t now_ns) {
  rest(now_ns);
  script_ = std::move(script);
  old_ = old_blocks_of(script_);
  cached_ = std::min(cached_, script_.write_cache ? script_.write_cache->size : 0);
  if (!script_.temperature) {
    heat_.reset();
  } else if (heat_) {
    heat_->replace(*script_.temperature);
  } else {
    heat_.emplace(*script_.temperature, now_ns);
  }
}

}  // namespace filereel::model_drive

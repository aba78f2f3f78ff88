#include "traces/workload/access_pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint32_t kWhole = 100'000;  // thousandths of a percent

// Suits direct I/O on all devices. Zones start and end at multiples of it.
constexpr std::uint64_t kPage = 4096;

std::uint64_t part_of(std::uint64_t bytes, double share) {
  if (share >= 1) return bytes;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * share) / kPage * kPage;
}

struct Zone {
  std::uint64_t begin, end;
};

// The part of the space used by thread `thread` of `threads`.
Zone zone_of(const AccessMix& mix, std::uint64_t space_bytes, std::uint32_t thread,
             std::uint32_t threads) {
  const std::uint64_t begin = part_of(space_bytes, mix.zone_begin);
  const std::uint64_t end = part_of(space_bytes, mix.zone_end);
  if (!mix.disjoint || threads < 2) return {begin, end};
  const std::uint64_t own = (end - begin) / threads / kPage * kPage;
  return {begin + thread * own, begin + (thread + 1) * own};
}

}  // namespace

std::uint64_t FileSpace::used(std::uint64_t size, bool direct) {
  return direct ? size - size % (size < kPage ? kSector : kPage) : size;
}

FileSpace::FileSpace(const std::vector<std::uint64_t>& sizes, bool direct) {
  starts_.reserve(sizes.size() + 1);
  starts_.push_back(0);
  for (const std::uint64_t size : sizes) starts_.push_back(starts_.back() + used(size, direct));
  const bool same = std::ranges::all_of(sizes, [&](std::uint64_t s) { return s == sizes.front(); });
  if (same && !sizes.empty()) same_size_ = used(sizes.front(), direct);
}

std::size_t FileSpace::search(std::uint64_t position) const {
  // The last file that starts there or earlier: empty files start with the next one.
  const auto after = std::ranges::upper_bound(starts_, position);
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

ZipfNumbers::ZipfNumbers(std::uint64_t count, double exponent)
    : count_(count), exponent_(exponent) {
  first_ = integral(1.5) - 1;
  last_ = integral(static_cast<double>(count) + 0.5);
  sure_ = 2 - inverse(integral(2.5) - portable_exp(-exponent * portable_log(2)));
}

// Integral of x^-exponent from 1 to x.
double ZipfNumbers::integral(double x) const {
  const double log = portable_log(x);
  const double power = 1 - exponent_;
  return std::abs(power) < 1e-9 ? log : (portable_exp(power * log) - 1) / power;
}

double ZipfNumbers::inverse(double x) const {
  const double power = 1 - exponent_;
  if (std::abs(power) < 1e-9) return portable_exp(x);
  return portable_exp(portable_log(std::max(1 + power * x, 1e-250)) / power);
}

std::uint64_t ZipfNumbers::draw(Random& random) const {
  for (;;) {
    const double u = last_ + random.uniform() * (first_ - last_);
    const double x = inverse(u);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(count_));
    if (k - x <= sure_ || u >= integral(k + 0.5) - portable_exp(-exponent_ * portable_log(k))) {
      return static_cast<std::uint64_t>(k) - 1;
    }
  }
}

Shuffle::Shuffle(std::uint64_t count, std::uint64_t seed) : count_(count) {
  const unsigned bits = std::max(2u, static_cast<unsigned>(std::bit_width(count - 1)));
  mask_ = bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  factor_ = mix_seed(seed, 1) | 1;  // odd numbers have an inverse modulo powers of two
  offset_ = mix_seed(seed, 2);
  shift_ = bits / 2 + 1;
}

std::uint64_t Shuffle::of(std::uint64_t number) const {
  // Each line is a permutation on `bits` bits. Results outside the range are mapped again: the walk
  // is along a cycle that starts inside, so it returns.
  do {
    number = (number * factor_ + offset_) & mask_;
    number ^= number >> shift_;
    number = (number * factor_) & mask_;
    number ^= number >> shift_;
  } while (number >= count_);
  return number;
}

void check_zone(const AccessMix& mix, std::uint64_t space_bytes, std::uint32_t threads) {
  const Zone zone = zone_of(mix, space_bytes, 0, threads);
  const std::uint64_t largest = std::ranges::max(mix.sizes, {}, &SizeShare::size).size;
  if (zone.end - zone.begin >= largest) return;
  throw Error(ErrorKind::unusable_input,
              fmt::format("accesses of {} do not fit in a zone of {}: use larger files (a larger "
                          "--scale), or fewer threads with separate zones",
                          format_binary_size(largest), format_size(zone.end - zone.begin)));
}

std::uint64_t bytes_of_pass(const AccessMix& mix, std::uint64_t space_bytes,
                            std::uint32_t threads) {
  const Zone zone = zone_of(mix, space_bytes, 0, threads);
  return (zone.end - zone.begin) * threads;
}

AccessPattern::AccessPattern(const AccessMix& mix, const FileSpace& space, std::uint32_t thread,
                             std::uint32_t threads, std::uint64_t seed, std::uint64_t spots_seed)
    : mix_(mix), space_(space), random_(seed) {
  const Zone zone = zone_of(mix, space.bytes(), thread, threads);
  begin_ = zone.begin;
  end_ = zone.end;
  next_ = begin_;
  std::uint32_t shares = 0;
  for (const SizeShare& share : mix.sizes) {
    const std::uint64_t align = mix.align > 0 ? mix.align : share.size;
    sizes_.push_back({.bytes = share.size,
                      .align = align,
                      .spots = (end_ - begin_ - share.size) / align + 1,
                      .share = shares += share.share});
  }
  if (mix.hot.kind == HotSpots::Kind::zipf) {
    spot_bytes_ = sizes_.front().align;
    const std::uint64_t spots = std::max<std::uint64_t>(1, (end_ - begin_) / spot_bytes_);
    zipf_ = ZipfNumbers(spots, mix.hot.parameter);
    shuffle_ = Shuffle(spots, spots_seed);
  }
}

const AccessPattern::Size& AccessPattern::draw_size() noexcept {
  if (sizes_.size() == 1) return sizes_.front();
  return *std::ranges::upper_bound(sizes_, random_.below(kWhole), {}, &Size::share);
}

std::uint64_t AccessPattern::draw_position(const Size& size) noexcept {
  const std::uint64_t align = size.align, spots = size.spots;
  switch (mix_.hot.kind) {
    case HotSpots::Kind::zipf: {
      const std::uint64_t at = shuffle_.of(zipf_.draw(random_)) * spot_bytes_;
      return begin_ + std::min(at / align, spots - 1) * align;
    }
    case HotSpots::Kind::normal:
      for (;;) {
        const double middle = static_cast<double>(spots) / 2;
        const double at = middle + static_cast<double>(spots) * mix_.hot.parameter *
                                       normal_quantile(random_.uniform());
        if (at >= 0 && at < static_cast<double>(spots)) {
          return begin_ + static_cast<std::uint64_t>(at) * align;
        }
      }
    default:
      return begin_ + random_.below(spots) * align;
  }
}

bool AccessPattern::draw_write() noexcept {
  bool write = false;
  if (mix_.ratio > 0) {
    write = static_cast<double>(reads_ + 1) / static_cast<double>(writes_ + 1) >= mix_.ratio;
  } else if (mix_.reads < kWhole) {
    write = mix_.reads == 0 || random_.below(kWhole) >= mix_.reads;
  }
  ++(write ? writes_ : reads_);
  return write;
}

Access AccessPattern::next() noexcept {
  Access access{};
  const Size& size = draw_size();
  const bool jumps =
      mix_.random > 0 && (mix_.random == kWhole || random_.below(kWhole) < mix_.random);
  std::uint64_t at = next_;
  if (jumps) at = draw_position(size);
  if (at >= end_) at = begin_;
  const std::size_t file = space_.file_at(at);
  const std::uint64_t end = std::min(space_.start(file) + space_.size(file), end_);
  if (jumps && at + size.bytes > end) {  // move back into the file, with the same alignment
    const std::uint64_t first = std::max(space_.start(file), begin_);
    at = first;
    if (end - first >= size.bytes) at += (end - first - size.bytes) / size.align * size.align;
  }
  access.is_write = draw_write();
  access.file = static_cast<std::uint32_t>(file);
  access.offset = at - space_.start(file);
  // Shorter at the end of a file, or in a small file.
  access.length = std::min(size.bytes, end - at);
  next_ = at + access.length;
  moved_ += access.length;
  if (moved_ >= end_ - begin_) {
    moved_ -= end_ - begin_;
    ++passes_;
  }
  return access;
}

}  // namespace filereel

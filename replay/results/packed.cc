#include "replay/results/packed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <zlib.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "filesets/system/varint.h"
#include "filesets/system/wording.h"
#include "replay/results/latency.h"
#include "replay/results/operation_classes.h"

namespace filereel {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

[[noreturn]] void refuse(std::string_view why) {
  throw Error(ErrorKind::unusable_input, fmt::format("invalid histogram or course: {}", why));
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(ByteSpan bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t some = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < some ? bytes[i + j] : 0U);
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= some ? kBase64[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

// By character; kNoDigit for those that are not base64.
constexpr std::uint8_t kNoDigit = 64;
constexpr auto kDigitsOfBase64 = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kBase64.size(); ++i) {
    digits[static_cast<unsigned char>(kBase64[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

Bytes from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  Bytes bytes(text.size() * 3 / 4, 0);
  std::uint32_t group = 0;
  unsigned bits = 0;
  std::size_t at = 0;
  for (const char c : text) {
    const std::uint8_t value = kDigitsOfBase64[static_cast<unsigned char>(c)];
    if (value == kNoDigit) refuse("not base64");
    group = (group << 6 | value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = static_cast<std::uint8_t>(group >> bits);
  }
  return bytes;
}

Bytes deflated(ByteSpan bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes out(size, 0);
  compress2(out.data(), &size, bytes.data(), bytes.size(), Z_BEST_COMPRESSION);
  out.resize(size);
  return out;
}

// Refuses more than `most` bytes.
Bytes inflated(ByteSpan bytes, std::size_t most) {
  // zlib expands by at most a factor of 1032.
  uLongf size = std::min(most, 1032 * bytes.size() + 64);
  const auto out = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  if (uncompress(out.get(), &size, bytes.data(), bytes.size()) != Z_OK) {
    refuse("not a zlib stream, or too long");
  }
  return {out.get(), out.get() + size};
}

template <class Number>
void append_big_endian(Bytes& bytes, Number value) {
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

template <class Number>
Number big_endian(ByteSpan bytes, std::size_t at) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value = static_cast<Number>(value << 8 | bytes[at + i]);
  }
  return value;
}

void append_number(Bytes& bytes, std::int64_t number) {
  write_varint<kHdrVarintBytes>(zigzag(static_cast<std::uint64_t>(number)),
                                [&bytes](std::uint8_t byte) { bytes.push_back(byte); });
}

std::int64_t next_number(ByteSpan bytes, std::size_t& at) {
  const auto next = [&] {
    if (at == bytes.size()) refuse("truncated number");
    return bytes[at++];
  };
  return static_cast<std::int64_t>(unzigzag(read_varint<kHdrVarintBytes>(next).value()));
}

// Leaves out trailing zeros.
Bytes coded(std::span<const std::uint64_t> numbers) {
  Bytes bytes;
  std::int64_t zeros = 0;
  for (const std::uint64_t number : numbers) {
    if (number == 0) {
      ++zeros;
      continue;
    }
    if (zeros > 0) append_number(bytes, zeros == 1 ? 0 : -zeros);
    zeros = 0;
    append_number(bytes, static_cast<std::int64_t>(std::min<std::uint64_t>(number, INT64_MAX)));
  }
  return bytes;
}

std::vector<std::uint64_t> decoded(ByteSpan bytes, std::size_t at, std::size_t most) {
  std::vector<std::uint64_t> numbers;
  while (at < bytes.size()) {
    const std::int64_t number = next_number(bytes, at);
    const std::uint64_t count = number < 0 ? 0 - static_cast<std::uint64_t>(number) : 1;
    if (count > most - numbers.size()) refuse("too many numbers");
    numbers.insert(numbers.end(), count, number < 0 ? 0 : static_cast<std::uint64_t>(number));
  }
  return numbers;
}

// The headers of HdrHistogram's encoding, V2. Outer: cookie, length of the compressed part. Inner:
// cookie, length of the counts, normalising index offset, significant digits, lowest and highest
// value, integer-to-double ratio.
constexpr std::uint32_t kCompressedCookie = 0x1c849314, kCookie = 0x1c849313;
constexpr std::size_t kOuterHeader = 8, kInnerHeader = 40;
constexpr std::uint32_t kDigits = 2;
constexpr std::uint64_t kLowest = 1, kHighest = (std::uint64_t{1} << Histogram::kTopBit) - 1;

// By bucket; without the empty ones at the end.
std::vector<std::uint64_t> bucket_counts(std::string_view text) {
  const Bytes outer = from_base64(text);
  if (outer.size() < kOuterHeader || big_endian<std::uint32_t>(outer, 0) != kCompressedCookie) {
    refuse("not an HdrHistogram (V2, compressed)");
  }
  if (big_endian<std::uint32_t>(outer, 4) != outer.size() - kOuterHeader) refuse("truncated");
  const Bytes inner = inflated(ByteSpan(outer).subspan(kOuterHeader),
                               kInnerHeader + kHdrVarintBytes * Histogram::kBuckets);
  if (inner.size() < kInnerHeader || big_endian<std::uint32_t>(inner, 0) != kCookie) {
    refuse("not an HdrHistogram (V2)");
  }
  if (big_endian<std::uint32_t>(inner, 4) != inner.size() - kInnerHeader) refuse("truncated");
  if (big_endian<std::uint32_t>(inner, 12) != kDigits ||
      big_endian<std::uint64_t>(inner, 16) != kLowest) {
    refuse("unsupported buckets; expected two significant digits from 1 ns");
  }
  return decoded(inner, kInnerHeader, Histogram::kBuckets);
}

std::uint64_t nanoseconds(double us) {
  constexpr double kMost = 1e18;
  return static_cast<std::uint64_t>(std::llround(std::clamp(us * 1e3, 0.0, kMost)));
}

}  // namespace

std::string pack_histogram(const Histogram& histogram) {
  std::vector<std::uint64_t> counts(histogram.buckets().begin(), histogram.buckets().end());
  const Bytes payload = coded(counts);
  Bytes inner;
  append_big_endian(inner, kCookie);
  append_big_endian(inner, static_cast<std::uint32_t>(payload.size()));
  append_big_endian(inner, std::uint32_t{0});
  append_big_endian(inner, kDigits);
  append_big_endian(inner, kLowest);
  append_big_endian(inner, kHighest);
  append_big_endian(inner, std::bit_cast<std::uint64_t>(1.0));
  inner.insert(inner.end(), payload.begin(), payload.end());
  const Bytes compressed = deflated(inner);
  Bytes outer;
  append_big_endian(outer, kCompressedCookie);
  append_big_endian(outer, static_cast<std::uint32_t>(compressed.size()));
  outer.insert(outer.end(), compressed.begin(), compressed.end());
  return to_base64(outer);
}

Histogram unpack_histogram(std::string_view text, std::uint64_t max, std::uint64_t total) {
  return Histogram::of(bucket_counts(text), max, total);
}

std::string pack_numbers(std::span<const std::uint64_t> numbers) {
  return to_base64(deflated(coded(numbers)));
}

std::vector<std::uint64_t> unpack_numbers(std::string_view text, std::size_t most) {
  return decoded(inflated(from_base64(text), kHdrVarintBytes * most), 0, most);
}

Histogram histogram_of(const SizeLatency& latency) {
  return unpack_histogram(latency.histogram, nanoseconds(latency.max_us),
                          nanoseconds(latency.total_us));
}

Histogram histogram_of(const LatencySummary& latency) {
  if (latency.histogram.empty()) {
    Histogram all;
    for (const SizeLatency& of_size : latency.sizes) all.merge(histogram_of(of_size));
    return all;
  }
  return unpack_histogram(latency.histogram, nanoseconds(latency.max_us),
                          nanoseconds(latency.total_us));
}

void check_histograms(const LatencySummary& latency) {
  if (!latency.histogram.empty()) {
    (void)bucket_counts(latency.histogram);
    return;
  }
  for (const SizeLatency& of_size : latency.sizes) (void)bucket_counts(of_size.histogram);
}

std::string size_class_text(const std::string& kind, std::uint64_t up_to) {
  constexpr std::uint64_t kLargest = most_of_class(kSizeClasses - 2);
  return up_to > 0 ? fmt::format("{} up to {}", kind, format_binary_size(up_to))
                   : fmt::format("{} over {}", kind, format_binary_size(kLargest));
}

Course pack_course(const TimeGrid& grid) {
  std::vector<std::uint64_t> operations, bytes, syncs;
  for (const TimeGrid::Interval& interval : grid.intervals()) {
    operations.insert(operations.end(), interval.operations.begin(), interval.operations.end());
    bytes.push_back(interval.bytes);
    syncs.push_back(interval.syncs);
  }
  return {.interval_s = static_cast<double>(grid.width_ns()) * 1e-9,
          .intervals = static_cast<std::uint32_t>(grid.intervals().size()),
          .operations = pack_numbers(operations),
          .bytes = pack_numbers(bytes),
          .syncs = pack_numbers(syncs)};
}

TimeGrid unpack_course(const Course& course) {
  if (course.intervals > TimeGrid::kIntervals) {
    refuse(fmt::format("more than {}", counted(TimeGrid::kIntervals, "interval")));
  }
  const auto numbers = [&](const std::string& text, std::size_t columns) {
    std::vector<std::uint64_t> list = unpack_numbers(text, columns * course.intervals);
    list.resize(columns * course.intervals);
    return list;
  };
  const auto operations = numbers(course.operations, TimeGrid::kBins);
  const auto bytes = numbers(course.bytes, 1), syncs = numbers(course.syncs, 1);
  std::vector<TimeGrid::Interval> intervals(course.intervals);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    intervals[i].bytes = bytes[i];
    intervals[i].syncs = syncs[i];
    std::copy_n(&operations[i * TimeGrid::kBins], TimeGrid::kBins, intervals[i].operations.begin());
  }
  const std::uint64_t width = nanoseconds(course.interval_s * 1e6);
  if (!TimeGrid::is_width(width)) refuse("invalid interval width");
  return TimeGrid::of(width, intervals);
}

std::vector<std::uint64_t> unpack_rates(const RateSeries& rates) {
  constexpr std::uint64_t kMost = 10'000'000;
  constexpr double kShortest = 0.01;
  if (!(rates.interval_s >= kShortest)) refuse("invalid interval width");
  if (rates.intervals > kMost) refuse(fmt::format("more than {}", counted(kMost, "interval")));
  std::vector<std::uint64_t> bytes = unpack_numbers(rates.bytes, rates.intervals);
  bytes.resize(rates.intervals);
  return bytes;
}

ClientCourse unpack_client_course(const ClientFigures& client) {
  const auto numbers = [](const std::string& text) {
    return text.empty() ? std::vector<std::uint64_t>() : unpack_numbers(text, TimeGrid::kIntervals);
  };
  ClientCourse course{numbers(client.bytes_course), numbers(client.operations_course)};
  const std::size_t length = std::max(course.bytes.size(), course.operations.size());
  course.bytes.resize(length);
  course.operations.resize(length);
  if (length > 0 && !TimeGrid::is_width(nanoseconds(client.interval_s * 1e6))) {
    refuse("invalid interval width");
  }
  return course;
}

LatencySummary summarise_with_histogram(const Histogram& times) {
  LatencySummary summary = summarise(times);
  summary.histogram = pack_histogram(times);
  return summary;
}

}  // namespace filereel

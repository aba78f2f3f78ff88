#include "filesets/specification/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMinFiles = 16;  // enough to show how a file system treats small files

[[noreturn]] void fail_too_large() {
  throw Error(ErrorKind::unusable_input,
              "the scaled file set is larger than 2^63 - 1 bytes; use a smaller scale");
}

// Moves both ends of each hole to their positions in the scaled file.
void scale_holes(Entry& entry, double scale) {
  std::vector<Hole> scaled;
  for (const Hole& hole : entry.holes) {
    const std::uint64_t begin = std::min(scale_bytes(hole.offset, scale), entry.size);
    const std::uint64_t end = std::min(scale_bytes(hole.offset + hole.length, scale), entry.size);
    if (end > begin) scaled.push_back({begin, end - begin});
  }
  entry.holes = std::move(scaled);
}

}  // namespace

void check_scale(double scale) {
  if (!(scale > 0 && scale <= kMaxScale)) {
    throw Error(ErrorKind::usage,
                fmt::format("invalid scale {}: expected a number above 0 and up to {}, such as 0.1",
                            scale, kMaxScale));
  }
}

std::uint64_t scale_bytes(std::uint64_t bytes, double scale) {
  check_scale(scale);
  // scale = mantissa * 2^-shift with an integer mantissa below 2^53, so that the integer product is
  // exact.
  constexpr int kMantissaBits = 53;
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, kMantissaBits));
  const int shift = kMantissaBits - exponent;  // at least 33, because kMaxScale < 2^20
  if (shift > 120) return 0;                   // the product has at most 117 bits
  const unsigned __int128 product = static_cast<unsigned __int128>(bytes) * mantissa;
  const unsigned __int128 half = static_cast<unsigned __int128>(1) << (shift - 1);
  const unsigned __int128 result = (product + half) >> shift;
  if (result > INT64_MAX) fail_too_large();
  return static_cast<std::uint64_t>(result);
}

std::uint64_t scale_count(std::uint64_t count, double scale) {
  return std::max(std::min(count, kMinFiles), scale_bytes(count, scale));
}

void scale_entries(EntryList& entries, std::size_t first, double scale) {
  check_scale(scale);
  if (scale == 1) return;
  // Rounding the running sum instead of each size makes the sizes add up exactly.
  std::uint64_t sum = 0;
  std::uint64_t scaled_sum = 0;
  for (std::size_t i = first; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::file) continue;
    if (entries.file_size(i) > INT64_MAX - sum) fail_too_large();
    sum += entries.file_size(i);
    const std::uint64_t end = scale_bytes(sum, scale);
    entries.change(i, [&](Entry& entry) {
      entry.size = end - scaled_sum;
      scale_holes(entry, scale);
    });
    scaled_sum = end;
  }
}

void scale_file_set(FileSet& set, double scale) {
  scale_entries(set.entries, 0, scale);
}

}  // namespace filereel

#include "filesets/content/content.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <doctest/doctest.h>
#include <xxhash.h>
#include <zstd.h>

namespace {

using filereel::Content;
using filereel::Entry;

constexpr std::uint64_t kSeed = 20240607;
constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kChunk = 64 * kKiB;

using Bytes = std::vector<std::byte>;
using Permilles = std::vector<std::uint16_t>;

Bytes filled(const Content& content, std::size_t size, std::uint64_t offset = 0,
             std::uint64_t seed = kSeed) {
  Bytes out(size);
  filereel::fill_content(seed, content, offset, out);
  return out;
}

// Size after compression with zstd level 1, divided by the size before.
double compressed_share(const Bytes& bytes) {
  std::vector<char> out(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1);
  REQUIRE(ZSTD_isError(size) == 0);
  return static_cast<double>(size) / static_cast<double>(bytes.size());
}

std::uint64_t hash(const Bytes& bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::vector<Content> kinds_of_content() {
  return {{1, 1000, 0}, {1, 500, 0}, {1, 37, 0}, {1, 0, 0}, {1, 1000, 600}, {1, 730, 1000}};
}

}  // namespace

TEST_CASE("the same bytes come out whatever the offset and the length of a call") {
  for (const Content& content : kinds_of_content()) {
    CAPTURE(content.compressed_permille);
    CAPTURE(content.duplicate_permille);
    const Bytes whole = filled(content, 3 * kChunk + 777);
    for (const std::size_t length : {1UL, 63UL, 255UL, 4095UL, 4096UL, 4097UL, 65537UL}) {
      for (const std::size_t offset :
           {0UL, 1UL, 255UL, 4095UL, 4096UL, 65535UL, 65536UL, 130001UL}) {
        CAPTURE(length);
        CAPTURE(offset);
        const Bytes part = filled(content, length, offset);
        CHECK(std::ranges::equal(part, std::span(whole).subspan(offset, length)));
      }
    }
  }
}

TEST_CASE("a content made in small odd pieces equals the content made at once") {
  const Content content{9, 420, 300};
  const Bytes whole = filled(content, 2 * kChunk + 99);
  Bytes pieces(whole.size());
  std::size_t length = 1;
  for (std::size_t at = 0; at < pieces.size(); length = length * 7 % 5003 + 1) {
    const std::size_t step = std::min(length, pieces.size() - at);
    filereel::fill_content(kSeed, content, at, std::span(pieces).subspan(at, step));
    at += step;
  }
  CHECK(pieces == whole);
}

TEST_CASE("the bytes of a content never change from one version to the next") {
  // Reels and file sets hold only seeds and keys: other bytes would break --verify content.
  CHECK(hash(filled({1, 1000, 0}, kMiB)) == 10751092530951456592U);
  CHECK(hash(filled({1, 500, 0}, kMiB)) == 11457198000700815863U);
  CHECK(hash(filled({1, 1000, 500}, kMiB)) == 7566407507650959518U);
}

TEST_CASE("seed, key and position all change the bytes") {
  const Bytes base = filled({1, 1000, 0}, 4096);
  CHECK(base != filled({2, 1000, 0}, 4096));
  CHECK(base != filled({1, 1000, 0}, 4096, 0, kSeed + 1));
  CHECK(base != filled({1, 1000, 0}, 4096, 4096));
  CHECK(base != filled({1, 1000, 0}, 4096, kChunk));
  CHECK(base == filled({1, 1000, 0}, 4096));
}

TEST_CASE("incompressible content looks random") {
  const Bytes bytes = filled({3, 1000, 0}, kMiB);
  std::vector<double> counts(256);
  for (const std::byte b : bytes) ++counts[std::to_integer<std::size_t>(b)];
  const double expected = static_cast<double>(bytes.size()) / 256;
  double chi_square = 0;
  for (const double count : counts)
    chi_square += (count - expected) * (count - expected) / expected;
  // 255 degrees of freedom: mean 255, standard deviation 22.6; five of them.
  CHECK(chi_square > 142);
  CHECK(chi_square < 368);
}

TEST_CASE("zstd compresses a file to the share that its content asks for") {
  for (int permille = 50; permille <= 1000; permille += 50) {
    const auto target = static_cast<std::uint16_t>(permille);
    const double share = permille / 1000.0;
    for (const std::size_t size : {64 * kKiB, kMiB, 16 * kMiB}) {
      CAPTURE(permille);
      CAPTURE(size);
      CHECK(std::abs(compressed_share(filled({5, target, 0}, size)) - share) <= 0.05 * share);
    }
  }
}

TEST_CASE("very compressible files come within a hundredth of their target") {
  for (const std::uint16_t permille : Permilles{0, 1, 5, 10, 20, 30, 40}) {
    for (const std::size_t size : {64 * kKiB, kMiB}) {
      CAPTURE(permille);
      CAPTURE(size);
      CHECK(std::abs(compressed_share(filled({5, permille, 0}, size)) - permille / 1000.0) <= 0.01);
    }
  }
}

TEST_CASE("files of a few KiB and single blocks compress nearly as large files do") {
  for (const std::uint16_t permille :
       Permilles{50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}) {
    for (const std::size_t size : {4096UL, 5000UL, 6000UL, 7777UL, 10000UL}) {
      CAPTURE(permille);
      CAPTURE(size);
      CHECK(std::abs(compressed_share(filled({5, permille, 0}, size)) - permille / 1000.0) <= 0.03);
    }
  }
}

TEST_CASE("duplication leaves the compressibility of a file as it is") {
  for (const std::uint16_t permille : Permilles{100, 500, 1000}) {
    for (const std::uint16_t duplicates : Permilles{300, 1000}) {
      CAPTURE(permille);
      CAPTURE(duplicates);
      const double share = permille / 1000.0;
      const Bytes bytes = filled({6, permille, duplicates}, 16 * kMiB);
      CHECK(std::abs(compressed_share(bytes) - share) <= 0.05 * share);
    }
  }
}

TEST_CASE("the share of duplicate chunks in a large set meets its target") {
  constexpr std::size_t kFiles = 100;
  constexpr std::size_t kChunksEach = 64;
  for (const std::uint16_t target : Permilles{0, 100, 250, 500, 900, 1000}) {
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t key = 0; key < kFiles; ++key) {
      for (std::size_t chunk = 0; chunk < kChunksEach; ++chunk) {
        // The first block decides: chunks are made from their first block on.
        ++seen[hash(filled({key, 1000, target}, 4096, chunk * kChunk))];
      }
    }
    double duplicates = 0;
    for (const auto& [value, count] : seen) duplicates += count > 1 ? count : 0;
    CAPTURE(target);
    // Standard deviation at 6400 chunks: at most 0.006; four of them.
    CHECK(std::abs(duplicates / (kFiles * kChunksEach) - target / 1000.0) <= 0.025);
  }
}

TEST_CASE("duplicate chunks are equal as a whole, also between files") {
  const Bytes first = filled({1, 640, 1000}, 64 * kChunk);
  const Bytes second = filled({2, 640, 1000}, 64 * kChunk);
  const auto chunks_of = [](const Bytes& bytes) {
    std::vector<std::uint64_t> hashes;
    for (std::size_t at = 0; at < bytes.size(); at += kChunk) {
      hashes.push_back(XXH3_64bits(bytes.data() + at, kChunk));
    }
    std::ranges::sort(hashes);
    return hashes;
  };
  CHECK(chunks_of(first) == chunks_of(second));
}

TEST_CASE("holes read as zeros and the bytes around them stay as they are") {
  Entry entry;
  entry.content = {8, 1000, 0};
  entry.size = 100'000;
  entry.holes = {{0, 10}, {4000, 200}, {4200, 1}, {70'000, 30'000}};
  Bytes expected = filled(entry.content, entry.size);
  for (const filereel::Hole& hole : entry.holes) {
    std::ranges::fill(std::span(expected).subspan(hole.offset, hole.length), std::byte{0});
  }
  for (const std::size_t offset :
       {0UL, 9UL, 10UL, 3999UL, 4100UL, 4200UL, 4201UL, 69'999UL, 80'000UL}) {
    for (const std::size_t length : {1UL, 2UL, 300UL, 20'000UL}) {
      CAPTURE(offset);
      CAPTURE(length);
      Bytes out(length, std::byte{0xff});
      filereel::fill_file(kSeed, entry.data(), offset, out);
      CHECK(std::ranges::equal(out, std::span(expected).subspan(offset, length)));
    }
  }
}

TEST_CASE("the first difference is found at its very position") {
  Entry entry;
  entry.content = {4, 700, 200};
  entry.size = 50'000;
  entry.holes = {{8192, 4096}};
  constexpr std::uint64_t kOffset = 1234;
  Bytes data(30'000);
  filereel::fill_file(kSeed, entry.data(), kOffset, data);
  CHECK(filereel::first_difference(kSeed, entry.data(), kOffset, data) == data.size());
  for (const std::size_t at : {0UL, 1UL, 2861UL, 2862UL, 7000UL, 29'999UL}) {
    CAPTURE(at);
    data[at] ^= std::byte{1};
    CHECK(filereel::first_difference(kSeed, entry.data(), kOffset, data) == at);
    data[at] ^= std::byte{1};
  }
  CHECK(filereel::first_difference(kSeed, entry.data(), kOffset, {}) == 0);
}

#include "filesets/content/content.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <xxhash.h>

#include "filesets/system/random.h"
#include "filesets/system/search.h"

// One build runs on every x86-64 processor and uses the widest available vectors. An ifunc resolver
// selects them, which needs glibc and runs before a sanitizer's runtime is ready. clang (used here
// only for fuzzing) gets the plain function.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FILEREEL_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FILEREEL_WIDEST_VECTORS
#endif

namespace filereel {
namespace {

constexpr std::size_t kBlockBytes = 4096;       // seeded separately; the unit that devices compress
constexpr std::size_t kChunkBytes = 64 * 1024;  // the unit of duplication (Content)
constexpr std::uint64_t kPoolChunks = 64;       // number of distinct chunks for duplicates
constexpr std::size_t kLanes = 8;

// A compressible block consists of units. Each starts with random bytes and repeats them. Units far
// smaller than a block let small files and the ends of files meet the target as well.
constexpr std::size_t kUnitBytes = 256;
constexpr std::size_t kBlockUnits = kBlockBytes / kUnitBytes;

// Compressed size of the repetitions in one block for zstd 1.5.4 at level 1, in addition to the
// random bytes. Measured: 0.9 to 1.9 bytes per unit in files of 64 KiB to 16 MiB, for targets of 50
// to 970 permille.
constexpr std::size_t kRepetitionCost = 21;

// At this target and above zstd gains too little and stores a block uncompressed.
constexpr unsigned kIncompressiblePermille = 985;

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, splitmix64's step
constexpr std::uint64_t kPoolSalt = 0x5851f42d4c957f2d;
constexpr std::uint64_t kShareSalt = 0x2545f4914f6cdd1d;

using Lanes = std::uint64_t __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));

// The output function of splitmix64, as in Random (filesets/system/random.h), but inline so that
// the compiler can vectorise it.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Writes the first `steps` * kStep bytes of block `block` of the stream `stream`: 16 lanes of
// 64-bit xorshift with the triple 13, 7, 17 (Marsaglia 2003, "Xorshift RNGs"). Each block is seeded
// with the next 16 outputs of splitmix64. Two groups of lanes hide the latency of each other's
// instructions.
constexpr std::size_t kStep = 2 * sizeof(Lanes);
[[gnu::always_inline]] inline void random_bytes(std::uint64_t stream, std::uint64_t block,
                                                std::size_t steps, std::byte* out) {
  std::uint64_t state = stream + block * 2 * kLanes * kGolden;
  Lanes even, odd;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t first = mix(state += kGolden);
    const std::uint64_t second = mix(state += kGolden);
    even[lane] = first != 0 ? first : kGolden;  // zero is a fixed point of xorshift
    odd[lane] = second != 0 ? second : kGolden;
  }
  for (std::size_t step = 0; step < steps; ++step) {
    even ^= even << 13;
    odd ^= odd << 13;
    even ^= even >> 7;
    odd ^= odd >> 7;
    even ^= even << 17;
    odd ^= odd << 17;
    std::memcpy(out + step * kStep, &even, sizeof(Lanes));
    std::memcpy(out + step * kStep + sizeof(Lanes), &odd, sizeof(Lanes));
  }
}

// Writes `count` incompressible blocks, starting with block `first` of the stream.
FILEREEL_WIDEST_VECTORS
void random_blocks(std::uint64_t stream, std::uint64_t first, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    random_bytes(stream, first + i, kBlockBytes / kStep, out + i * kBlockBytes);
  }
}

// Number of random bytes per block: kBlockBytes for incompressible content, 0 for zeros.
std::size_t random_bytes_per_block(const Content& content) {
  const unsigned permille = content.compressed_permille;
  if (permille == 0) return 0;
  if (permille >= kIncompressiblePermille) return kBlockBytes;
  const std::size_t target = permille * kBlockBytes / 1000;
  // At least one random byte per unit: the byte that the unit repeats.
  return std::max(kBlockUnits, target - std::min(target, kRepetitionCost));
}

constexpr std::size_t kStride = 32;
[[gnu::always_inline]] inline void copy_stride(std::byte* to, const std::byte* from) {
  using Stride = std::uint64_t __attribute__((vector_size(kStride)));
  Stride bytes;
  std::memcpy(&bytes, from, kStride);
  std::memcpy(to, &bytes, kStride);
}

// Copies `length` bytes, rounded up to whole strides.
[[gnu::always_inline]] inline void copy_strides(std::byte* to, const std::byte* from,
                                                std::size_t length) {
  for (std::size_t at = 0; at < length; at += kStride) copy_stride(to + at, from + at);
}

// The number of random bytes of a compressible block that precede those of `unit`.
constexpr std::size_t random_before(std::size_t unit, std::size_t random) {
  return unit * random / kBlockUnits;
}

// Units [`first`, `end`) of a compressible block: `random` bytes of the block (at least one per
// unit) are random, the rest repeats them. The random bytes are distributed evenly, so that units
// differ by at most one byte. The repetition distance is constant, because each new distance would
// cost zstd bytes. Writes up to one stride past the last unit. `source` holds the random bytes up
// to those of that unit, and one more stride of any bytes; `out` is the block.
//
// The function never reads bytes that it has just written. A load that spans two recent stores has
// to wait for both, which makes the obvious loop several times slower.
[[gnu::always_inline]] inline void repeating_units(const std::byte* source, std::size_t random,
                                                   std::size_t first, std::size_t end,
                                                   std::byte* out) {
  const std::size_t distance = random / kBlockUnits;
  // The repeated bytes of each unit, themselves repeated to the length of a stride.
  std::byte pattern[kBlockUnits][3 * kStride];
  std::size_t length = distance;
  for (std::size_t unit = first; unit < end && distance < kStride; ++unit) {
    copy_stride(pattern[unit], source + random_before(unit + 1, random) - distance);
  }
  for (; length < kStride; length *= 2) {
    for (std::size_t unit = first; unit < end; ++unit) {
      copy_stride(pattern[unit] + length, pattern[unit]);
    }
  }
  for (std::size_t unit = first; unit < end; ++unit) {
    const std::size_t begin = random_before(unit, random);
    const std::byte* const last = source + random_before(unit + 1, random) - distance;
    const std::size_t own = random_before(unit + 1, random) - begin;
    const std::byte* const repeated = distance < kStride ? pattern[unit] : last;
    std::byte* const to = out + unit * kUnitBytes;
    copy_strides(to, source + begin, own);
    for (std::size_t have = own; have < kUnitBytes; have += length) {
      copy_strides(to + have, repeated, std::min(length, kUnitBytes - have));
    }
  }
}

// The random bytes of a compressible block, by whole steps, and one more stride.
using RandomSource = std::byte[kBlockBytes + kStep];
constexpr std::size_t steps_of(std::size_t bytes) {
  return (bytes + kStep - 1) / kStep;
}
[[gnu::always_inline]] inline void fill_source(std::uint64_t stream, std::uint64_t block,
                                               std::size_t steps, std::byte* source) {
  random_bytes(stream, block, steps, source);
  std::memset(source + steps * kStep, 0, kStride);
}

// Writes `count` compressible blocks, starting with block `first` of the stream.
FILEREEL_WIDEST_VECTORS
void repeating_blocks(std::uint64_t stream, std::size_t random, std::uint64_t first,
                      std::size_t count, std::byte* out) {
  alignas(Lanes) RandomSource source;
  alignas(Lanes) std::byte last[kBlockBytes + kStride];  // `out` has no room for the extra stride
  for (std::size_t i = 0; i < count; ++i) {
    fill_source(stream, first + i, steps_of(random), source);
    std::byte* const to = out + i * kBlockBytes;
    const bool is_last = i + 1 == count;
    repeating_units(source, random, 0, kBlockUnits, is_last ? last : to);
    if (is_last) std::memcpy(to, last, kBlockBytes);
  }
}

void fill_blocks(std::uint64_t stream, std::size_t random, std::uint64_t first, std::size_t count,
                 std::byte* out) {
  if (random == kBlockBytes) {
    random_blocks(stream, first, count, out);
  } else {
    repeating_blocks(stream, random, first, count, out);
  }
}

// Writes bytes [`begin`, `begin` + out.size()) of one block. A small part costs less than the
// block, because only the random bytes up to its end are computed.
FILEREEL_WIDEST_VECTORS
void fill_in_block(std::uint64_t stream, std::size_t random, std::uint64_t block, std::size_t begin,
                   std::span<std::byte> out) {
  alignas(Lanes) std::byte bytes[kBlockBytes + kStride];
  const std::size_t end = begin + out.size();
  if (random == kBlockBytes) {
    random_bytes(stream, block, steps_of(end), bytes);
  } else {
    const std::size_t end_unit = (end + kUnitBytes - 1) / kUnitBytes;
    alignas(Lanes) RandomSource source;
    fill_source(stream, block, steps_of(random_before(end_unit, random)), source);
    repeating_units(source, random, begin / kUnitBytes, end_unit, bytes);
  }
  std::memcpy(out.data(), bytes + begin, out.size());
}

// The random stream of this chunk: its own, or one of the pool of duplicates shared by all contents
// of the set.
std::uint64_t stream_of(std::uint64_t set_seed, const Content& content, std::uint64_t chunk) {
  if (content.duplicate_permille != 0) {
    const std::uint64_t shares = mix_seed(set_seed ^ kShareSalt, content.key);
    if (mix_seed(shares, chunk) % 1000 < content.duplicate_permille) {
      // Pool chunks are used in turn, so that within a file a duplicate is 4 MiB away. Inside a
      // compressor's window (512 KiB for zstd level 1) it would count as compressible.
      return mix_seed(set_seed ^ kPoolSalt, (shares + chunk) % kPoolChunks);
    }
  }
  return mix_seed(mix_seed(set_seed, content.key), chunk);
}

// Writes bytes [begin, begin + out.size()) of one chunk, within its end.
void fill_in_chunk(std::uint64_t stream, std::size_t random, std::size_t begin,
                   std::span<std::byte> out) {
  while (!out.empty()) {
    const std::size_t in_block = begin % kBlockBytes;
    const std::size_t whole = out.size() / kBlockBytes;
    std::size_t done = 0;
    if (in_block == 0 && whole != 0) {
      fill_blocks(stream, random, begin / kBlockBytes, whole, out.data());
      done = whole * kBlockBytes;
    } else {
      done = std::min(out.size(), kBlockBytes - in_block);
      fill_in_block(stream, random, begin / kBlockBytes, in_block, out.first(done));
    }
    begin += done;
    out = out.subspan(done);
  }
}

}  // namespace

void fill_content(std::uint64_t set_seed, const Content& content, std::uint64_t offset,
                  std::span<std::byte> out) noexcept {
  const std::size_t random = random_bytes_per_block(content);
  if (random == 0) {
    std::ranges::fill(out, std::byte{0});
    return;
  }
  while (!out.empty()) {
    const std::size_t in_chunk = offset % kChunkBytes;
    const std::size_t length = std::min(out.size(), kChunkBytes - in_chunk);
    const std::uint64_t stream = stream_of(set_seed, content, offset / kChunkBytes);
    fill_in_chunk(stream, random, in_chunk, out.first(length));
    offset += length;
    out = out.subspan(length);
  }
}

void fill_file(std::uint64_t set_seed, const FileContent& file, std::uint64_t offset,
               std::span<std::byte> out) noexcept {
  // The first hole that ends after `offset`.
  auto hole = std::ranges::upper_bound(file.holes, offset, {},
                                       [](const Hole& h) { return h.offset + h.length; });
  while (!out.empty()) {
    std::size_t length = out.size();
    const bool in_hole = hole != file.holes.end() && hole->offset <= offset;
    if (in_hole) {
      length = std::min<std::uint64_t>(length, hole->offset + hole->length - offset);
      std::ranges::fill(out.first(length), std::byte{0});
      ++hole;
    } else {
      if (hole != file.holes.end()) {
        length = std::min<std::uint64_t>(length, hole->offset - offset);
      }
      fill_content(set_seed, file.content, offset, out.first(length));
    }
    offset += length;
    out = out.subspan(length);
  }
}

std::size_t first_difference(std::uint64_t set_seed, const FileContent& file, std::uint64_t offset,
                             std::span<const std::byte> data) noexcept {
  std::array<std::byte, kBlockBytes> expected;
  std::size_t done = 0;
  while (done < data.size()) {
    // Up to the next block boundary, so that each block is generated once.
    const std::size_t length =
        std::min(data.size() - done, kBlockBytes - (offset + done) % kBlockBytes);
    const auto wanted = std::span(expected).first(length);
    const auto found = data.subspan(done, length);
    fill_file(set_seed, file, offset + done, wanted);
    if (std::memcmp(wanted.data(), found.data(), length) != 0) {
      return done +
             static_cast<std::size_t>(std::ranges::mismatch(wanted, found).in1 - wanted.begin());
    }
    done += length;
  }
  return data.size();
}

namespace {

// "Measured" means: 98 to 150 files of 1 kB to 20 MB of a Debian 12 system, each compressed
// separately by zstd -1; total compressed size divided by total original size. Content that is
// already compressed does not compress further.
constexpr ContentKind kKinds[] = {
    {"mixed", 600, "assumed; between programs and compressed media", " "},
    {"text", 365, "measured: *.txt below /usr/share",
     " txt log ini inf cfg conf csv md me rtf nfo lst bat reg "},
    {"source", 200, "measured: *.h 159, *.py 266", " c cc cpp cxx h hpp py pl js java cs rs go s "},
    {"html", 222, "measured: *.html below /usr/share", " htm html xml xhtml css svg "},
    {"executable", 390, "measured: /usr/bin 379, shared libraries 398",
     " exe dll so o obj lib sys ocx drv cpl scr com bin msi "},
    {"document", 500, "assumed; old Word and Excel files, help files, fonts, PDF",
     " doc xls ppt hlp chm pdf ttf ps mdb wri "},
    {"database", 350, "assumed; half-filled pages",
     " db sqlite dat ibd frm myd myi mdf ldb sst pst pnf "},
    {"bitmap", 450, "assumed; uncompressed images and audio", " bmp ico cur wav tif tiff "},
    {"image", 990, "assumed; compressed images", " gif png webp heic "},
    {"jpg", 995, "assumed", " jpg jpeg "},
    {"audio", 990, "assumed; compressed audio", " ogg aac m4a wma flac opus "},
    {"mp3", 990, "assumed", " mp3 "},
    {"video", 1000, "assumed; compressed video", " avi mpg mpeg mp4 mkv mov wmv webm "},
    {"archive", 1000, "assumed; zip, cab and other compressed archives",
     " zip cab rar gz bz2 xz zst 7z tgz jar deb rpm docx xlsx pptx odt "},
    {"iso", 1000, "assumed; installation discs contain compressed archives", " iso img nrg vhd "},
    {"random", 1000, "by definition", " "},
    {"zeros", 0, "by definition", " "},
};

}  // namespace

std::span<const ContentKind> content_kinds() {
  return kKinds;
}

const ContentKind* find_content_kind(std::string_view name) {
  return find_or_null(kKinds, name, &ContentKind::name);
}

const ContentKind& content_kind_of_extension(std::string_view extension) {
  std::string wanted = " ";
  for (const char c : extension) {
    wanted += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  wanted += ' ';
  if (wanted.size() > 2) {
    for (const ContentKind& kind : kKinds) {
      if (kind.extensions.find(wanted) != std::string_view::npos) return kind;
    }
  }
  return kKinds[0];
}

std::string_view extension_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return name.substr(dot + 1);
}

std::string content_kind_names() {
  std::string names;
  for (const ContentKind& kind : kKinds) {
    if (!names.empty()) names += ", ";
    names += kind.name;
  }
  return names;
}

std::uint64_t content_key(std::string_view path) {
  return XXH3_64bits(path.data(), path.size());
}

}  // namespace filereel

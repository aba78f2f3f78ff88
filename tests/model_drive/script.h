// What a model drive does, as its script says: plain data, and its reader. README.md describes the
// language. To add to it, extend the data here and the reader of that part in script.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace filereel::model_drive {

enum class Kind : std::uint8_t { read, write, flush, discard };
inline constexpr std::array<std::string_view, 4> kKindNames = {"read", "write", "flush", "discard"};

// No single time in a script is longer: sums of them stay within 64 bits.
inline constexpr std::uint64_t kLongestNs = 3600'000'000'000;

struct Fixed {
  std::uint64_t ns = 0;
};
// exp(N(ln median, sigma^2)), at most kLongestNs.
struct Lognormal {
  std::uint64_t median_ns = 0;
  double sigma = 0;
};
// From min to max, both included.
struct Uniform {
  std::uint64_t min_ns = 0, max_ns = 0;
};
using Distribution = std::variant<Fixed, Lognormal, Uniform>;

// The latency of requests of up to so many bytes.
struct SizeClass {
  std::uint64_t up_to = UINT64_MAX;
  Distribution latency;
};

struct KindScript {
  std::vector<SizeClass> latency = {SizeClass{}};  // ascending; the last is for all that is larger
  std::uint64_t bytes_per_second = 0;              // 0: the size costs nothing
};

// When a stall comes. The first two choose operations, the others times.
struct Share {
  double of = 0;  // 0 to 1
};
struct Every {
  std::uint64_t count = 1;  // of each kind
};
struct At {
  std::vector<std::uint64_t> ns;  // since the script is in force, ascending
};
struct Period {
  std::uint64_t ns = 0;  // at 1, 2, 3 … times this
};

struct Stall {
  std::array<bool, kKindNames.size()> kinds{};
  std::uint64_t length_ns = 0;
  std::variant<Share, Every, At, Period> when;
};
inline constexpr std::size_t kMaxStalls = 64;  // a set of them is one word

inline constexpr std::uint64_t kBlock = 4096;  // bytes

// --- The medium: what transfers depend on but their own kind and size.

// No rate in a script is less, in bytes per second.
inline constexpr std::uint64_t kLeastRate = 1000;

// Writes share one path. Bytes that find a free one in the cache come at the rate `fast`, others at
// `slow`. Rates are bytes per second.
struct WriteCache {
  std::uint64_t size = 0;  // bytes
  std::uint64_t fast = 0, slow = 0;
  std::uint64_t refill = 0;  // freed per second while the path has nothing to do; 0: never
};

// As the drive fills, writes have a lower rate: all of it up to the share `from` of its blocks in
// use, and linearly down to the share `to` of it with all of them.
struct Decay {
  std::uint16_t from = 0;   // thousandths, below 1000
  std::uint16_t to = 1000;  // thousandths, from 10
};

// Degrees Celsius; heat.h says what warms and cools the drive.
struct Throttle {
  double above = 0, below = 0;  // from the one on, until below the other
  std::uint16_t to = 1000;      // thousandths of each rate, from 10
};
struct Temperature {
  double idle = 0, hottest = 0;
  std::uint64_t at = 0;            // bytes per second, which lead to `hottest`
  std::uint64_t half_time_ns = 0;  // above 0
  Throttle throttle;
};

// What the drive has kept for long: reads of these blocks have a rate of their own until a write or
// a discard. In bytes, multiples of kBlock.
struct OldData {
  std::uint64_t offset = 0, length = 0;
  std::uint64_t bytes_per_second = 0;
};

struct Script {
  std::uint64_t size = 0;  // bytes, a multiple of kBlock
  std::uint64_t seed = 1;
  std::uint64_t slots = 32;  // requests that are served at once
  std::array<KindScript, kKindNames.size()> kinds;
  std::vector<Stall> stalls;
  std::optional<WriteCache> write_cache;  // then writes have no rate of their own
  std::optional<Decay> decay;
  std::optional<Temperature> temperature;
  std::vector<OldData> old_data;  // ascending, without overlaps

  const KindScript& of(Kind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

// Throws Error(unusable_input) with file, line and column for whatever it cannot be.
Script read_script(std::string_view text, std::string_view file_name);

}  // namespace filereel::model_drive

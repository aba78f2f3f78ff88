// What one replay did, counted while it ran.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/slowest.h"
#include "replay/measure/counter.h"
#include "replay/measure/histogram.h"
#include "replay/measure/time_grid.h"
#include "traces/operation.h"

namespace filereel {

// Reads and writes are told apart by the bytes that they ask for: in classes of up to 4 KiB, 16
// KiB, 64 KiB, 256 KiB, 1 MiB, and more.
inline constexpr std::size_t kSizeClasses = 6;
constexpr std::size_t size_class(std::uint64_t bytes) noexcept {
  const auto bits = static_cast<std::size_t>(std::bit_width(bytes - (bytes > 0 ? 1 : 0)));
  return bits <= 12 ? 0 : std::min<std::size_t>((bits - 11) / 2, kSizeClasses - 1);
}
// The most bytes of a class; 0: there is no most.
constexpr std::uint64_t most_of_class(std::size_t size_class) noexcept {
  return size_class + 1 < kSizeClasses ? std::uint64_t{4096} << (2 * size_class) : 0;
}
constexpr bool has_sizes(OperationKind kind) noexcept {
  return kind == OperationKind::read || kind == OperationKind::write;
}

// In nanoseconds. A paced operation that begins late counts from the time at which it was due, so
// that one slow call does not hide the delay of those behind it ("coordinated omission": G. Tene,
// "How NOT to Measure Latency", 2013).
struct CallTime {
  std::uint64_t latency = 0;  // from the time at which it was due, else from its begin
  std::uint64_t service = 0;  // of the call itself
  std::uint64_t end = 0;      // of the stopwatch
};

// Of a call from `begin` to `end` in which `own` went by for filereel's own work. `due`: 0 for an
// operation that no pace gives a time.
constexpr CallTime call_time(std::uint64_t begin, std::uint64_t end, std::uint64_t own,
                             std::uint64_t due) noexcept {
  const std::uint64_t from = due > 0 && due < begin ? due : begin;
  return {end - from - own, end - begin - own, end};
}

struct KindStatistics {
  Counter bytes;                                // as returned by the calls; data operations only
  Counter errors;                               // calls that failed
  std::array<Histogram, kSizeClasses> by_size;  // latencies; kinds without sizes have one class
  Histogram service;                            // paced replays only

  // Of all sizes.
  Histogram latency() const;
  std::uint64_t count() const;
};

// Each byte of content counts once, so of a copy only what was written.
constexpr std::uint64_t content_bytes(std::uint64_t read, std::uint64_t written) noexcept {
  return written > 0 ? written : read;
}

// Why a result differs from the expected one.
enum class DivergenceClass : std::uint8_t {
  mismatch,     // a true one
  consequence,  // of an earlier divergence on the same file or name
  limit,        // the target cannot do it: unsupported, full, too large, too long a name
  content,      // the bytes read are not those that were written
};
inline constexpr std::size_t kDivergenceClasses = 4;
std::string_view divergence_class_name(DivergenceClass one);  // "mismatch", …

// An operation whose result differs from the expected one.
struct Divergence {
  std::uint64_t position;  // of the operation in the trace (of a workload: in its thread), from 0
  std::uint32_t thread;    // of the trace
  DivergenceClass kind_of;
  OperationKind kind;
  PathId path;            // of the named file, or of the open one
  std::int64_t expected;  // as in Operation::expected
  std::int64_t result;    // the same; a failed call is -errno
};

struct ReplayStatistics {
  static constexpr std::size_t kDivergenceExamples = 8;

  // These may be read while the replay runs.
  std::array<KindStatistics, kOperationKinds> kinds;
  Counter operations;  // calls; barriers do not count
  Counter files;       // regular files done (Operation::counts_file)

  std::uint64_t divergences = 0;
  std::array<std::uint64_t, kDivergenceClasses> by_class{};
  std::vector<Divergence> examples;  // the first ones of each class, by position
  std::uint64_t unverified = 0;      // operations that were not compared (Operation::loose)
  std::uint64_t refused = 0;         // not executed: device nodes, owners, attributes of the system
  Histogram lateness;                // how long after its time an operation began; paced replays
  TimeGrid grid;
  SlowestOperations slowest;
  std::uint64_t begin_ns = 0;  // the stopwatch's time at which the grid begins
  Counter restarts;            // may be read meanwhile, and before all else

  const KindStatistics& of(OperationKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  // Takes the memory that counting operations of these kinds needs, reads and writes of up to
  // `largest_io` bytes, so that it takes none later.
  void prepare(const std::bitset<kOperationKinds>& occurring, std::uint64_t largest_io);
  // Forgets everything but divergences, and allocates nothing; the grid begins at `now_ns`.
  void restart(std::uint64_t now_ns) noexcept;
  void merge(const ReplayStatistics& other);

  std::uint64_t bytes_read() const { return of(OperationKind::read).bytes; }
  // With what was copied inside the kernel.
  std::uint64_t bytes_written() const {
    return of(OperationKind::write).bytes + of(OperationKind::copy_range).bytes;
  }
};

}  // namespace filereel

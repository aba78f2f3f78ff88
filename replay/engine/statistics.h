// What one replay did, counted while it ran.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/measure/histogram.h"
#include "replay/measure/time_series.h"
#include "traces/operation.h"

namespace filereel {

struct KindStatistics {
  std::uint64_t bytes = 0;   // as returned by the calls; data operations only
  std::uint64_t errors = 0;  // calls that failed
  Histogram latency;         // of every call of the kind, in nanoseconds
};

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

  std::array<KindStatistics, kOperationKinds> kinds;
  std::uint64_t operations = 0;  // calls; barriers do not count
  std::uint64_t files = 0;       // regular files done (Operation::counts_file)
  std::uint64_t divergences = 0;
  std::array<std::uint64_t, kDivergenceClasses> by_class{};
  std::vector<Divergence> examples;  // the first ones of each class, by position
  std::uint64_t unverified = 0;      // operations that were not compared (Operation::loose)
  std::uint64_t refused = 0;         // not executed: device nodes, owners, attributes of the system
  Histogram lateness;                // how long after its time an operation began; paced replays
  TimeSeries series;
  std::uint64_t series_origin_ns = 0;  // the stopwatch's time at which the series begins

  const KindStatistics& of(OperationKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  // Takes the memory that counting operations of these kinds needs, so that it takes none later.
  void prepare(const std::bitset<kOperationKinds>& occurring);
  // Forgets everything but divergences, and allocates nothing; the series begins at `now_ns`.
  void restart(std::uint64_t now_ns) noexcept;
  void merge(const ReplayStatistics& other);

  // How far a replay is: each byte of content counts once, so of a copy only what was written.
  struct Published {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
  };
  Published published() const;
  // The same of a recorded trace: all bytes that were moved, and operations in the place of files.
  Published published_operations() const;
};

}  // namespace filereel

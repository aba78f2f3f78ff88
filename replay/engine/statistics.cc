#include "replay/engine/statistics.h"

#include <algorithm>
#include <tuple>

namespace filereel {
namespace {

bool slower(const SlowOperation& a, const SlowOperation& b) {
  return a.latency_ns > b.latency_ns;
}

}  // namespace

void SlowestOperations::keep(const SlowOperation& operation) noexcept {
  if (!would_keep(operation.latency_ns)) return;
  const auto begin = heap_.begin();
  if (count_ == kMost) {
    std::pop_heap(begin, heap_.end(), slower);
    --count_;
  }
  heap_[count_++] = operation;
  std::push_heap(begin, begin + static_cast<std::ptrdiff_t>(count_), slower);
  if (count_ == kMost) threshold_ns_ = heap_.front().latency_ns;
}

void SlowestOperations::merge(const SlowestOperations& other) noexcept {
  for (const SlowOperation& operation : other.operations()) keep(operation);
}

Histogram KindStatistics::latency() const {
  Histogram all;
  for (const Histogram& histogram : by_size) all.merge(histogram);
  return all;
}

std::uint64_t KindStatistics::count() const {
  std::uint64_t sum = 0;
  for (const Histogram& histogram : by_size) sum += histogram.count();
  return sum;
}

void ReplayStatistics::prepare(const std::bitset<kOperationKinds>& occurring,
                               std::uint64_t largest_io) {
  const bool paced = occurring[static_cast<std::size_t>(OperationKind::pace)];
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!occurring[i]) continue;
    const bool sized = has_sizes(static_cast<OperationKind>(i));
    const std::size_t classes = sized ? size_class(largest_io) + 1 : 1;
    for (std::size_t size = 0; size < classes; ++size) kinds[i].by_size[size].prepare();
    if (paced) kinds[i].service.prepare();
  }
  if (paced) lateness.prepare();
  grid.prepare();
  examples.reserve(kDivergenceClasses * kDivergenceExamples);
  failures.reserve(kMostFailures);
}

void ReplayStatistics::add(const FailureCount& failure) noexcept {
  const auto found = std::ranges::find_if(failures, [&](const FailureCount& known) {
    return std::tie(known.kind, known.role, known.error) ==
           std::tie(failure.kind, failure.role, failure.error);
  });
  if (found != failures.end()) {
    found->count += failure.count;
  } else if (failures.size() < kMostFailures) {
    failures.push_back(failure);
  }
}

void ReplayStatistics::restart(std::uint64_t now_ns) noexcept {
  for (KindStatistics& kind : kinds) {
    kind.bytes = kind.errors = 0;
    for (Histogram& histogram : kind.by_size) histogram.clear();
    kind.service.clear();
  }
  operations = files = bytes = 0;
  unverified = 0;
  refused.fill(0);
  lateness.clear();
  lookup_ns = 0;
  grid.clear();
  slowest.clear();
  begin_ns = now_ns;
  restarts.publish(1);
}

void ReplayStatistics::merge(const ReplayStatistics& other) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].bytes += other.kinds[i].bytes;
    kinds[i].errors += other.kinds[i].errors;
    for (std::size_t size = 0; size < kSizeClasses; ++size) {
      kinds[i].by_size[size].merge(other.kinds[i].by_size[size]);
    }
    kinds[i].service.merge(other.kinds[i].service);
    refused[i] += other.refused[i];
  }
  operations += other.operations;
  files += other.files;
  bytes += other.bytes;
  divergences += other.divergences;
  for (std::size_t i = 0; i < kDivergenceClasses; ++i) by_class[i] += other.by_class[i];
  for (const FailureCount& failure : other.failures) add(failure);
  unverified += other.unverified;
  lateness.merge(other.lateness);
  lookup_ns += other.lookup_ns;
  grid.merge(other.grid);
  slowest.merge(other.slowest);
  begin_ns = other.begin_ns;  // the same for all threads
  examples.insert(examples.end(), other.examples.begin(), other.examples.end());
  std::ranges::stable_sort(examples, {}, &Divergence::position);
  std::array<std::size_t, kDivergenceClasses> kept{};
  std::erase_if(examples, [&](const Divergence& example) {
    return kept[static_cast<std::size_t>(example.divergence_class)]++ >= kDivergenceExamples;
  });
}

}  // namespace filereel

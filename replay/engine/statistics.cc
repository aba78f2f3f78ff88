#include "replay/engine/statistics.h"

#include <algorithm>

namespace filereel {

std::string_view divergence_class_name(DivergenceClass one) {
  static constexpr std::array<std::string_view, kDivergenceClasses> kNames = {
      "mismatch", "consequence", "limit", "content"};
  return kNames[static_cast<std::size_t>(one)];
}

void ReplayStatistics::prepare(const std::bitset<kOperationKinds>& occurring) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (occurring[i]) kinds[i].latency.prepare();
  }
  if (occurring[static_cast<std::size_t>(OperationKind::pace)]) lateness.prepare();
  examples.reserve(kDivergenceClasses * kDivergenceExamples);
}

void ReplayStatistics::restart(std::uint64_t now_ns) noexcept {
  for (KindStatistics& kind : kinds) {
    kind.bytes = kind.errors = 0;
    kind.latency.clear();
  }
  operations = files = unverified = refused = 0;
  lateness.clear();
  series = {};
  series_origin_ns = now_ns;
}

void ReplayStatistics::merge(const ReplayStatistics& other) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].bytes += other.kinds[i].bytes;
    kinds[i].errors += other.kinds[i].errors;
    kinds[i].latency.merge(other.kinds[i].latency);
  }
  operations += other.operations;
  files += other.files;
  divergences += other.divergences;
  for (std::size_t i = 0; i < kDivergenceClasses; ++i) by_class[i] += other.by_class[i];
  unverified += other.unverified;
  refused += other.refused;
  lateness.merge(other.lateness);
  series.merge(other.series);
  examples.insert(examples.end(), other.examples.begin(), other.examples.end());
  std::ranges::stable_sort(examples, {}, &Divergence::position);
  std::array<std::size_t, kDivergenceClasses> kept{};
  std::erase_if(examples, [&](const Divergence& example) {
    return kept[static_cast<std::size_t>(example.kind_of)]++ >= kDivergenceExamples;
  });
}

ReplayStatistics::Published ReplayStatistics::published() const {
  const std::uint64_t written =
      of(OperationKind::write).bytes + of(OperationKind::copy_range).bytes;
  return {written > 0 ? written : of(OperationKind::read).bytes, files};
}

ReplayStatistics::Published ReplayStatistics::published_operations() const {
  using enum OperationKind;
  return {of(read).bytes + of(write).bytes + of(copy_range).bytes, operations};
}

}  // namespace filereel

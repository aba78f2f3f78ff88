#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/random.h"
#include "replay/engine/statistics.h"

namespace filereel {
namespace {

std::vector<std::uint64_t> latencies(const SlowestOperations& slowest) {
  std::vector<std::uint64_t> list;
  for (const SlowOperation& operation : slowest.operations()) list.push_back(operation.latency_ns);
  std::ranges::sort(list, std::greater{});
  return list;
}

TEST_CASE("the slowest operations are kept, in any order of arrival") {
  Random random(5);
  std::vector<std::uint64_t> all;
  SlowestOperations slowest;
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t ns = 1 + random.below(1'000'000'000);
    all.push_back(ns);
    if (slowest.would_keep(ns)) slowest.keep({.latency_ns = ns});
  }
  std::ranges::sort(all, std::greater{});
  all.resize(SlowestOperations::kMost);
  CHECK(latencies(slowest) == all);
}

TEST_CASE("operations below the capacity are all kept") {
  SlowestOperations slowest;
  for (std::uint64_t ns = 1; ns <= 5; ++ns) slowest.keep({.latency_ns = ns, .position = ns});
  CHECK(latencies(slowest) == std::vector<std::uint64_t>{5, 4, 3, 2, 1});
}

TEST_CASE("the slowest of several threads are the slowest of all") {
  SlowestOperations first, second;
  for (std::uint64_t i = 1; i <= 100; ++i) (i % 2 == 0 ? first : second).keep({.latency_ns = i});
  first.merge(second);
  const std::vector<std::uint64_t> kept = latencies(first);
  CHECK(kept.size() == SlowestOperations::kMost);
  CHECK(kept.front() == 100);
  CHECK(kept.back() == 100 - SlowestOperations::kMost + 1);
  first.clear();
  CHECK(first.operations().empty());
  CHECK(first.would_keep(1));
}

}  // namespace
}  // namespace filereel

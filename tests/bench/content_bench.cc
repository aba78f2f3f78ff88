// How fast content is made: it must not be what a replay waits for. Each result carries its ratio
// to memcpy of the same size, measured in the same process just before.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <benchmark/benchmark.h>

#include "filesets/content/content.h"

namespace {

using filereel::Content;

constexpr std::size_t kBytes = 128 * 1024;
constexpr std::uint64_t kSeed = 42;

void report_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(kBytes));
}

// Seconds that one memcpy of kBytes takes: the best of many, each of a few hundred microseconds.
double memcpy_seconds() {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 50;
  constexpr int kCopies = 100;
  const std::vector<std::byte> from(kBytes, std::byte{1});
  std::vector<std::byte> to(kBytes);
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    for (int copy = 0; copy < kCopies; ++copy) {
      std::memcpy(to.data(), from.data(), kBytes);
      benchmark::ClobberMemory();
    }
    const std::chrono::duration<double> passed = Clock::now() - begin;
    best = std::min(best, passed.count() / kCopies);
  }
  return best;
}

void copy_with_memcpy(benchmark::State& state) {
  const std::vector<std::byte> from(kBytes, std::byte{1});
  std::vector<std::byte> to(kBytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kBytes);
    benchmark::ClobberMemory();
  }
  report_bytes(state);
}
BENCHMARK(copy_with_memcpy);

void fill(benchmark::State& state, Content content) {
  const double copy_seconds = memcpy_seconds();
  std::vector<std::byte> out(kBytes);
  std::uint64_t offset = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (auto _ : state) {
    filereel::fill_content(kSeed, content, offset, out);
    benchmark::ClobberMemory();
    offset += kBytes;
  }
  report_bytes(state);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  // 1 would be as fast as memcpy.
  state.counters["of_memcpy"] =
      static_cast<double>(state.iterations()) * copy_seconds / passed.count();
}
BENCHMARK_CAPTURE(fill, incompressible, Content{1, 1000, 0});
BENCHMARK_CAPTURE(fill, half_compressible, Content{1, 500, 0});
BENCHMARK_CAPTURE(fill, tenth_compressible, Content{1, 100, 0});
BENCHMARK_CAPTURE(fill, half_duplicates, Content{1, 1000, 500});

// Single writes of so many bytes, which replays fill one by one.
void fill_one_write(benchmark::State& state, Content content) {
  const auto length = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> out(length);
  std::uint64_t turn = 0;
  for (auto _ : state) {
    filereel::fill_content(kSeed, content, turn++ * 7919 % 2048 * length, out);
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(fill_one_write, half_compressible, Content{1, 500, 0})
    ->Arg(64)
    ->Arg(512)
    ->Arg(4096)
    ->Arg(5000);

}  // namespace

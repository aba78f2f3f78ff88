#include <atomic>
#include <string>

#include <doctest/doctest.h>

#include "tests/traces/recorded_calls.h"
#include "traces/calls/recording_memory.h"

namespace filereel {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

TEST_CASE("the bound depends on the process's memory and stays reached") {
  const PathTable paths;
  std::atomic<std::uint64_t> dropped = 0;
  MemoryBound wide({.now = kPlenty, .at_end = kPlenty}, paths, dropped);
  CHECK_FALSE(wide.is_reached());
  std::uint64_t besides = 0;
  MemoryBound narrow({.now = 1, .at_end = kPlenty}, paths, dropped, [&] { return besides; });
  CHECK(narrow.is_reached());
  besides = kPlenty;
  CHECK(narrow.is_reached());
  MemoryBound without({.now = 1, .at_end = kPlenty}, paths, dropped, [&] { return besides; });
  CHECK_FALSE(without.is_reached());
}

TEST_CASE("the trees built at the end count towards the bound") {
  PathTable paths;
  std::atomic<std::uint64_t> dropped = 0;
  constexpr std::uint64_t kPaths = 1000, kLength = 200;
  const auto bound = [&](std::uint64_t at_end) {
    return MemoryBound({.now = kPlenty, .at_end = at_end}, paths, dropped, [] { return kPlenty; });
  };
  CHECK_FALSE(bound(2 * kPaths * kLength).is_reached());
  const PathId parent = paths.add(Role::near, std::string(kLength, 'd'));
  for (std::uint64_t i = 0; i < kPaths; ++i) paths.add(parent, std::to_string(i));
  CHECK(bound(2 * kPaths * kLength).is_reached());
}

TEST_CASE("dropped calls are counted by name") {
  RecordedCalls calls;
  std::atomic<std::uint64_t> dropped = 0;
  MemoryBound bound({}, calls.builder.tables().paths, dropped);
  bound.drop("read", calls.builder);
  bound.drop("read", calls.builder);
  CHECK(dropped == 2);
  CHECK(calls.lost("events lost for lack of memory (--memory): read") == 2);
}

TEST_CASE("the shares of a recording's memory do not exceed it") {
  for (const std::uint64_t bytes :
       {RecordingMemory::kLeast, RecordingMemory::kDefault, kPlenty, std::uint64_t{123'456'789}}) {
    const RecordingMemory with = divide_memory(bytes, true), without = divide_memory(bytes, false);
    CHECK(with.queue + with.known.now + 3 * std::uint64_t{with.ring} < bytes);
    CHECK(with.known.at_end + 2 * std::uint64_t{with.ring} < bytes);
    CHECK(with.ring >= 1 << 22);
    CHECK(with.queue >= 8 << 20);
    CHECK(without.ring == 0);
    CHECK(without.known.at_end < bytes);
    CHECK(without.known.now > with.known.now);
  }
}

}  // namespace
}  // namespace filereel

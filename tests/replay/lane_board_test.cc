#include "replay/engine/lane_board.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

TEST_CASE("a wait ends when the lane has completed that many operations") {
  LaneBoard board(2);
  CHECK(board.reached(0, 0));
  CHECK_FALSE(board.reached(0, 1));
  std::atomic<int> seen = 0;
  std::jthread waiter([&] {
    board.wait(1, 0, 3);
    seen = 1;
  });
  board.advance(0);
  board.advance(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(seen == 0);
  board.advance(0);
  waiter.join();
  CHECK(seen == 1);
  CHECK(board.reached(0, 3));
  CHECK_FALSE(board.reached(0, 4));
  CHECK(board.done(1) == 0);
}

TEST_CASE("lanes that wait for each other in turn all complete") {
  constexpr std::uint64_t kRounds = 3000;
  constexpr std::uint32_t kLanes = 4;
  LaneBoard board(kLanes);
  std::uint64_t plain = 0;  // kept apart by the board alone
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      threads.emplace_back([&, lane] {
        for (std::uint64_t round = 1; round <= kRounds; ++round) {
          if (lane > 0) {
            board.wait(lane, lane - 1, round);
          } else {
            board.wait(lane, kLanes - 1, round - 1);
          }
          ++plain;
          board.advance(lane);
        }
      });
    }
  }
  CHECK(plain == kRounds * kLanes);
}

TEST_CASE("waiters for different counts of one lane are each woken in time") {
  constexpr std::uint32_t kCounts = 2000, kWaiters = 5;
  LaneBoard board(1 + kWaiters);
  std::atomic<std::uint64_t> early = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < kWaiters; ++i) {
      threads.emplace_back([&, i] {
        for (std::uint64_t count = i + 1; count <= kCounts; count += 1 + i * 7) {
          board.wait(1 + i, 0, count);
          if (board.done(0) < count) ++early;
        }
      });
    }
    for (std::uint32_t i = 0; i < kCounts; ++i) {
      board.advance(0);
      if (i % 50 == 0) std::this_thread::yield();
    }
  }
  CHECK(early == 0);
}

TEST_CASE("waiting takes no processor time") {
  LaneBoard board(2);
  timespec used{};
  std::jthread waiter([&] {
    board.wait(1, 0, 1);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  board.advance(0);
  waiter.join();
  CHECK(used.tv_sec == 0);
  CHECK(used.tv_nsec < 50'000'000);
}

TEST_CASE("after a release no thread waits, now or later") {
  LaneBoard board(6);
  int released = 0;
  board.on_release([&] { ++released; });
  {
    std::vector<std::jthread> waiters;
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
      waiters.emplace_back([&board, lane] { board.wait(3 + lane, lane, 1ULL << 40); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    board.release_all();
  }
  board.wait(3, 0, 5);
  board.release_all();
  CHECK(board.released());
  CHECK(released == 2);
}

}  // namespace
}  // namespace filereel

#include "traces/record/bpf/event_queue.h"

#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/address_limit.h"

namespace filereel {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 40;

// Its first bytes say which one it is.
std::vector<std::byte> event_of(std::uint32_t number, std::size_t size) {
  std::vector<std::byte> event(size, static_cast<std::byte>(number));
  std::memcpy(event.data(), &number, sizeof(number));
  return event;
}

std::size_t size_of(std::uint32_t number) {
  return 4 + number * 37 % 16000;
}

// What was taken until nothing comes anymore, each checked to be as it was put.
std::uint32_t take_all(EventQueue& queue, std::uint32_t first, double seconds = 0) {
  std::uint32_t next = first;
  for (;;) {
    const EventChunk chunk = queue.take(seconds);
    if (chunk.empty()) return next;
    bool same = true;
    chunk.each([&](std::span<const std::byte> event) {
      const std::vector<std::byte> put = event_of(next, size_of(next));
      same = same && std::vector(event.begin(), event.end()) == put;
      ++next;
    });
    REQUIRE(same);
  }
}

TEST_CASE("events keep their order across chunks and sizes") {
  EventQueue queue(kPlenty);
  constexpr std::uint32_t kEvents = 1000;
  for (std::uint32_t i = 0; i < kEvents; ++i) queue.put(event_of(i, size_of(i)));
  queue.flush();
  CHECK(take_all(queue, 0) == kEvents);
}

TEST_CASE("events become visible when flushed") {
  EventQueue queue(kPlenty);
  queue.put(event_of(0, size_of(0)));
  CHECK(queue.take(0).empty());
  queue.flush();
  CHECK(take_all(queue, 0) == 1);
  queue.flush();  // of nothing
  CHECK(queue.take(0).empty());
}

TEST_CASE("the end of a queue follows its last event") {
  EventQueue queue(kPlenty);
  constexpr double kPatience = 10;
  queue.put(event_of(0, size_of(0)));
  CHECK_FALSE(queue.has_ended());
  queue.end();
  CHECK_FALSE(queue.has_ended());
  CHECK(take_all(queue, 0) == 1);
  CHECK(queue.has_ended());
  CHECK(queue.take(kPatience).empty());  // at once
}

TEST_CASE("an empty event is valid") {
  EventQueue queue(kPlenty);
  queue.put({});
  queue.put({});
  queue.flush();
  int events = 0;
  queue.take(0).each([&](std::span<const std::byte> event) {
    CHECK(event.empty());
    ++events;
  });
  CHECK(events == 2);
}

TEST_CASE("a queue is full until enough is taken") {
  EventQueue queue(1);
  CHECK_FALSE(queue.is_full());
  queue.put(event_of(0, size_of(0)));
  CHECK_FALSE(queue.is_full());
  queue.flush();
  CHECK(queue.is_full());
  queue.put(event_of(1, size_of(1)));  // takes more nevertheless
  queue.flush();
  CHECK(take_all(queue, 0) == 2);
  CHECK_FALSE(queue.is_full());
}

TEST_CASE("without memory an event is refused, and what the queue holds stays") {
  EventQueue queue(kPlenty);
  constexpr std::uint32_t kMost = 100'000;
  std::uint32_t put = 0;
  {
    const AddressLimit few(16 << 20);
    while (put < kMost && queue.put(event_of(put, size_of(put)))) ++put;
    CHECK_FALSE(queue.put(event_of(put, size_of(put))));  // and again
  }
  CHECK(put > 0);
  CHECK(put < kMost);
  CHECK(queue.put(event_of(put, size_of(put))));
  queue.end();
  CHECK(take_all(queue, 0) == put + 1);
}

TEST_CASE("an event that is longer than any chunk is refused") {
  EventQueue queue(kPlenty);
  CHECK_FALSE(queue.put(std::vector<std::byte>(2 << 20)));
  CHECK(queue.put(event_of(0, size_of(0))));
  queue.flush();
  CHECK(take_all(queue, 0) == 1);
}

TEST_CASE("one thread takes while another puts") {
  EventQueue queue(kPlenty);
  constexpr std::uint32_t kEvents = 20'000;
  std::jthread putting([&] {
    for (std::uint32_t i = 0; i < kEvents; ++i) {
      queue.put(event_of(i, size_of(i)));
      if (i % 100 == 0) queue.flush();
    }
    queue.flush();
  });
  constexpr double kPatience = 10;
  std::uint32_t next = 0;
  while (next < kEvents) {
    const std::uint32_t before = next;
    const EventChunk chunk = queue.take(kPatience);
    REQUIRE_FALSE(chunk.empty());
    chunk.each([&](std::span<const std::byte> event) {
      std::uint32_t number = 0;
      std::memcpy(&number, event.data(), sizeof(number));
      if (number == next && event.size() == size_of(number)) ++next;
    });
    REQUIRE(next > before);
  }
  CHECK(next == kEvents);
  CHECK(queue.take(0).empty());
}

}  // namespace
}  // namespace filereel

#include "traces/record/bpf/bpf_receiver.h"

#include <array>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "tests/address_limit.h"
#include "traces/record/bpf/bpf_event.h"

namespace filereel {
namespace {

// In a record, which can be longer than its event.
std::vector<std::byte> record_of(std::uint8_t kind, std::uint16_t number) {
  constexpr std::size_t kSize = 8000;
  std::vector<std::byte> bytes(kSize + 8);
  bpf_event head{};
  head.kind = kind;
  head.number = number;
  head.size = kSize;
  std::memcpy(bytes.data(), &head, sizeof(head));
  return bytes;
}

// A receiver with its queue, and what it lost.
struct Receiving {
  EventQueue queue;
  OtherChanges others;
  std::vector<unsigned long long> lost =
      std::vector<unsigned long long>(std::size_t{EVENT_KINDS} * SHAPES);
  BpfReceiver receiver{queue, others, lost};

  explicit Receiving(std::size_t bytes) : queue(bytes) {}
};

TEST_CASE("events without memory are counted by kind and number, and the next ones are received") {
  Receiving receiving(SIZE_MAX);
  auto& [queue, _, lost, receiver] = receiving;
  std::vector<std::byte> call = record_of(EVENT_CALL, 257), exit = record_of(EVENT_EXIT, 0);
  CHECK(BpfReceiver::put(&receiver, call.data(), call.size()) == 0);
  CHECK_FALSE(receiver.had_no_memory());
  constexpr int kMost = 100'000;
  int put = 1;
  {
    const AddressLimit few(16 << 20);
    for (; put < kMost && lost[257] == 0; ++put) {
      BpfReceiver::put(&receiver, call.data(), call.size());
    }
    BpfReceiver::put(&receiver, exit.data(), exit.size());
  }
  REQUIRE(put < kMost);
  CHECK(lost[257] == 1);
  CHECK(lost[std::size_t{EVENT_EXIT} * SHAPES] == 1);
  CHECK(receiver.had_no_memory());
  BpfReceiver::put(&receiver, exit.data(), exit.size());
  queue.end();
  int received = 0;
  while (!queue.has_ended()) {
    queue.take(1).each(
        [&](std::span<const std::byte> event) { received += event.size() == call.size() - 8; });
  }
  CHECK(received == put);  // one call was lost, one exit was received
}

TEST_CASE("the changes of others are read in parts") {
  Receiving receiving(1);
  std::vector<std::byte> change = record_of(EVENT_CALL, 257);
  constexpr int kAll = 10'000;
  int ends = 0;
  for (int i = 0; i < kAll; ++i) {
    ends += BpfReceiver::put_other(&receiving.receiver, change.data(), change.size()) < 0 ? 1 : 0;
  }
  CHECK(ends > 0);
  CHECK(ends < kAll / 100);
}

TEST_CASE("a full queue asks for no further events until it is read") {
  Receiving receiving(1);
  auto& [queue, _, lost, receiver] = receiving;
  std::vector<std::byte> call = record_of(EVENT_CALL, 257);
  const auto put = [&] { return BpfReceiver::put(&receiver, call.data(), call.size()); };
  CHECK(put() == 0);
  queue.flush();
  CHECK(put() < 0);
  CHECK(put() < 0);
  queue.flush();
  queue.end();
  int received = 0;
  const auto take = [&] { queue.take(1).each([&](std::span<const std::byte>) { ++received; }); };
  take();
  CHECK(queue.is_full());
  take();
  CHECK_FALSE(queue.is_full());
  CHECK(put() == 0);
  CHECK(received == 3);
  CHECK(lost[257] == 0);
}

}  // namespace
}  // namespace filereel

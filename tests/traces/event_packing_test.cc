#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tests/traces/bpf_events.h"
#include "traces/record/bpf/event_queue.h"

namespace filereel {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packed(const std::vector<Bytes>& events) {
  EventPacker packer;
  Bytes all;
  for (const Bytes& event : events) {
    const std::size_t at = all.size();
    all.resize(at + event.size() + EventPacker::kMostAdded);
    const std::byte* end = packer.pack(event, &all[at]);
    REQUIRE(end <= all.data() + all.size());
    all.resize(static_cast<std::size_t>(end - all.data()));
  }
  return all;
}

std::vector<Bytes> unpacked(const Bytes& all) {
  EventUnpacker unpacker;
  std::vector<Bytes> events;
  for (std::span<const std::byte> rest(all); !rest.empty();) {
    const std::span<const std::byte> event = unpacker.unpack(rest);
    events.emplace_back(event.begin(), event.end());
  }
  return events;
}

TEST_CASE("packing and unpacking preserves any event") {
  std::mt19937_64 random(1);
  std::vector<Bytes> events;
  for (int i = 0; i < 2000; ++i) {
    Bytes event(random() % (3 * sizeof(bpf_event)));
    const bool is_wild = random() % 2 == 0;
    for (std::byte& byte : event) byte = static_cast<std::byte>(is_wild ? random() : random() % 2);
    events.push_back(std::move(event));
  }
  events.emplace_back(100'000, std::byte{7});
  events.emplace_back(sizeof(bpf_event), std::byte{0xff});
  events.emplace_back(sizeof(bpf_event), std::byte{0});
  CHECK(unpacked(packed(events)) == events);
}

TEST_CASE("consecutive calls are packed to a tenth of their size, also of several threads") {
  std::vector<Bytes> events;
  constexpr std::uint64_t kEvents = 1000;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    const auto thread = static_cast<std::uint32_t>(100 + i % 3);
    events.push_back(BpfEvent::call(17, {3, kPointer, 1, i * 4096}, 1)
                         .by(thread, 100)
                         .file(0x10)
                         .at(1'000'000'000 + i * 700, 1'000'000'300 + i * 700)
                         .bytes());
  }
  const Bytes all = packed(events);
  CHECK(all.size() < kEvents * sizeof(bpf_event) / 10 + 200);
  CHECK(unpacked(all) == events);
}

}  // namespace
}  // namespace filereel

#include "traces/record/event_packing.h"

#include <algorithm>
#include <cstring>

#include "filesets/system/varint.h"

namespace filereel {
namespace {

// A packed event contains its size. If that is at least a head's size, it continues with the entry
// of its thread, a bit for each word that differs, and the differences. The rest is copied.

std::byte* pack_number(std::uint64_t number, std::byte* out) {
  write_varint(number, [&out](std::uint8_t byte) { *out++ = std::byte{byte}; });
  return out;
}

std::uint64_t unpack_number(std::span<const std::byte>& packed) {
  const auto next = [&packed] {
    const auto byte = static_cast<std::uint8_t>(packed.front());
    packed = packed.subspan(1);
    return byte;
  };
  return read_varint(next).value();  // written by pack_number
}

}  // namespace

std::byte* EventPacker::pack(std::span<const std::byte> event, std::byte* out) {
  out = pack_number(event.size(), out);
  if (event.size() >= sizeof(bpf_event)) {
    PreviousHeads::Head head;
    std::memcpy(head.data(), event.data(), sizeof(head));
    bpf_event known;
    std::memcpy(&known, event.data(), sizeof(known));
    const std::size_t place = known.thread % PreviousHeads::kPlaces;
    PreviousHeads::Head& last = last_.at(place);
    *out++ = static_cast<std::byte>(place);
    std::byte* const differing = out;
    out += sizeof(std::uint16_t);
    std::uint16_t bits = 0;
    for (std::size_t i = 0; i < kHeadWords; ++i) {
      if (head[i] == last[i]) continue;
      bits = static_cast<std::uint16_t>(bits | 1u << i);
      out = pack_number(zigzag(head[i] - last[i]), out);
    }
    std::memcpy(differing, &bits, sizeof(bits));
    last = head;
    event = event.subspan(sizeof(bpf_event));
  }
  return std::ranges::copy(event, out).out;
}

std::span<const std::byte> EventUnpacker::unpack(std::span<const std::byte>& packed) {
  event_.resize(unpack_number(packed));
  std::span<std::byte> rest = event_;
  if (event_.size() >= sizeof(bpf_event)) {
    PreviousHeads::Head& last = last_.at(static_cast<std::size_t>(packed.front()));
    std::uint16_t bits = 0;
    std::memcpy(&bits, &packed[1], sizeof(bits));
    packed = packed.subspan(1 + sizeof(bits));
    for (std::size_t i = 0; i < kHeadWords; ++i) {
      if (bits >> i & 1u) last[i] += unzigzag(unpack_number(packed));
    }
    std::memcpy(event_.data(), last.data(), sizeof(last));
    rest = rest.subspan(sizeof(bpf_event));
  }
  std::ranges::copy(packed.first(rest.size()), rest.begin());
  packed = packed.subspan(rest.size());
  return event_;
}

}  // namespace filereel

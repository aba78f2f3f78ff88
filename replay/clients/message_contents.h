// The contents of the messages between clients: a kind, then numbers or texts.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace filereel {

// The first byte of a message.
enum class MessageKind : char {
  hello = 'H',         // to the first: the sender's host and clock
  sign_of_life = 'L',  // to the first, and from it to all
  contribution = 'C',  // to the first
  answer = 'A',        // from the first
  ping = 'P',          // to the first
  pong = 'Q',          // from the first: its clock
  failed = 'F',        // to the first, and from it to all: the reason
  stopped = 'S',       // the same, without a reason
  done = 'D',          // the same: see Clients::finish
};

// A number in the sender's byte order: MPI starts the same binary everywhere.
inline std::string bytes_of(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
// 0 for bytes of another length.
inline std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t value = 0;
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// A list of texts, each with its length.
std::string pack_texts(std::span<const std::string> texts);
// Of damaged bytes, the texts up to the damage.
std::vector<std::string> unpack_texts(std::string_view bytes);

}  // namespace filereel

// Numbers and texts as bytes, the elements of all blocks of a reel. Little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/varint.h"

namespace filereel {

static_assert(std::endian::native == std::endian::little);

// A fault inside a block. Callers that know the file and the offset convert it to an Error.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void put_u32(std::string& out, std::uint32_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

inline void put_u64(std::string& out, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

inline void put_varint(std::string& out, std::uint64_t value) {
  write_varint(value, [&out](std::uint8_t byte) { out += static_cast<char>(byte); });
}

inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

// Reads bytes from the front; throws Damage at an unexpected end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size(); }

  std::span<const std::byte> take(std::uint64_t size) {
    if (size > bytes_.size()) throw Damage("unexpected end of data");
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  std::uint8_t u8() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }

  std::uint64_t varint() {
    const std::optional<std::uint64_t> value = read_varint([this] { return u8(); });
    if (!value) throw Damage("a number has more than 64 bits");
    return *value;
  }

  // A number up to `most`; `what` is the subject of the message.
  std::uint64_t varint(std::uint64_t most, const char* what) {
    const std::uint64_t value = varint();
    if (value > most) throw Damage(std::string(what) + " is out of range");
    return value;
  }

  std::string_view text(std::size_t most, const char* what) {
    const auto taken = take(varint(most, what));
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  void expect_end() const {
    if (!bytes_.empty()) throw Damage("unexpected bytes after the end of the data");
  }

 private:
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace filereel

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace filereel {

// --- Compression with zstd where it reduces the size.

class Packer {
 public:
  explicit Packer(int level);

  // The frame of `bytes`, or empty if it would not be shorter. Valid until the next call.
  std::string_view pack(std::string_view bytes);
  // The same for bytes without repeated sequences, faster at the same size or smaller.
  std::string_view pack_noise(std::string_view bytes);

  // Appends text of any bytes: its length, the frame's length or 0, then the frame or the text.
  void put_packed(std::string& out, std::string_view text);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::string_view pack_with(ZSTD_CCtx_s* context, std::string_view bytes);

  std::unique_ptr<ZSTD_CCtx_s, Free> context_, of_noise_;
  std::vector<char> frame_;
};

class Unpacker {
 public:
  Unpacker();

  // Fills `out`, which has the size of the text; throws Damage if the frame has another size.
  void unpack(std::span<const std::byte> frame, std::span<std::byte> out);

  // Reads the output of put_packed, at most `most` bytes.
  std::string take_packed(ByteReader& in, std::size_t most);

  std::vector<std::byte>& scratch() { return scratch_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<std::byte> scratch_;
};

}  // namespace filereel

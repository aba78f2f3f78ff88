// Compression with zstd where it reduces the size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/reel/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace filereel {

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

#include "traces/reel/bytes.h"

#include <new>

#include <fmt/format.h>
#include <zstd.h>

#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"

namespace filereel {

void Packer::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}
void Unpacker::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

Packer::Packer(int level) : context_(ZSTD_createCCtx()), of_noise_(ZSTD_createCCtx()) {
  if (!context_ || !of_noise_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_contentSizeFlag, 0);
  // Referring to a chance repetition takes more than its bytes: search for the longest only.
  constexpr int kLongest = 7;
  ZSTD_CCtx_setParameter(of_noise_.get(), ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(of_noise_.get(), ZSTD_c_strategy, ZSTD_fast);
  ZSTD_CCtx_setParameter(of_noise_.get(), ZSTD_c_minMatch, kLongest);
}

std::string_view Packer::pack(std::string_view bytes) {
  return pack_with(context_.get(), bytes);
}

std::string_view Packer::pack_noise(std::string_view bytes) {
  return pack_with(of_noise_.get(), bytes);
}

std::string_view Packer::pack_with(ZSTD_CCtx_s* context, std::string_view bytes) {
  frame_.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compress2(context, frame_.data(), frame_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) {
    throw Error(ErrorKind::failed, fmt::format("cannot compress: {}", zstd_failure(size)));
  }
  if (size >= bytes.size()) return {};
  return {frame_.data(), size};
}

void Packer::put_packed(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  const std::string_view frame = pack(text);
  put_varint(out, frame.size());
  out += frame.empty() ? text : frame;
}

Unpacker::Unpacker() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
}

void Unpacker::unpack(std::span<const std::byte> frame, std::span<std::byte> out) {
  const std::size_t size =
      ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) || size != out.size()) {
    throw Damage("the size of a zstd frame's content is wrong");
  }
}

std::string Unpacker::take_packed(ByteReader& in, std::size_t most) {
  const std::uint64_t size = in.varint(most, "a text's length");
  const std::uint64_t packed = in.varint(most, "a frame's length");
  const auto bytes = in.take(packed == 0 ? size : packed);
  if (packed == 0) return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  std::string text(size, '\0');
  unpack(bytes, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace filereel

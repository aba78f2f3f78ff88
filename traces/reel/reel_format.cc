#include "traces/reel/reel_format.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "traces/reel/bytes.h"

namespace filereel {
namespace {

std::string header_fields(const BlockHeader& header) {
  std::string out;
  put_u32(out, static_cast<std::uint32_t>(header.type));
  put_u32(out, header.size);
  put_u32(out, header.count);
  put_u64(out, header.first);
  return out;
}

void put_checksum(std::string& out) {
  put_u64(out, XXH3_64bits(out.data(), out.size()));
}

}  // namespace

bool is_block_type(std::uint32_t type) {
  switch (static_cast<BlockType>(type)) {
    case BlockType::paths:
    case BlockType::texts:
    case BlockType::operations:
    case BlockType::initial:
    case BlockType::final:
    case BlockType::threads:
    case BlockType::info:
    case BlockType::index:
      return true;
  }
  return false;
}

std::uint64_t block_checksum(const BlockHeader& header, std::string_view bytes) {
  // The bytes are hashed first, so nothing needs to be copied before them.
  const std::string fields = header_fields(header);
  return XXH3_64bits_withSeed(fields.data(), fields.size(),
                              XXH3_64bits(bytes.data(), bytes.size()));
}

std::string make_block(BlockType type, std::uint32_t count, std::uint64_t first,
                       std::string_view bytes) {
  BlockHeader header{type, static_cast<std::uint32_t>(bytes.size()), count, first, 0};
  std::string out = header_fields(header);
  put_u64(out, block_checksum(header, bytes));
  out += bytes;
  return out;
}

BlockHeader parse_block_header(std::span<const std::byte, kBlockHeaderSize> bytes) {
  ByteReader in(bytes);
  BlockHeader header;
  const std::uint32_t type = in.u32();
  if (!is_block_type(type)) throw Damage("unknown block type");
  header.type = static_cast<BlockType>(type);
  header.size = in.u32();
  header.count = in.u32();
  header.first = in.u64();
  header.checksum = in.u64();
  if (header.size > kMaxBlockSize) throw Damage("the block is larger than 16 MiB");
  if (header.count > kMaxBlockItems) throw Damage("the block has more than 65536 items");
  return header;
}

std::string make_reel_header(std::uint32_t time_unit_ns) {
  std::string out(kReelMagic);
  put_u32(out, kReelFormatVersion);
  put_u32(out, time_unit_ns);
  put_checksum(out);
  return out;
}

std::string make_reel_footer(const ReelFooter& footer) {
  std::string out;
  put_u64(out, footer.index);
  put_u64(out, footer.operations);
  put_checksum(out);
  out += kReelEndMagic;
  return out;
}

ReelFooter parse_reel_footer(std::span<const std::byte, kReelFooterSize> bytes) {
  ByteReader in(bytes);
  ReelFooter footer;
  footer.index = in.u64();
  footer.operations = in.u64();
  if (in.u64() != XXH3_64bits(bytes.data(), 16)) throw Damage("checksum mismatch in the footer");
  return footer;
}

ReelInput::ReelInput(const std::string& path)
    : name_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  const auto cannot_read = [&](int error) {
    throw Error(ErrorKind::failed, fmt::format("cannot read {}: {}", path, error_text(error)));
  };
  if (!file_) cannot_read(errno);
  struct stat status;
  if (::fstat(file_.get(), &status) != 0) cannot_read(errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: not a regular file; a reel must be a regular file", path));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

ReelInput::ReelInput(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), bytes_(bytes), size_(bytes.size()) {}

void ReelInput::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!file_) {
    std::ranges::copy(bytes_.subspan(offset, out.size()), out.begin());
    return;
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ErrorKind::failed,
                  fmt::format("{}: cannot read at byte {}: {}", name_, offset,
                              got == 0 ? "unexpected end of file" : error_text(errno)));
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

BlockHeader ReelInput::block_header(std::uint64_t offset, std::uint64_t end) const {
  if (end - offset < kBlockHeaderSize) throw Damage("unexpected end of file in a block");
  std::array<std::byte, kBlockHeaderSize> bytes;
  read(offset, bytes);
  const BlockHeader header = parse_block_header(bytes);
  if (header.size > end - offset - kBlockHeaderSize)
    throw Damage("unexpected end of file in a block");
  return header;
}

std::span<const std::byte> ReelInput::block(std::uint64_t offset, const BlockHeader& header) {
  if (block_.size() < header.size) block_.resize(header.size);
  const std::span bytes(block_.data(), header.size);
  read(offset + kBlockHeaderSize, bytes);
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (block_checksum(header, view) != header.checksum) {
    throw Damage("checksum mismatch in a block");
  }
  return bytes;
}

void ReelInput::fail(std::uint64_t offset, std::string_view text) const {
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("{}: byte {}: corrupt reel: {}; copy it again from its source, or record again",
                  name_, offset, text));
}

void ReelInput::fail_foreign() const {
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("{}: byte 0: not a reel; convert other programs' traces with filereel import",
                  name_));
}

void ReelInput::fail_version(std::uint32_t version) const {
  throw Error(
      ErrorKind::unusable_input,
      fmt::format(
          "{}: byte {}: unsupported reel format version {}: expected 1 to {}; use a newer filereel",
          name_, kReelMagic.size(), version, kReelFormatVersion));
}

}  // namespace filereel

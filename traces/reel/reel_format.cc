#include "traces/reel/reel_format.h"

#include <xxhash.h>

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

}  // namespace filereel

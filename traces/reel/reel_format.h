// The frame of reel files: header, block headers, footer. See docs/reel-format.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/descriptor.h"
#include "traces/reel/reel_reader.h"

namespace filereel {

inline constexpr std::string_view kReelMagic = "\x89REEL\r\n\x1a";
inline constexpr std::string_view kReelEndMagic = "REELEND\n";
inline constexpr std::size_t kReelHeaderSize = 24;
inline constexpr std::size_t kReelFooterSize = 32;
inline constexpr std::size_t kBlockHeaderSize = 28;

inline constexpr std::uint32_t kMaxBlockSize = 16u << 20;  // bytes, without the header
inline constexpr std::uint32_t kMaxBlockItems = 65'536;
inline constexpr std::uint32_t kBlockOperations = 32'768;  // per block in new reels
inline constexpr std::uint32_t kMaxTimeUnit = 1'000'000'000;
inline constexpr std::size_t kMaxNameSize = 255;
inline constexpr std::size_t kMaxTextSize = 65'535;  // bytes of a text, and of a complete path

// The values are the first four bytes of a block.
enum class BlockType : std::uint32_t {
  paths = 0x48544150,       // "PATH"
  texts = 0x54584554,       // "TEXT"
  operations = 0x5245504f,  // "OPER"
  initial = 0x54494e49,     // "INIT": entries of the tree before
  final = 0x414e4946,       // "FINA": of the tree after
  threads = 0x44524854,     // "THRD"
  info = 0x4f464e49,        // "INFO"
  index = 0x58444e49,       // "INDX"
};
bool is_block_type(std::uint32_t type);

struct BlockHeader {
  BlockType type = BlockType::info;
  std::uint32_t size = 0;   // bytes after the header
  std::uint32_t count = 0;  // number of elements
  std::uint64_t first = 0;  // number of the first element
  std::uint64_t checksum = 0;
};

// Covers the preceding 20 bytes of the header and the bytes of the block.
std::uint64_t block_checksum(const BlockHeader& header, std::string_view bytes);
// Header and bytes, ready to write.
std::string make_block(BlockType type, std::uint32_t count, std::uint64_t first,
                       std::string_view bytes);
// Throws Damage if the bytes are not a valid block header.
BlockHeader parse_block_header(std::span<const std::byte, kBlockHeaderSize> bytes);

std::string make_reel_header(std::uint32_t time_unit_ns);

struct ReelFooter {
  std::uint64_t index = 0;  // offset of the first index block
  std::uint64_t operations = 0;
};
std::string make_reel_footer(const ReelFooter& footer);
// Throws Damage if the checksum is wrong.
ReelFooter parse_reel_footer(std::span<const std::byte, kReelFooterSize> bytes);

// The bytes of a reel, from a file or from memory.
class ReelInput {
 public:
  explicit ReelInput(const std::string& path);
  ReelInput(std::span<const std::byte> bytes, std::string name);

  std::uint64_t size() const { return size_; }

  // Fills `out` from `offset`; the range must be within size(). Throws Error(failed).
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  // The header of the block at `offset`, which must end at or before `end`. Throws Damage.
  BlockHeader block_header(std::uint64_t offset, std::uint64_t end) const;

  // The bytes of that block, verified; valid until the next call. Throws Damage.
  std::span<const std::byte> block(std::uint64_t offset, const BlockHeader& header);

  // Throws Error(unusable_input) with the fault and the byte offset.
  [[noreturn]] void fail(std::uint64_t offset, std::string_view text) const;
  [[noreturn]] void fail_foreign() const;
  [[noreturn]] void fail_version(std::uint32_t version) const;

 private:
  std::string name_;
  Descriptor file_;
  std::span<const std::byte> bytes_;  // without a file
  std::uint64_t size_ = 0;
  std::vector<std::byte> block_;
};

}  // namespace filereel

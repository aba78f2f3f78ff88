// The bytes of a reel, from a file or from memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/descriptor.h"
#include "traces/reel/reel_format.h"

namespace filereel {

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

// Parses one event of the kernel program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "traces/calls/system_call.h"
#include "traces/record/bpf/bpf_event.h"

namespace filereel {

class BpfEventView {
 public:
  struct Part {
    bool there = false;  // present and not truncated
    bool cut = false;    // present and truncated
    bool deleted = false, partial = false, sibling = false;
    std::string_view bytes;
  };

  // Creates views of `bytes`, which must outlive them. False if the bytes are not an event.
  bool read(std::span<const std::byte> bytes);

  const bpf_event& head() const { return head_; }
  const Part& string(std::size_t which) const { return strings_[which]; }
  const Part& copy(std::size_t which) const { return copies_[which]; }
  const Part& real(std::size_t which) const { return reals_[which]; }
  const Part& entry() const { return entry_; }
  unsigned entry_kind() const { return entry_kind_; }
  const Part& result() const { return result_; }
  const std::optional<bpf_identity>& identity() const { return identity_; }

  // The number at `offset` of a copied structure; 0 if it is beyond the copied bytes.
  template <typename Number>
  static Number number(const Part& part, std::size_t offset);
  // The same for a number of `size` bytes: 2, 4 or 8.
  static std::uint64_t number(const Part& part, std::size_t offset, std::size_t size);

  std::uint64_t argument(std::size_t number) const { return head_.arguments[number]; }

 private:
  bpf_event head_{};
  std::array<Part, 3> strings_;
  std::array<Part, 2> copies_, reals_;
  Part result_, entry_;
  unsigned entry_kind_ = 0;
  std::optional<bpf_identity> identity_;
};

// The text of a real path, whose components are stored last first: "/a/b", followed by kRemovedMark
// if its name has been removed. Empty if it is incomplete.
std::string real_path(const BpfEventView::Part& part);

// As SystemCall::fd_path, of what is not a file.
inline constexpr std::string_view kNoFilePath = "anon_inode:";

SeenStat seen_stat(const bpf_identity& identity);

template <typename Number>
Number BpfEventView::number(const Part& part, std::size_t offset) {
  Number value{};
  if (part.there && offset + sizeof(value) <= part.bytes.size()) {
    part.bytes.substr(offset).copy(reinterpret_cast<char*>(&value), sizeof(value));
  }
  return value;
}

inline std::uint64_t BpfEventView::number(const Part& part, std::size_t offset, std::size_t size) {
  if (size == 8) return number<std::uint64_t>(part, offset);
  return size == 4 ? number<std::uint32_t>(part, offset) : number<std::uint16_t>(part, offset);
}

}  // namespace filereel

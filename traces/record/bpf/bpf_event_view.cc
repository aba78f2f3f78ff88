#include "traces/record/bpf/bpf_event_view.h"

#include <cstring>
#include <vector>

#include <sys/sysmacros.h>

namespace filereel {

bool BpfEventView::read(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(head_)) return false;
  std::memcpy(&head_, bytes.data(), sizeof(head_));
  strings_ = {};
  copies_ = reals_ = {};
  result_ = entry_ = {};
  identity_.reset();
  std::size_t at = sizeof(head_);
  while (at + sizeof(bpf_part) <= bytes.size()) {
    bpf_part part;
    std::memcpy(&part, &bytes[at], sizeof(part));
    at += sizeof(part);
    if (part.size > bytes.size() - at) return false;
    const Part found{.there = (part.flags & PART_CUT) == 0,
                     .cut = (part.flags & PART_CUT) != 0,
                     .deleted = (part.flags & PART_DELETED) != 0,
                     .partial = (part.flags & PART_PARTIAL) != 0,
                     .sibling = (part.flags & PART_SIBLING) != 0,
                     .bytes = {reinterpret_cast<const char*>(bytes.data()) + at, part.size}};
    at += part.size;
    switch (part.kind) {
      case PART_STRING:
        if (part.which < strings_.size()) strings_[part.which] = found;
        break;
      case PART_COPY:
        if (part.which < copies_.size()) copies_[part.which] = found;
        break;
      case PART_REAL:
        if (part.which < reals_.size()) reals_[part.which] = found;
        break;
      case PART_IDENTITY:
        if (part.size != sizeof(bpf_identity)) return false;
        std::memcpy(&identity_.emplace(), found.bytes.data(), sizeof(bpf_identity));
        break;
      case PART_ENTRY:
        entry_ = found;
        entry_kind_ = part.which;
        break;
      case PART_RESULT:
        result_ = found;
        break;
      default:
        return false;
    }
  }
  return at == bytes.size();
}

std::string real_path(const BpfEventView::Part& part) {
  if (!part.there) return {};
  std::vector<std::string_view> components;
  for (std::string_view rest = part.bytes; !rest.empty();) {
    const std::size_t length = static_cast<unsigned char>(rest[0]);
    if (length + 1 > rest.size()) return {};
    components.push_back(rest.substr(1, length));
    rest.remove_prefix(length + 1);
  }
  std::string path;
  path.reserve(part.bytes.size() + 10);
  for (std::size_t i = components.size(); i-- > 0;) {
    path += '/';
    path += components[i];
  }
  if (path.empty()) path = "/";
  if (part.deleted) path += kRemovedMark;
  return path;
}

SeenStat seen_stat(const bpf_identity& identity) {
  constexpr unsigned kMinorBits = 20;  // of the kernel's own dev_t
  SeenStat seen;
  seen.mode = identity.mode;
  seen.size = identity.size;
  seen.device = makedev(identity.device >> kMinorBits, identity.device & ((1u << kMinorBits) - 1));
  seen.inode = identity.inode;
  seen.generation = identity.generation;
  return seen;
}

}  // namespace filereel

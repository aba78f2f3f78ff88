#include "traces/calls/access_control_list.h"

#include <cstddef>

namespace filereel {
namespace {

// linux/posix_acl_xattr.h: a version of 4 bytes, and entries of a tag and permissions of 2 bytes
// each and an ID of 4 bytes; all little-endian.
constexpr std::size_t kListHeader = 4, kListEntry = 8;
constexpr std::uint32_t kListVersion = 2;
constexpr std::uint32_t kUser = 1, kNamedUser = 2, kGroup = 4, kNamedGroup = 8, kMask = 16,
                        kOthers = 32;

std::uint32_t number(std::string_view value, std::size_t at, std::size_t size) {
  std::uint32_t result = 0;
  for (std::size_t i = size; i-- > 0;) {
    result = result << 8 | static_cast<unsigned char>(value[at + i]);
  }
  return result;
}

}  // namespace

std::optional<AccessListMode> mode_of_access_list(std::string_view value) {
  if (value.size() <= kListHeader || (value.size() - kListHeader) % kListEntry != 0)
    return std::nullopt;
  if (number(value, 0, kListHeader) != kListVersion) return std::nullopt;
  std::optional<std::uint32_t> user, group, mask, others;
  for (std::size_t at = kListHeader; at < value.size(); at += kListEntry) {
    const std::uint32_t tag = number(value, at, 2), permissions = number(value, at + 2, 2);
    if (permissions > 7) return std::nullopt;
    if (tag == kUser) {
      user = permissions;
    } else if (tag == kGroup) {
      group = permissions;
    } else if (tag == kMask) {
      mask = permissions;
    } else if (tag == kOthers) {
      others = permissions;
    } else if (tag != kNamedUser && tag != kNamedGroup) {
      return std::nullopt;
    }
  }
  if (!user || !group || !others) return std::nullopt;
  // The mask takes the place of the group's permissions.
  return AccessListMode{.mode = *user << 6 | mask.value_or(*group) << 3 | *others,
                        .is_all = value.size() == kListHeader + 3 * kListEntry};
}

}  // namespace filereel

// The mode that an access control list implies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace filereel {

// Attributes that hold such lists: of the file itself, and of what is created in a directory.
inline constexpr std::string_view kAccessList = "system.posix_acl_access";
inline constexpr std::string_view kDefaultList = "system.posix_acl_default";

struct AccessListMode {
  std::uint32_t mode = 0;  // permissions of user, group and others
  bool is_all = false;     // the list has nothing else
};

// nullopt if `value`, the bytes of the attribute, is not a complete list.
std::optional<AccessListMode> mode_of_access_list(std::string_view value);

}  // namespace filereel

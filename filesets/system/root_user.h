// Advice for those whom the system denies something.
#pragma once

#include <string_view>

namespace filereel {

// What root needs in a container that denies mounts.
inline constexpr std::string_view kAllowMounts = "allow mounts (CAP_SYS_ADMIN)";

// Whether this process has the user ID of root. In a container or a sandbox, root may lack what the
// advice to run as root promises.
bool is_root() noexcept;

// `for_user` advises to run as root; it is of no use to root.
inline std::string_view root_advice(std::string_view for_user, std::string_view for_root) noexcept {
  return is_root() ? for_root : for_user;
}

}  // namespace filereel

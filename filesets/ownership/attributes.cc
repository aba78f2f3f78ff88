#include "filesets/ownership/attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"

namespace filereel {

std::string_view name_of_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    default:
      return "a file";
  }
}

std::string_view protection_of(int directory, const std::string& name) {
  const int before = errno;
  struct statx state{};
  const int found =
      statx(directory, name.c_str(), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_TYPE, &state);
  errno = before;
  if (found != 0) return "";
  if (state.stx_attributes & STATX_ATTR_IMMUTABLE) return "immutable (chattr +i)";
  return state.stx_attributes & STATX_ATTR_APPEND ? "append-only (chattr +a)" : "";
}

void require_changeable(int directory, const std::string& shown) {
  const std::string_view protection = protection_of(directory);
  if (protection.empty()) return;
  const bool immutable = protection.starts_with("immutable");
  throw_failed(fmt::format(
      "{} is {}: nothing in it can be {}; remove the attribute (chattr -{}), or choose another "
      "directory",
      printable(shown), protection, immutable ? "created" : "removed", immutable ? 'i' : 'a'));
}

}  // namespace filereel

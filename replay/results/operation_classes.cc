#include "replay/results/operation_classes.h"

#include <algorithm>
#include <array>

#include <errno.h>

namespace filereel {
namespace {

bool sets_attributes(OperationKind kind) {
  using enum OperationKind;
  return is_about_attributes(kind) || kind == change_mode || kind == change_owner ||
         kind == set_times;
}

// Errors about names and descriptors, about what is in a file, and about other threads.
bool is_of_state(int error) {
  constexpr std::array kErrors = {ENOENT, EEXIST,  ENOTDIR, EISDIR, ENOTEMPTY,
                                  EBADF,  ENODATA, ENXIO,   EAGAIN, EINTR};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

}  // namespace

std::string_view divergence_class_name(DivergenceClass kind) {
  static constexpr std::array<std::string_view, kDivergenceClasses> kNames = {
      "mismatch", "consequence", "limit", "content"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_about_attributes(OperationKind kind) {
  using enum OperationKind;
  return kind == get_xattr || kind == set_xattr || kind == list_xattr || kind == remove_xattr;
}

bool is_unsupported(OperationKind kind, int error) {
  using enum OperationKind;
  switch (error) {
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOTTY:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EOVERFLOW:
    case ENAMETOOLONG:
    case EILSEQ:
    case EROFS:
    case EMLINK:
    case EMFILE:
    case ENFILE:
    case ENOLCK:
      return true;
    case EXDEV:
      return kind == copy_range || kind == link || kind == rename;
    case E2BIG:  // values of attributes
    case ERANGE:
      return kind == set_xattr;
    case ENODEV:
      return kind == map;
    case ENOMEM:
      return kind == map || kind == fault;
    case EPERM:  // FAT supports neither links nor modes
      return kind == symlink || kind == link || kind == change_mode || kind == set_times ||
             kind == change_owner;
    case EINVAL:  // direct I/O, characters that FAT does not allow, modes of fallocate
      return kind != unlink && kind != remove_directory && kind != close && kind != stat;
    default:
      return false;
  }
}

bool is_failed_call(const Operation& operation, std::int64_t result) noexcept {
  if (operation.expected < 0) return false;
  if (result >= 0) return operation.kind == OperationKind::write && result < operation.expected;
  const int error = static_cast<int>(-result);
  if (sets_attributes(operation.kind) && is_unsupported(operation.kind, error)) return false;
  return !is_of_state(error);
}

}  // namespace filereel

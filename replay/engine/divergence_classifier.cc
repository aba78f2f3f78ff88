#include "replay/engine/divergence_classifier.h"

#include <array>

#include <errno.h>
#include <fcntl.h>

#include "filesets/system/search.h"

namespace filereel {
namespace {

bool is_either(std::int64_t result, int a, int b) {
  return result == -a || result == -b;
}

// Two errors that mean the same.
bool same_error(OperationKind kind, std::int64_t expected, std::int64_t result) {
  const auto both = [&](int a, int b) {
    return is_either(expected, a, b) && is_either(result, a, b);
  };
  using enum OperationKind;
  switch (kind) {
    case get_xattr:
    case remove_xattr:
      return both(EOPNOTSUPP, ENODATA);
    case unlink:  // of a directory: Linux and POSIX
      return both(EISDIR, EPERM);
    case remove_directory:
    case rename:
      return both(ENOTEMPTY, EEXIST);
    case lock:
      return both(EAGAIN, EACCES);
    default:
      return false;
  }
}

bool is_limit(const Operation& operation, std::int64_t result) {
  if (operation.expected >= 0 && result < 0) {
    return is_unsupported(operation.kind, static_cast<int>(-result));
  }
  // The reverse: the recorded system lacked the feature.
  const bool missed = operation.expected == -EOPNOTSUPP || operation.expected == -ENOSYS ||
                      operation.expected == -ENOTTY || operation.expected == -EXDEV;
  return missed && result >= 0;
}

// Whether the divergence concerns existence, so that it affects everything below.
bool is_about_existence(const Operation& operation, std::int64_t result) {
  using enum OperationKind;
  switch (operation.kind) {
    case make_directory:
    case remove_directory:
    case rename:
    case unlink:
    case symlink:
    case link:
      return true;
    default:
      return is_either(result, ENOENT, ENOTDIR) || is_either(operation.expected, ENOENT, ENOTDIR);
  }
}

// Whether files and their content are the same for any result: later operations see no difference,
// except in the attributes themselves.
bool leaves_no_trace(const Operation& operation, std::int64_t result) {
  using enum OperationKind;
  switch (operation.kind) {
    case change_mode:
    case change_owner:
    case set_times:
    case get_xattr:
    case set_xattr:
    case list_xattr:
    case remove_xattr:
    case stat:
    case stat_volume:
    case access:
    case read_link:
    case seek:
    case advise:
    case read_ahead:
    case sync:
    case sync_data:
    case sync_range:
    case sync_volume:
      return !is_about_existence(operation, result);
    default:
      return false;
  }
}

bool uses_mapping(OperationKind kind) {
  return has(operation_info(kind).fields, Field::source) && kind != OperationKind::copy_range;
}

}  // namespace

bool same_result(const Operation& operation, std::int64_t result) noexcept {
  const std::int64_t expected = operation.expected;
  if (result == expected) return true;
  // The recorded call was interrupted by a signal, which does not recur.
  if (expected == -EINTR) return true;
  switch (operation_info(operation.kind).comparison) {
    case Comparison::nothing:
      return true;
    case Comparison::success:
      if (result >= 0 && expected >= 0) return true;
      break;
    case Comparison::exact:
      break;
  }
  return same_error(operation.kind, expected, result);
}

DivergenceClass DivergenceClassifier::judge(const Operation& operation, PathId path,
                                            std::int64_t result) noexcept {
  const std::lock_guard lock(mutex_);
  DivergenceClass what = DivergenceClass::mismatch;
  if (touched(operation, path)) {
    what = DivergenceClass::consequence;
  } else if (is_limit(operation, result)) {
    what = DivergenceClass::limit;
  }
  try {
    remember(operation, path, result);
  } catch (const std::bad_alloc&) {  // the next divergence is then judged alone
  }
  return what;
}

bool DivergenceClassifier::is_consequence(const Operation& operation, PathId path) noexcept {
  const std::lock_guard lock(mutex_);
  return touched(operation, path);
}

bool DivergenceClassifier::touched(const Operation& operation, PathId path) const {
  if (is_about_attributes(operation.kind) && attributes_.contains(operation.entry)) return true;
  if (operation.entry != kNoFileId) {
    if (files_.contains(operation.entry)) return true;
  } else if (operation.file != kNoFile && slots_.contains(operation.file)) {
    return true;
  }
  if (operation.source != kNoFile) {
    const auto& numbers = uses_mapping(operation.kind) ? mappings_ : slots_;
    if (numbers.contains(operation.source)) return true;
  }
  return touched_name(path) || touched_name(operation.old_path);
}

bool DivergenceClassifier::touched_name(PathId path) const {
  bool above = false;
  for (; !paths_.is_root(path); path = paths_.node(path).parent) {
    const auto found = names_.find(path);
    if (found != names_.end() && (found->second || !above)) return true;
    above = true;
  }
  return false;
}

void DivergenceClassifier::remember(const Operation& operation, PathId path, std::int64_t result) {
  const std::size_t remembered =
      names_.size() + files_.size() + attributes_.size() + slots_.size() + mappings_.size();
  if (remembered >= kMostRemembered) return;
  if (leaves_no_trace(operation, result)) {
    const bool known = operation.entry != kNoFileId;
    if (known && is_about_attributes(operation.kind)) attributes_.insert(operation.entry);
    return;
  }
  const bool opens = operation.kind == OperationKind::open;  // a copy may name it as its source
  if (operation.entry != kNoFileId) files_.insert(operation.entry);
  if (operation.file != kNoFile && (opens || operation.entry == kNoFileId)) {
    slots_.insert(operation.file);
  }
  if (operation.source != kNoFile && uses_mapping(operation.kind)) {
    mappings_.insert(operation.source);
  }
  const bool below = is_about_existence(operation, result);
  remember_name(path, below);
  remember_name(operation.old_path, below);
}

void DivergenceClassifier::remember_name(PathId path, bool below) {
  // Everything is below a root: remembering it would explain too much.
  if (paths_.is_root(path)) return;
  bool& all = names_[path];
  all = all || below;
}

}  // namespace filereel

#include "traces/calls/kept_part.h"

namespace filereel {

bool KeptPart::takes(const Operation& operation) const {
  using enum OperationKind;
  if (!directory_) return true;
  switch (operation.kind) {
    case fork:
    case join:
    case exit:
    case reap:
      return true;
    case open:
      return is_inside(operation.path) || (operation.file != kNoFile && shows(operation.file));
    case close:
      return shows(operation.file);
    case copy_range:
      return is_inside_file(operation.file) || is_inside_file(operation.source);
    case rename:  // of a directory above it too
      return is_inside(operation.path) || is_inside(operation.old_path) ||
             paths_.is_below(*directory_, operation.old_path);
    case link:
      return is_inside(operation.path) ||
             (operation.file != kNoFile ? is_inside_file(operation.file)
                                        : is_inside(operation.old_path));
    case sync_volume:
      return operation.file == kNoFile || is_inside_file(operation.file);
    case unmap:
    case sync_map:
    case fault:
      return state(mappings_, operation.source).inside;
    default:
      return operation.file != kNoFile ? is_inside_file(operation.file) : is_inside(operation.path);
  }
}

void KeptPart::follow(const Operation& operation) {
  using enum OperationKind;
  if (!directory_) return;
  switch (operation.kind) {
    case open:
      if (operation.file == kNoFile) return;
      at(files_, operation.file) = {takes(operation), is_inside(operation.path)};
      return;
    case close:
      at(files_, operation.file) = {};
      return;
    case map:
      at(mappings_, operation.source).inside = is_inside_file(operation.file);
      return;
    default:
      return;
  }
}

}  // namespace filereel

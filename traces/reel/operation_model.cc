#include "traces/reel/operation_model.h"

namespace filereel {
namespace {

ColumnMask make_mask(OperationKind kind) {
  const Field fields = operation_info(kind).fields;
  ColumnMask mask =
      bit(Column::bits) | bit(Column::expected) | bit(Column::gap) | bit(Column::duration);
  const auto add = [&](Field field, Column column) {
    if (has(fields, field)) mask = static_cast<ColumnMask>(mask | bit(column));
  };
  add(Field::length, Column::length);
  add(Field::file | Field::target, Column::file);
  add(Field::source, Column::source);
  add(Field::old_path, Column::old_path);
  add(Field::path | Field::target, Column::path);
  add(Field::flags, Column::flags);
  add(Field::mode, Column::mode);
  add(Field::offset, Column::offset);
  add(Field::second, Column::second);
  add(Field::text, Column::text);
  add(Field::method, Column::method);
  add(Field::path | Field::file | Field::target | Field::source, Column::entry);
  return mask;
}

}  // namespace

const std::array<ColumnMask, kOperationKinds>& column_masks() {
  static const std::array<ColumnMask, kOperationKinds> masks = [] {
    std::array<ColumnMask, kOperationKinds> made{};
    for (std::size_t k = 0; k < kOperationKinds; ++k) {
      made[k] = make_mask(static_cast<OperationKind>(k));
    }
    return made;
  }();
  return masks;
}

std::array<bool, kOperationKinds> OperationModel::make_always_path() {
  std::array<bool, kOperationKinds> always{};
  for (std::size_t k = 0; k < kOperationKinds; ++k) {
    always[k] = has(operation_info(static_cast<OperationKind>(k)).fields, Field::path);
  }
  return always;
}

}  // namespace filereel

#include "traces/export/operation_fields.h"

#include <climits>

namespace filereel {

int error_of(const Operation& operation) {
  if (operation.expected >= 0) return 0;
  return operation.expected < -INT_MAX ? INT_MAX : static_cast<int>(-operation.expected);
}

OperationFields::OperationFields(const Operation& operation) {
  using enum FieldForm;
  const Field used = operation_info(operation.kind).fields;
  const bool target = has(used, Field::target);
  const bool file = (has(used, Field::file) || target) && operation.file != kNoFile;
  if (has(used, Field::path) || (target && !file)) add("path", path, operation.path);
  // A link is created from an open file or from an old name.
  const bool link_of_file = operation.kind == OperationKind::link && file;
  if (has(used, Field::old_path) && !link_of_file) add("old_path", path, operation.old_path);
  if (file) add("file", number, operation.file);
  if (has(used, Field::source)) add("source", number, operation.source);
  if (has(used, Field::flags)) add("flags", flags, operation.flags);
  if (has(used, Field::mode)) add("mode", permissions, operation.mode);
  const bool times = operation.kind == OperationKind::set_times;
  if (has(used, Field::offset)) add("offset", times ? time : number, operation.offset);
  if (has(used, Field::length)) add("length", number, operation.length);
  if (has(used, Field::second)) add("second", times ? time : number, operation.second);
  if (has(used, Field::text)) add("text", text, operation.text);
  if (has(used, Field::method)) add("method", word, 0, copy_method_name(operation.method));
  if (operation.data == DataSource::last_read) add("last_read", mark, 1);
  if (operation.asynchronous) add("asynchronous", mark, 1);
  if (operation.loose) add("loose", mark, 1);
  if (operation.hole) add("hole", mark, 1);
}

void OperationFields::add(std::string_view name, FieldForm form, std::uint64_t value,
                          std::string_view word) {
  fields_[count_++] = {.name = name, .form = form, .value = value, .word = word};
}

}  // namespace filereel

#include "traces/export/dump.h"

#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "filesets/system/printable.h"

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

namespace {

void append_microseconds(std::uint64_t ns, std::string& out) {
  fmt::format_to(std::back_inserter(out), " {}.{:03}", ns / 1000, ns % 1000);
}

void append_value(const OperationField& field, const TraceTables& tables, std::string& out) {
  const auto end = std::back_inserter(out);
  switch (field.form) {
    case FieldForm::path:
      append_escaped(tables.paths.relative(static_cast<PathId>(field.value)), Blanks::escaped, out);
      break;
    case FieldForm::text:
      append_escaped(tables.texts.text(static_cast<TextId>(field.value)), Blanks::escaped, out);
      break;
    case FieldForm::number:
      fmt::format_to(end, "{}", field.value);
      break;
    case FieldForm::flags:
      fmt::format_to(end, "0x{:x}", field.value);
      break;
    case FieldForm::permissions:
      fmt::format_to(end, "{:04o}", field.value);
      break;
    case FieldForm::time:
      if (field.value == kTimeNow) {
        out += "now";
      } else if (field.value == kTimeOmit) {
        out += "omit";
      } else {
        fmt::format_to(end, "{}", static_cast<std::int64_t>(field.value));
      }
      break;
    case FieldForm::word:
      out += field.word;
      break;
    case FieldForm::mark:
      break;
  }
}

}  // namespace

void append_dump_line(const RecordedOperation& recorded, const TraceTables& tables, bool times,
                      std::string& out) {
  const Operation& operation = recorded.operation;
  const auto end = std::back_inserter(out);
  fmt::format_to(end, "{}", operation.position);
  if (times) {
    append_microseconds(recorded.start_ns, out);
    append_microseconds(recorded.duration_ns, out);
  }
  fmt::format_to(end, " {} {}", operation.thread, operation_info(operation.kind).name);
  for (const OperationField& field : OperationFields(operation)) {
    fmt::format_to(end, " {}", field.name);
    if (field.form == FieldForm::mark) continue;
    out += '=';
    append_value(field, tables, out);
  }
  if (const int error = error_of(operation)) {
    fmt::format_to(end, " = {}\n", errno_name(error));
  } else {
    fmt::format_to(end, " = {}\n", operation.expected);
  }
}

std::string errno_name(int number) {
  const char* name = number > 0 ? strerrorname_np(number) : nullptr;
  return name ? name : fmt::format("errno {}", number);
}

}  // namespace filereel

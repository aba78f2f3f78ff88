#include "traces/export/dump.h"

#include <cstdint>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "filesets/system/escapes.h"
#include "traces/export/operation_fields.h"

namespace filereel {
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

#include "traces/export/json_text.h"

#include <cstddef>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "filesets/system/utf8.h"
#include "traces/export/dump.h"

namespace filereel {
namespace {

void append_json_value(const OperationField& field, const TraceTables& tables, std::string& out) {
  const auto end = std::back_inserter(out);
  switch (field.form) {
    case FieldForm::path:
      append_json(tables.paths.relative(static_cast<PathId>(field.value)), out);
      break;
    case FieldForm::text:
      append_json(tables.texts.text(static_cast<TextId>(field.value)), out);
      break;
    case FieldForm::number:
    case FieldForm::flags:
      fmt::format_to(end, "{}", field.value);
      break;
    case FieldForm::permissions:
      fmt::format_to(end, "\"{:04o}\"", field.value);
      break;
    case FieldForm::time:
      if (field.value == kTimeNow) {
        out += "\"now\"";
      } else if (field.value == kTimeOmit) {
        out += "\"omit\"";
      } else {
        fmt::format_to(end, "{}", static_cast<std::int64_t>(field.value));
      }
      break;
    case FieldForm::word:
      append_json(field.word, out);
      break;
    case FieldForm::mark:
      out += "true";
      break;
  }
}

}  // namespace

void append_json(std::string_view bytes, std::string& out) {
  out += '"';
  while (!bytes.empty()) {
    const std::optional<Character> character = first_character(bytes);
    const char first = bytes.front();
    const auto byte = static_cast<unsigned char>(first);
    if (!character || byte < 0x20 || byte == 0x7f || first == '\\') {
      fmt::format_to(std::back_inserter(out), "\\\\x{:02x}", byte);
    } else if (first == '"') {
      out += "\\\"";
    } else {
      out += bytes.substr(0, character->length);
    }
    bytes.remove_prefix(character ? character->length : 1);
  }
  out += '"';
}

void append_json_us(std::uint64_t ns, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}.{:03}", ns / 1000, ns % 1000);
}

void append_json_fields(const Operation& operation, const TraceTables& tables, std::string& out) {
  const auto end = std::back_inserter(out);
  for (const OperationField& field : OperationFields(operation)) {
    fmt::format_to(end, ",\"{}\":", field.name);
    append_json_value(field, tables, out);
  }
  if (const int error = error_of(operation)) {
    fmt::format_to(end, ",\"error\":\"{}\"", errno_name(error));
  } else {
    fmt::format_to(end, ",\"result\":{}", operation.expected);
  }
}

}  // namespace filereel

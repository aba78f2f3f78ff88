// One line of text per operation: readable, comparable, stable between versions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "traces/operation.h"
#include "traces/recorded_trace.h"

namespace filereel {

// --- The members of an operation used by its kind, by name: for dumps and exports.

enum class FieldForm : std::uint8_t {
  path,         // a PathId
  text,         // a TextId
  number,       // decimal
  flags,        // hexadecimal
  permissions,  // octal
  time,         // signed nanoseconds since 1970, kTimeNow or kTimeOmit
  word,         // `word` instead of the value
  mark,         // present or not, without a value
};

struct OperationField {
  std::string_view name;
  FieldForm form;
  std::uint64_t value = 0;
  std::string_view word;
};

// The recorded errno of the operation, 0 if it succeeded.
int error_of(const Operation& operation);

class OperationFields {
 public:
  explicit OperationFields(const Operation& operation);

  const OperationField* begin() const { return fields_.data(); }
  const OperationField* end() const { return fields_.data() + count_; }

 private:
  void add(std::string_view name, FieldForm form, std::uint64_t value, std::string_view word = {});

  std::array<OperationField, 16> fields_;
  std::size_t count_ = 0;
};

// Appends "POSITION START DURATION THREAD NAME FIELDS… = RESULT\n" with the fields of the kind
// (operation_info) by name, paths escaped as in .fileset files, errors by name (ENOENT). Times are
// in microseconds with three decimals; without `times`, START and DURATION are omitted.
void append_dump_line(const RecordedOperation& operation, const TraceTables& tables, bool times,
                      std::string& out);

// "ENOENT"; "errno 4711" for one without a name.
std::string errno_name(int number);

}  // namespace filereel

// One line of text per operation: readable, comparable, stable between versions.
#pragma once

#include <string>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Appends "POSITION START DURATION THREAD NAME FIELDS… = RESULT\n" with the fields of the kind
// (operation_info) by name, paths escaped as in .fileset files, errors by name (ENOENT). Times are
// in microseconds with three decimals; without `times`, START and DURATION are omitted.
void append_dump_line(const RecordedOperation& operation, const TraceTables& tables, bool times,
                      std::string& out);

// "ENOENT"; "errno 4711" for one without a name.
std::string errno_name(int number);

}  // namespace filereel

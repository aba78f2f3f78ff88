// One line of text for each operation: for people, for comparing traces, stable between versions.
#pragma once

#include <string>

#include "traces/recorded_operation.h"
#include "traces/trace_info.h"

namespace filereel {

// Appends "POSITION START DURATION THREAD NAME FIELDS… = RESULT\n" with the fields of the kind
// (operation_info) by name, paths escaped as in .fileset files, errors by their names (ENOENT).
// Times in microseconds with three decimals; without `times` START and DURATION are left out.
void append_dump_line(const RecordedOperation& operation, const TraceTables& tables, bool times,
                      std::string& out);

// "ENOENT"; "errno 4711" for one without a name.
std::string errno_name(int number);

}  // namespace filereel

// Writes JSON in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/recorded_trace.h"

namespace filereel {

// Appends `bytes` as a JSON string. Control bytes, the backslash and invalid UTF-8 are written as
// \xHH, as in .fileset files.
void append_json(std::string_view bytes, std::string& out);

// Appends microseconds with three decimals.
void append_json_us(std::uint64_t ns, std::string& out);

// Appends `,"path":"a","offset":0 …`, the fields of the operation and its result.
void append_json_fields(const Operation& operation, const TraceTables& tables, std::string& out);

}  // namespace filereel

// System calls that neither change files, names or descriptors of files nor move their data. Every
// call of Linux is in this table or in that of the calls that concern files (call_table.h), so that
// a call in neither of them is known to be a new one.
#pragma once

#include <span>
#include <string_view>

namespace filereel {

struct HarmlessCall {
  long number;  // SYS_* of this processor, or kNoNumber
  std::string_view name;
};

// Calls that only look at files, without reading them, are here, too (getcwd, name_to_handle_at).
std::span<const HarmlessCall> harmless_calls();
bool is_harmless_call(std::string_view name);
// Whether Linux has a call of this name, as far as is known here.
bool is_system_call(std::string_view name);

}  // namespace filereel

// Numbers of system calls, some of which the headers or the processor lack.
#pragma once

#include <string_view>

#include <sys/syscall.h>

namespace filereel {

// The value of a macro that may be undefined, from the text of its expansion: kNoNumber if that is
// the macro's name.
inline constexpr long kNoNumber = -1;
constexpr long number_in(std::string_view expansion) {
  long number = 0;
  for (const char c : expansion) {
    if (c < '0' || c > '9') return kNoNumber;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace filereel

#define FILEREEL_TEXT(expanded) #expanded
#define FILEREEL_TEXT_OF(macro) FILEREEL_TEXT(macro)
// SYS_`name` of this processor, or kNoNumber.
#define FILEREEL_CALL_NUMBER(name) ::filereel::number_in(FILEREEL_TEXT_OF(SYS_##name))

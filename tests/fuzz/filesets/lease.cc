// Leases: whatever the bytes are, nothing is thrown, and what can be read is all that the text
// says.
#include "filesets/ownership/lease.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(lease) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto note = filereel::parse_lease(text);
  if (note && filereel::format_lease(*note) != text) std::abort();
}

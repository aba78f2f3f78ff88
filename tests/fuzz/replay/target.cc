// Volumes as they are named on the command line: the only exception is Error, and a target that was
// understood can be written and understood again.
#include "replay/volumes/target.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(target) {
  filereel::Target target;
  try {
    target = filereel::parse_target({reinterpret_cast<const char*>(data), size});
  } catch (const filereel::Error&) {
    return;
  }
  const filereel::Target again = filereel::parse_target(target.text());
  if (again.kind != target.kind || again.path != target.path) std::abort();
  const bool is_part = target.is_part();
  if (is_part && (again.start != target.start || again.size != target.size)) std::abort();
}

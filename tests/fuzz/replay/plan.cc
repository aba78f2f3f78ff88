// Plans: whatever the bytes are, the only exception is Error and nothing grows without bound.
#include "replay/plan/plan.h"

#include <cstdint>
#include <string_view>

#include "filesets/system/error.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(plan) {
  try {
    filereel::plan_from_yaml({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const filereel::Error&) {
  }
}

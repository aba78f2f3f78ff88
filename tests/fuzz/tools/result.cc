// Results: whatever the bytes are, the only exception is Error; what was read can be written, and
// read again to the same, and with less detail to less.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "filesets/system/error.h"
#include "replay/results/result_json.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/cli/result_table.h"

FUZZ_TARGET(result) {
  filereel::Result result;
  try {
    result = filereel::result_from_json({reinterpret_cast<const char*>(data), size}, "input");
  } catch (const filereel::Error&) {
    return;
  }
  const auto plain = [](std::string text) { return text; };
  filereel::format_result(result, plain);
  const std::string written = filereel::result_to_json(result);
  const std::string again =
      filereel::result_to_json(filereel::result_from_json(written, "written"));
  if (again != written) std::abort();
  result.keep_figures();
  const filereel::Result figures =
      filereel::result_from_json(written, "figures", filereel::ResultDetail::figures);
  if (filereel::result_to_json(figures) != filereel::result_to_json(result)) std::abort();
}

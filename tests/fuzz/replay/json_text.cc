// JSON: whatever the bytes are, the parser of results accepts what nlohmann's accepts, and reads
// the same from it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay/json.h"
#include "replay/results/json_events.h"
#include "tests/fuzz/fuzz_target.h"

FUZZ_TARGET(json_text) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!filereel::exceeded_json_limit(text).empty()) return;
  filereel::Json tree;
  try {
    if (filereel::read_json(text, filereel::place_of(tree, "tree"))) std::abort();
  } catch (const filereel::Json::exception&) {
    if (filereel::Json::accept(text)) std::abort();
    return;
  } catch (const filereel::SchemaError&) {  // zero bytes, and 0e999, which is 0
    return;
  }
  if (tree != filereel::Json::parse(text)) std::abort();
}

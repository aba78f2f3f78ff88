// Lets libFuzzer run the one fuzz target that is linked.
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_targets().front().run(data, size);
  return 0;
}

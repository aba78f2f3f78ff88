// The samples have the numbers of x86-64's system calls.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "tests/traces/bpf_event_samples.h"

namespace filereel {
namespace {

// With FILEREEL_WRITE_SAMPLES in the environment they are written anew.
TEST_CASE("the fuzzing samples have the current event format") {
  const char* data = std::getenv("FILEREEL_TEST_DATA");
  REQUIRE(data != nullptr);
  for (const BpfSample& sample : bpf_event_samples()) {
    const std::string path = std::string(data) + "/fuzz/corpus/bpf_events/" + sample.name();
    if (std::getenv("FILEREEL_WRITE_SAMPLES") != nullptr) {
      std::ofstream(path, std::ios::binary) << sample.bytes();
    }
    std::ifstream kept(path, std::ios::binary);
    CAPTURE(path);
    CHECK(std::string(std::istreambuf_iterator<char>(kept), {}) == sample.bytes());
  }
}

}  // namespace
}  // namespace filereel

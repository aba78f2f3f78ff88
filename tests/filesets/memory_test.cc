#include <cstdint>
#include <new>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"

namespace filereel {
namespace {

TEST_CASE("running out of memory blames what was too large") {
  CHECK(within_memory("the set", [] { return 7; }) == 7);
  CHECK_THROWS_WITH_AS(within_memory("the set", []() -> int { throw std::bad_alloc(); }),
                       doctest::Contains("the set needs more memory than is available; "), Error);
  CHECK_THROWS_WITH_AS(within_memory("the set", []() -> int { throw_failed("no disk"); }),
                       "no disk", Error);
}

TEST_CASE("memory that cannot be had is seen before it is needed") {
  CHECK_NOTHROW(require_memory(0, "nothing"));
  CHECK_NOTHROW(require_memory(1 << 20, "a little"));
  CHECK_THROWS_WITH_AS(require_memory(std::size_t{1} << 62, "the moon"),
                       doctest::Contains("the moon needs more memory"), Error);
}

}  // namespace
}  // namespace filereel

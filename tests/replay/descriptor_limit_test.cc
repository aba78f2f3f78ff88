#include "replay/engine/descriptor_limit.h"

#include <cstdint>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

rlimit current() {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  return limit;
}

TEST_CASE("the limit of open files is raised if permitted, otherwise an error") {
  const rlimit before = current();
  rlimit low = before;
  low.rlim_cur = 64;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  allow_descriptors(0, 0);
  CHECK(current().rlim_cur == 64);  // enough
  REQUIRE(highest_descriptor_limit() >= descriptors_needed(10, 2));
  allow_descriptors(10, 2);
  CHECK(current().rlim_cur >= descriptors_needed(10, 2));
  CHECK_THROWS_WITH_AS(allow_descriptors(1ULL << 40, 3),
                       doctest::Contains("the trace has 1099511627776 files open at once"), Error);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

}  // namespace
}  // namespace filereel

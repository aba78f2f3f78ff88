#include <cstdint>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "filesets/system/error.h"
#include "replay/engine/replayer.h"

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
  REQUIRE(highest_descriptor_limit() >= descriptors_needed(10, 50));
  constexpr std::size_t kFewest = 4;
  const std::size_t directories = allow_descriptors(10, 2);
  CHECK(directories >= kFewest);
  CHECK(current().rlim_cur >= descriptors_needed(10, 2) + 2 * (directories - kFewest));
  const rlimit enough = current();
  CHECK(allow_descriptors(0, 0) >= directories);
  CHECK(current().rlim_cur >= enough.rlim_cur);  // never lowered
  CHECK(allow_descriptors(10, 50) >= kFewest);
  CHECK(allow_descriptors(10, 50) <= directories);
  CHECK_THROWS_WITH_AS(allow_descriptors(1ULL << 40, 3),
                       doctest::Contains("the trace has 1099511627776 files open at once"), Error);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

}  // namespace
}  // namespace filereel

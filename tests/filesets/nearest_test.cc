#include <array>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"blocking", "io_uring", "null", "app-compile"};

TEST_CASE("a name with a slip is near to the right one") {
  for (const char* wrong : {"nul", "nulll", "nlul", "nill"}) {
    CAPTURE(wrong);
    CHECK(nearest_names(wrong, kNames) == std::vector<std::string_view>{"null"});
  }
  CHECK(nearest_names("compile", kNames) == std::vector<std::string_view>{"app-compile"});
  CHECK(nearest_names("asynchronous", kNames).empty());
  CHECK(nearest_names("", kNames).empty());
}

TEST_CASE("a message ends with the names that there are, and the nearest ones") {
  CHECK(use_one_of("nul", kNames) ==
        ": use blocking, io_uring, null, app-compile; did you mean 'null'?");
  CHECK(use_one_of("none-of-it", kNames) == ": use blocking, io_uring, null, app-compile");
}

}  // namespace
}  // namespace filereel

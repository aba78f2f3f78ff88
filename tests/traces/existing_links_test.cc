#include <cstdint>
#include <ctime>
#include <string>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "tests/skipped.h"
#include "tests/temp_dir.h"
#include "tests/traces/recorded_calls.h"
#include "traces/calls/this_machine.h"
#include "traces/record/program.h"

namespace filereel {
namespace {

const auto kSelf = static_cast<std::uint32_t>(getpid());
const std::string kElsewhere = "symbolic links in another mount namespace not resolved";

std::uint64_t soon_ns() {
  return (static_cast<std::uint64_t>(std::time(nullptr)) + 60) * 1'000'000'000;
}

std::string namespace_of(std::uint32_t process) {
  return boost::filesystem::read_symlink(fmt::format("/proc/{}/ns/mnt", process)).string();
}

TEST_CASE("only links older than the recording are read") {
  const TempDir temp;
  REQUIRE(symlink("to", (temp / "link").c_str()) == 0);
  RecordedCalls calls;
  CHECK(ExistingLinks(soon_ns(), kSelf, calls.builder)(temp / "link") == "to");
  CHECK(ExistingLinks(0, kSelf, calls.builder)(temp / "link").empty());
  CHECK(ExistingLinks(soon_ns(), kSelf, calls.builder)(temp / "none").empty());
  CHECK(calls.approximated(kElsewhere) == 0);
}

TEST_CASE("links are not read for a process with other mounts") {
  const TempDir temp;
  REQUIRE(symlink("to", (temp / "link").c_str()) == 0);
  HeldProgram program({"true"}, [] {
    if (unshare(CLONE_NEWNS) != 0) unshare(CLONE_NEWUSER | CLONE_NEWNS);
  });
  const auto id = static_cast<std::uint32_t>(program.pid());
  if (namespace_of(id) == namespace_of(kSelf)) {
    return skipped("the kernel gives nobody a mount namespace here");
  }
  RecordedCalls calls;
  ExistingLinks links(soon_ns(), id, calls.builder);
  CHECK(links(temp / "link").empty());
  CHECK(calls.approximated(kElsewhere) == 1);
}

}  // namespace
}  // namespace filereel

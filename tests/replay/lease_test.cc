#include "replay/volumes/lease.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/error.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal(const std::string& path) {
  try {
    const Lease lease(path, "the volume");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed);
    return error.what();
  }
  return "";
}

TEST_CASE("a lease is a file that says so, and is gone with the lease") {
  const TempDir temp;
  {
    const Lease lease(temp / "mark", "the volume");
    CHECK_FALSE(lease.found());
    CHECK(text_of(temp / "mark").find("filereel works here") == 0);
  }
  CHECK_FALSE(exists(temp / "mark"));
}

TEST_CASE("a second lease is refused while the first one lives, and harms nothing") {
  const TempDir temp;
  std::optional<Lease> first(std::in_place, temp / "mark", "the volume");
  const std::string before = text_of(temp / "mark");
  CHECK(refusal(temp / "mark") ==
        "the volume is in use by another filereel: wait for it or choose another volume");
  CHECK(text_of(temp / "mark") == before);
  first.reset();
  CHECK(refusal(temp / "mark").empty());
}

TEST_CASE("a lease that was kept is found by the next one") {
  const TempDir temp;
  {
    Lease lease(temp / "mark", "v");
    lease.keep();
  }
  CHECK(exists(temp / "mark"));
  {
    const Lease lease(temp / "mark", "v");
    CHECK(lease.found());
  }
  CHECK_FALSE(exists(temp / "mark"));
}

TEST_CASE("the lease of a killed process is taken over") {
  const TempDir temp;
  const pid_t child = fork();
  if (child == 0) {
    const Lease lease(temp / "mark", "v");
    _exit(0);  // no destructor runs, as with SIGKILL
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(exists(temp / "mark"));
  const Lease lease(temp / "mark", "v");
  CHECK(lease.found());
}

TEST_CASE("a symbolic link in the place of the file is not followed") {
  const TempDir temp;
  std::ofstream(temp / "precious") << "mine";
  REQUIRE(symlink("precious", (temp / "mark").c_str()) == 0);
  CHECK_FALSE(refusal(temp / "mark").empty());
  CHECK(text_of(temp / "precious") == "mine");
  CHECK(exists(temp / "mark"));
}

TEST_CASE("a place that cannot be written is named") {
  const TempDir temp;
  const std::string text = refusal(temp / "no/such/mark");
  CHECK(text.find(temp / "no/such/mark") != std::string::npos);
  CHECK(text.find("No such file") != std::string::npos);
}

}  // namespace
}  // namespace filereel

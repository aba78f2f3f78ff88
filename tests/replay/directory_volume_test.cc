#include <fstream>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "filesets/system/error.h"
#include "replay/volumes/volume.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

std::unique_ptr<Volume> volume_in(const TempDir& temp, bool keep = false) {
  VolumeOptions options;
  options.keep = keep;
  std::unique_ptr<Volume> volume = open_volume({TargetKind::directory, temp.path()}, options);
  volume->take();
  return volume;
}

TEST_CASE("a directory's files are there when it was kept, and only then") {
  const TempDir temp;
  for (const bool keep : {false, true}) {
    const auto volume = volume_in(temp);
    volume->prepare(std::nullopt);
    REQUIRE(mkdirat(volume->root(), "d", 0700) == 0);
    volume->finish(keep);
    CHECK(exists(temp / "d") == keep);
  }
}

TEST_CASE("a volume that is not finished keeps its files only if it was told to") {
  const TempDir temp;
  for (const bool keep : {false, true}) {
    const auto volume = volume_in(temp, keep);
    volume->prepare(std::nullopt);
    CHECK(mkdirat(volume->root(), "d", 0700) == 0);
  }
  CHECK(exists(temp / "d"));
  const auto volume = volume_in(temp);
  CHECK_FALSE(exists(temp / "d"));
}

TEST_CASE("preparing a directory again empties it") {
  const TempDir temp;
  const auto volume = volume_in(temp);
  for (int i = 0; i < 2; ++i) {
    volume->prepare(std::nullopt);
    CHECK(mkdirat(volume->root(), "d", 0700) == 0);
  }
}

TEST_CASE("a directory that filereel did not fill is refused") {
  const TempDir temp;
  std::ofstream(temp / "mine") << "x";
  CHECK_THROWS_AS(volume_in(temp), Error);
  CHECK(exists(temp / "mine"));
}

}  // namespace
}  // namespace filereel

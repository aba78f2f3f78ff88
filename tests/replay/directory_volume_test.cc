#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "filesets/error.h"
#include "replay/volumes/volume.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

void make_file(const std::string& path, const std::string& text = "") {
  std::ofstream(path) << text;
}

std::unique_ptr<Volume> volume_in(const TempDir& temp, std::vector<std::string> names) {
  VolumeOptions options;
  options.makes = [names = std::move(names)](const FileSystemLimits&) { return names; };
  return open_volume({TargetKind::directory, temp.path()}, options);
}

TEST_CASE("a directory that was kept is cleared of what its marker remembers, of nothing else") {
  const TempDir temp;
  {
    const auto volume = volume_in(temp, {"tmp", "a name", "new\nline"});
    volume->prepare(std::nullopt);
    ::mkdir((temp / "tmp").c_str(), 0777);
    make_file(temp / "tmp/x");
    make_file(temp / "a name");
    make_file(temp / "new\nline");
    volume->finish(true);
  }
  make_file(temp / "mine");
  const auto volume = volume_in(temp, {"other"});
  CHECK_FALSE(exists(temp / "tmp"));
  CHECK_FALSE(exists(temp / "a name"));
  CHECK_FALSE(exists(temp / "new\nline"));
  CHECK(exists(temp / "mine"));
  make_file(temp / "other");
  volume->finish(false);
  CHECK_FALSE(exists(temp / "other"));
  CHECK(exists(temp / "mine"));
  CHECK_FALSE(exists(temp / ".filereel-volume"));
}

TEST_CASE("a marker that names other places than names in its directory harms nothing") {
  const TempDir outside, temp;
  make_file(outside / "victim");
  make_file(temp / ".filereel-volume", "filereel works here.\n.. . / ../x " + (outside / "victim") +
                                           " .filereel-volume \\x2e\\x2e \\x00 \\\n");
  const auto volume = volume_in(temp, {});
  CHECK(exists(outside / "victim"));
  CHECK(exists(temp / ".filereel-volume"));
}

TEST_CASE("a marker keeps its names when the volume cannot be opened") {
  const TempDir temp;
  {
    const auto volume = volume_in(temp, {"tmp"});
    ::mkdir((temp / "tmp").c_str(), 0777);
    volume->finish(true);
  }
  VolumeOptions options;
  options.makes = [](const FileSystemLimits&) -> std::vector<std::string> {
    throw Error(ErrorKind::failed, "a name is too long");
  };
  CHECK_THROWS_AS(open_volume({TargetKind::directory, temp.path()}, options), Error);
  CHECK(exists(temp / ".filereel-volume"));
  volume_in(temp, {})->finish(false);
  CHECK_FALSE(exists(temp / "tmp"));
}

TEST_CASE("more names than a marker can remember are refused") {
  const TempDir temp;
  CHECK_THROWS_AS(volume_in(temp, std::vector<std::string>(70'000, std::string(255, 'x'))), Error);
  CHECK_FALSE(exists(temp / ".filereel-volume"));
}

TEST_CASE("a directory that filereel did not fill is refused") {
  const TempDir temp;
  make_file(temp / "mine");
  CHECK_THROWS_AS(volume_in(temp, {"tmp"}), Error);
  CHECK(exists(temp / "mine"));
}

}  // namespace
}  // namespace filereel

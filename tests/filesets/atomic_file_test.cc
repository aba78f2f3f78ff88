#include "filesets/ownership/atomic_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

auto entries(const TempDir& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("a file appears with its whole content when it is committed") {
  const TempDir folder;
  AtomicFile file(folder / "a");
  file.write("one ");
  file.write("two");
  CHECK_FALSE(fs::exists(folder / "a"));
  CHECK(file.commit().empty());
  CHECK(content(folder / "a") == "one two");
  CHECK(entries(folder) == 1);
}

TEST_CASE("without a commit the old file stays and nothing is left behind") {
  const TempDir folder;
  std::ofstream(folder / "a") << "old";
  {
    AtomicFile file(folder / "a");
    file.write("new");
  }
  CHECK(content(folder / "a") == "old");
  CHECK(entries(folder) == 1);
}

TEST_CASE("a file that must not replace another gives way to it") {
  const TempDir folder;
  AtomicFile first(folder / "a");
  AtomicFile second(folder / "a");
  first.write("first");
  second.write("second");
  CHECK(first.commit_new());
  CHECK_FALSE(second.commit_new());
  CHECK(content(folder / "a") == "first");
}

TEST_CASE("two files can be written at once") {
  const TempDir folder;
  AtomicFile a(folder / "a");
  AtomicFile b(folder / "b");
  a.write("a");
  b.write("b");
  CHECK(a.commit().empty());
  CHECK(b.commit().empty());
  CHECK(content(folder / "a") == "a");
  CHECK(content(folder / "b") == "b");
}

TEST_CASE("a file whose directory was renamed is in the renamed one") {
  const TempDir folder;
  fs::create_directory(folder / "d");
  AtomicFile file(folder / "d/a");
  file.write("content");
  fs::rename(folder / "d", folder / "e");
  CHECK(file.commit().ends_with("d/a: its directory was renamed; kept as " + file.path()));
  CHECK(fs::equivalent(file.path(), folder / "e/a"));
  CHECK(content(folder / "e/a") == "content");
  CHECK(entries(folder) == 1);
}

TEST_CASE("a file whose directory was removed is beside it and replaces nothing") {
  const TempDir folder;
  fs::create_directories(folder / "d/d");
  AtomicFile file(folder / "d/d/a.x");
  file.write("content");
  fs::remove_all(folder / "d");
  std::ofstream(folder / "a.x") << "mine";
  CHECK(file.commit().ends_with("d/d/a.x: its directory was removed; kept as " + file.path()));
  CHECK(content(folder / "a-2.x") == "content");
  CHECK(content(folder / "a.x") == "mine");
  CHECK(entries(folder) == 2);
}

TEST_CASE("a file that appeared under the name is not replaced") {
  const TempDir folder;
  AtomicFile file(folder / "a");
  file.write("content");
  std::ofstream(folder / "a") << "mine";
  CHECK(file.commit().find("another file has taken the name") != std::string::npos);
  CHECK(content(folder / "a") == "mine");
  CHECK(content(folder / "a-2") == "content");
}

TEST_CASE("a symbolic link is followed instead of replaced") {
  const TempDir folder;
  std::ofstream(folder / "real") << "old";
  fs::create_symlink("real", folder / "link");
  AtomicFile file(folder / "link");
  file.write("new");
  CHECK(file.commit().empty());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "real") == "new");
}

TEST_CASE("a name that no file can have is refused before anything is written") {
  const TempDir folder;
  CHECK_THROWS_WITH_AS(AtomicFile{folder / std::string(300, 'a')},
                       doctest::Contains("File name too long; choose a shorter name"), Error);
  CHECK_THROWS_AS(AtomicFile{folder / std::string(5000, 'a')}, Error);
  CHECK(AtomicFile(folder / std::string(255, 'a')).commit().empty());
}

TEST_CASE("files that must not be replaced are refused before anything is written") {
  const TempDir folder;
  std::ofstream(folder / "a") << "old";
  const Descriptor file(open((folder / "a").c_str(), O_RDONLY | O_CLOEXEC));
  for (const int attribute : {FS_IMMUTABLE_FL, FS_APPEND_FL}) {
    int attributes = attribute;
    if (ioctl(file.get(), FS_IOC_SETFLAGS, &attributes) != 0) return skipped("chattr +i");
    CHECK_THROWS_WITH_AS(AtomicFile{folder / "a"}, doctest::Contains("(chattr +"), Error);
    attributes = 0;
    ioctl(file.get(), FS_IOC_SETFLAGS, &attributes);
  }
  CHECK(AtomicFile(folder / "a").commit().empty());
}

TEST_CASE("directories and missing folders are refused") {
  const TempDir folder;
  CHECK_THROWS_AS(AtomicFile(folder.path()), Error);
  CHECK_THROWS_AS(AtomicFile(folder / "no/such/folder"), Error);
  CHECK(entries(folder) == 0);
}

TEST_CASE("a number fits behind the longest names") {
  const TempDir folder;
  for (const std::string& name : {std::string(255, 'n'), std::string(250, 'n') + ".reel"}) {
    AtomicFile file(folder / name);
    file.write("content");
    std::ofstream(folder / name) << "mine";
    CHECK(!file.commit().empty());
    CHECK(content(folder / name) == "mine");
    CHECK(content(file.path()) == "content");
  }
  CHECK(content(folder / (std::string(248, 'n') + "-2.reel")) == "content");
}

}  // namespace
}  // namespace filereel

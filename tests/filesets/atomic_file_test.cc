#include "filesets/atomic_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>

#include "filesets/error.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
  auto entries() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
  fs::path path = fs::temp_directory_path() / fs::unique_path("filereel-test-%%%%%%%%");
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("a file appears with its whole content when it is committed") {
  const Folder folder;
  AtomicFile file(folder.file("a"));
  file.write("one ");
  file.write("two");
  CHECK_FALSE(fs::exists(folder.file("a")));
  file.commit();
  CHECK(content(folder.file("a")) == "one two");
  CHECK(folder.entries() == 1);
}

TEST_CASE("without a commit the old file stays and nothing is left behind") {
  const Folder folder;
  std::ofstream(folder.file("a")) << "old";
  {
    AtomicFile file(folder.file("a"));
    file.write("new");
  }
  CHECK(content(folder.file("a")) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("two files can be written at once") {
  const Folder folder;
  AtomicFile a(folder.file("a"));
  AtomicFile b(folder.file("b"));
  a.write("a");
  b.write("b");
  a.commit();
  b.commit();
  CHECK(content(folder.file("a")) == "a");
  CHECK(content(folder.file("b")) == "b");
}

TEST_CASE("a symbolic link is followed instead of replaced") {
  const Folder folder;
  std::ofstream(folder.file("real")) << "old";
  fs::create_symlink("real", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new");
  file.commit();
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(content(folder.file("real")) == "new");
}

TEST_CASE("devices, directories and missing folders are refused") {
  const Folder folder;
  CHECK_THROWS_AS(AtomicFile("/dev/null"), Error);
  CHECK_THROWS_AS(AtomicFile(folder.path.string()), Error);
  CHECK_THROWS_AS(AtomicFile(folder.file("no/such/folder")), Error);
  CHECK(folder.entries() == 0);
}

}  // namespace
}  // namespace filereel

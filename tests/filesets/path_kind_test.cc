#include <cerrno>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/paths.h"
#include "tests/temp_dir.h"

namespace filereel {

TEST_CASE("what stands at a path") {
  const TempDir temp;
  const std::string file = temp / "file", link = temp / "link";
  std::ofstream(file) << "text";
  REQUIRE(::symlink("file", link.c_str()) == 0);
  REQUIRE(::symlink("nothing", (temp / "dangling").c_str()) == 0);
  CHECK(is_regular_file(file));
  CHECK(is_regular_file(link));
  CHECK(kind_of_name(link) == S_IFLNK);
  CHECK(is_directory(temp.path()));
  CHECK_FALSE(path_exists(temp / "dangling"));
  CHECK(kind_of_name(temp / "dangling") == S_IFLNK);
  CHECK_FALSE(path_exists(file + "/below"));
  CHECK(is_same_file(file, link));
  CHECK_FALSE(is_same_file(file, temp.path()));
  CHECK_FALSE(is_same_file(file + "1", file + "1"));
}

TEST_CASE("directories are created with their parents") {
  const TempDir temp;
  const std::string deep = temp / "a/b//c/";
  CHECK(make_directories(deep) == 0);
  CHECK(is_directory(deep));
  CHECK(make_directories(deep) == 0);
  std::ofstream(temp / "file") << "text";
  CHECK(make_directories(temp / "file") == ENOTDIR);
  CHECK(make_directories(temp / "file/d") == ENOTDIR);
}

}  // namespace filereel

#include "filesets/read_file.h"

#include <cerrno>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("a file is read as a whole, or as far as asked") {
  const TempDir folder;
  const std::string path = folder.path() + "/file";
  const std::string bytes = std::string(200'000, 'x') + std::string("a\0\xff\n", 4);
  std::ofstream(path, std::ios::binary) << bytes;
  CHECK(read_file(path) == bytes);
  CHECK(read_file(path, bytes.size()) == bytes);
  CHECK(read_file(path, 70'000) == bytes.substr(0, 70'000));
  CHECK(read_file(path, 0) == "");
  CHECK(read_file("/dev/null") == "");
}

TEST_CASE("what cannot be read gives nothing and says why") {
  const TempDir folder;
  CHECK_FALSE(read_file(folder.path() + "/none"));
  CHECK(errno == ENOENT);
  CHECK_FALSE(read_file(folder.path()));
  CHECK(errno == EISDIR);
}

}  // namespace
}  // namespace filereel

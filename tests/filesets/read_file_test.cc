#include "filesets/system/read_file.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
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

std::string whole(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(file);
  return read_whole(file.get(), most, "a name").value();
}

TEST_CASE("what is larger than may be read is refused by its size, or when it is seen") {
  const TempDir folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path, std::ios::binary) << std::string(100'000, 'x');
  CHECK(whole(path, 100'000).size() == 100'000);
  CHECK_THROWS_WITH_AS(whole(path, 99'999), doctest::Contains("a name: is larger than 100 kB"),
                       Error);
  CHECK_THROWS_AS(whole("/dev/zero", 1'000'000), Error);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  CHECK_THROWS_AS(whole(path, 1'000'000), Error);
}

}  // namespace
}  // namespace filereel

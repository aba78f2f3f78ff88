#include <algorithm>
#include <cerrno>
#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/paths.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("the names of a directory are read again by the same descriptor") {
  const TempDir folder;
  std::ofstream(folder / ".hidden");
  std::ofstream(folder / "b\xff\n");
  const Descriptor directory(open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 2; ++i) {
    auto names = names_in(directory.get());
    REQUIRE(names);
    std::ranges::sort(*names);
    CHECK(*names == std::vector<std::string>{".hidden", "b\xff\n"});
  }
}

TEST_CASE("what is no directory gives no names and says why") {
  const TempDir folder;
  std::ofstream(folder / "file");
  const Descriptor file(open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC));
  CHECK_FALSE(names_in(file.get()));
  CHECK(errno == ENOTDIR);
  CHECK_FALSE(names_in(-1));
  CHECK(errno == EBADF);
}

}  // namespace
}  // namespace filereel

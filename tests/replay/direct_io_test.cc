#include <string>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>

#include "filesets/system/descriptor.h"
#include "replay/volumes/page_cache.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("trying direct I/O leaves nothing behind, whatever comes of it") {
  TempDir temp;
  const Descriptor root(::open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  can_do_direct_io(root.get(), "probe", 4096, 4096);
  CHECK(boost::filesystem::is_empty(temp.path()));
}

TEST_CASE("no file system on a disk does direct I/O of some odd bytes") {
  const std::string folder = temporary_on_disk();
  if (folder.empty()) return skipped("no folder for temporary files lies on a disk");
  TempDir temp(folder);
  const Descriptor root(::open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK_FALSE(can_do_direct_io(root.get(), "probe", 24, 24));
  CHECK(boost::filesystem::is_empty(temp.path()));
}

}  // namespace
}  // namespace filereel

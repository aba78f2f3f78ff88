#include "replay/volumes/mount.h"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "filesets/ownership/leftovers.h"
#include "filesets/system/programs.h"
#include "tests/skipped.h"
#include "tests/state_dir.h"

namespace filereel {
namespace {

TEST_CASE("a mount point that something else is mounted on stays on the list until it is gone") {
  const StateDir state;
  if (!loop_devices_available() || !find_program("mkfs.ext4")) return skipped("loop devices");
  const std::string image = state / "image";
  const Descriptor file(::open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::ftruncate(file.get(), 8 << 20) == 0);
  run_program({"mkfs.ext4", "-q", image}, "cannot format");
  const LoopDevice device(file.get(), image);
  std::string path;
  {
    const Mount mount({.kind = FileSystemKind::ext4}, {.kernel = true, .name = "ext4"},
                      device.path(), "near");
    path = mount.path();
    REQUIRE(::mount("none", path.c_str(), "tmpfs", 0, "size=1m") == 0);
  }  // unmounts what it sees, which is not its own
  const std::vector<ListedLease> left = list_leases();
  REQUIRE(left.size() == 1);
  CHECK(left.front().note.path == path);
  CHECK(left.front().state == LeaseState::left);

  const std::vector<ListedLease> removed = remove_leftovers();
  REQUIRE(removed.size() == 1);
  CHECK(removed.front().state == LeaseState::removed);
  CHECK(::access(path.c_str(), F_OK) != 0);
  CHECK(list_leases().empty());
}

}  // namespace
}  // namespace filereel

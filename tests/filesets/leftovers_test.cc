#include "filesets/ownership/leftovers.h"

#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "tests/skipped.h"
#include "tests/state_dir.h"

namespace filereel {
namespace {

// What a killed run left: a mount point, and its lease.
std::string left_mount_point(const StateDir& state) {
  std::string path = state / "mount-1-near-0123";
  Lease lease({.kind = LeaseKind::mount_point, .path = path});
  REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  const Descriptor parent(::open(state.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lease.made(read_file_state(parent.get(), "mount-1-near-0123").value().identity);
  return path;
}

TEST_CASE("a mount point stays on the list until nothing is mounted on it") {
  const StateDir state;
  const std::string path = left_mount_point(state);
  if (::mount("none", path.c_str(), "tmpfs", 0, "size=1m") != 0) return skipped("mounts (root)");
  const std::vector<ListedLease> covered = remove_leftovers();
  const std::vector<ListedLease> list = list_leases();
  REQUIRE(::umount2(path.c_str(), UMOUNT_NOFOLLOW) == 0);
  REQUIRE(covered.size() == 1);
  CHECK(covered.front().state == LeaseState::left);
  CHECK(covered.front().why == "another file system is mounted on " + path + "; unmount it");
  REQUIRE(list.size() == 1);
  CHECK(list.front().state == LeaseState::left);

  const std::vector<ListedLease> bare = remove_leftovers();
  REQUIRE(bare.size() == 1);
  CHECK(bare.front().state == LeaseState::removed);
  CHECK(::access(path.c_str(), F_OK) != 0);
  CHECK(list_leases().empty());
}

}  // namespace
}  // namespace filereel

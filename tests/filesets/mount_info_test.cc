#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesets/system/mounts.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

TEST_CASE("what is mounted is listed, with what the kernel says of them") {
  const auto all = mounted_file_systems();
  const auto find = [&](const std::string& point) {
    return std::ranges::find(all, point, &MountedFileSystem::mount_point);
  };
  REQUIRE(find("/proc") != all.end());
  CHECK(find("/proc")->type == "proc");
  CHECK(find("/proc")->options.find("rw") != std::string::npos);
  for (const MountedFileSystem& mounted : all) {
    CHECK(mounted.mount_point.starts_with('/'));
    CHECK_FALSE(mounted.type.empty());
  }
}

TEST_CASE("a line of mountinfo is parsed with or without optional fields, and escapes are undone") {
  const auto mounted = parse_mount(
      R"(42 28 8:17 /sub /mnt/my\040disk rw,noatime shared:1 master:2 - ext4 /dev/a\134b rw,discard)");
  REQUIRE(mounted);
  CHECK(mounted->device == makedev(8, 17));
  CHECK(mounted->root == "/sub");
  CHECK(mounted->mount_point == "/mnt/my disk");
  CHECK(mounted->type == "ext4");
  CHECK(mounted->source == "/dev/a\\b");
  CHECK(mounted->options == "rw,noatime,discard");
  CHECK(parse_mount("42 28 0:50 / /mnt rw - tmpfs none rw")->type == "tmpfs");
  CHECK_FALSE(parse_mount(""));
  CHECK_FALSE(parse_mount("not a line of mountinfo"));
}

TEST_CASE("an option of a mount has a value or is missing") {
  const std::string options = "rw,vers=4.2,addr=10.0.0.1,hard,cache=";
  CHECK(mount_option(options, "vers") == "4.2");
  CHECK(mount_option(options, "addr") == "10.0.0.1");
  CHECK(mount_option(options, "hard").empty());
  CHECK(mount_option(options, "cache").empty());
  CHECK(mount_option(options, "ddr").empty());
  CHECK(mount_option("vers=3", "vers") == "3");
  CHECK(distinct_options("rw,relatime,rw,noquota") == "rw,relatime,noquota");
  CHECK(mount_option("", "vers").empty());
}

TEST_CASE("a path lies on the file system of the nearest mount point above it") {
  const auto proc = mounted_at("/proc/self");
  REQUIRE(proc);
  CHECK(proc->type == "proc");
  CHECK(proc->mount_point == "/proc");
  const auto here = mounted_at("/proc");
  REQUIRE(here);
  CHECK(here->mount_point == "/proc");
}

TEST_CASE("the device of a mount is that of the files on it") {
  const TempDir temp;
  const auto mounted = mounted_at(temp.path());
  if (!mounted) return skipped("the root is no mount here (a chroot)");
  struct stat info{};
  REQUIRE(stat(temp.path().c_str(), &info) == 0);
  // btrfs and overlay file systems show their files under other numbers.
  if (mounted->type == "ext4" || mounted->type == "tmpfs" || mounted->type == "xfs") {
    CHECK(mounted->device == info.st_dev);
  }
}

TEST_CASE("a symbolic link counts where it leads") {
  const TempDir temp;
  REQUIRE(symlink("/proc/self", (temp / "link").c_str()) == 0);
  const auto mounted = mounted_at(temp / "link");
  REQUIRE(mounted);
  CHECK(mounted->type == "proc");
}

TEST_CASE("nothing is mounted where nothing is") {
  const TempDir temp;
  CHECK_FALSE(mounted_at(temp / "missing"));
}

}  // namespace
}  // namespace filereel

#include "replay/volumes/file_system.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "filesets/system/programs.h"
#include "replay/volumes/format.h"

namespace filereel {
namespace {

constexpr std::uint64_t kGiB = 1 << 30;

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

TEST_CASE("every kind has a row of its own in the table") {
  std::set<std::string_view> names;
  std::size_t index = 0;
  for (const FileSystemInfo& info : file_systems()) {
    CAPTURE(info.name);
    CHECK(static_cast<std::size_t>(info.kind) == index++);
    CHECK(&file_system_info(info.kind) == &info);
    CHECK(names.insert(info.name).second);
    CHECK(parse_file_system(info.name) == info.kind);
    CHECK_FALSE(info.kernel_type.empty());
    CHECK_FALSE(info.make_program.empty());
    CHECK(find_packages(info.make_program) != nullptr);
    if (!info.fuse_program.empty()) CHECK(find_packages(info.fuse_program) != nullptr);
    CHECK(info.min_volume_size >= 1 << 20);
    CHECK(info.limits.cluster >= 512);
    CHECK(info.limits.largest_file >= 4 * kGiB - 1);
  }
  CHECK(index == 6);
}

TEST_CASE("the command that makes a file system runs its program, quietly, on the device") {
  for (const FileSystemInfo& info : file_systems()) {
    CAPTURE(info.name);
    for (const bool is_device : {false, true}) {
      const auto command = make_command({.kind = info.kind}, "/dev/x", kGiB, is_device);
      REQUIRE(command.size() >= 2);
      CHECK(command.front() == info.make_program);
      CHECK(command.back() == "/dev/x");
      CHECK(holds(command, kVolumeLabel));
    }
  }
}

TEST_CASE("where there is a FUSE program its command mounts the source at the place") {
  for (const FileSystemInfo& info : file_systems()) {
    CAPTURE(info.name);
    const auto commands = fuse_commands({.kind = info.kind}, "a.img", "/mnt/x");
    REQUIRE(commands.empty() == info.fuse_program.empty());
    for (const std::vector<std::string>& command : commands) {
      CHECK(command.front() == info.fuse_program);
      CHECK(command[command.size() - 2] == "a.img");
      CHECK(command.back() == "/mnt/x");
    }
  }
}

TEST_CASE("images are not discarded, devices may be") {
  for (const FileSystemKind kind :
       {FileSystemKind::ext4, FileSystemKind::xfs, FileSystemKind::btrfs}) {
    CHECK(make_command({.kind = kind}, "x", kGiB, false) !=
          make_command({.kind = kind}, "x", kGiB, true));
  }
}

TEST_CASE("clusters of FAT32 grow with the volume and are never too many or too few") {
  constexpr std::uint64_t kLeast = 65'525, kMost = 268'435'444;  // Microsoft, fatgen103
  const FileSystemInfo& fat = file_system_info(FileSystemKind::fat32);
  std::uint64_t last = 0;
  for (std::uint64_t size = fat.min_volume_size; size <= 2048 * kGiB; size += size / 16) {
    CAPTURE(size);
    const std::uint64_t cluster = fat32_cluster(size);
    CHECK(cluster >= last);
    CHECK(size / cluster > kLeast);
    CHECK(size / cluster < kMost);
    last = cluster;
  }
  CHECK(fat32_cluster(100 << 20) == 512);
  CHECK(fat32_cluster(kGiB) == 4096);
  CHECK(fat32_cluster(64 * kGiB) == 32768);
  CHECK(holds(make_command({.kind = FileSystemKind::fat32}, "x", kGiB, false),
              "8"));  // sectors a cluster
}

TEST_CASE("limits are known by what the kernel calls a mounted file system") {
  for (const FileSystemInfo& info : file_systems()) {
    CAPTURE(info.name);
    const FileSystemLimits limits = limits_of_mounted(info.kernel_type);
    CHECK(limits.windows_names == info.limits.windows_names);
    CHECK(limits.links == info.limits.links);
    CHECK(limits.holes == info.limits.holes);
  }
  CHECK(limits_of_mounted("vfat").largest_file == 4 * kGiB - 1);
  CHECK(limits_of_mounted("fuse.fusefat").ascii_names);
  CHECK_FALSE(limits_of_mounted("vfat").ascii_names);
  CHECK(limits_of_mounted("fuseblk").windows_names);
  CHECK_FALSE(limits_of_mounted("a-new-one").windows_names);
  CHECK(limits_of_mounted("a-new-one").links);
  CHECK(limits_of_mounted("fuseblk").names_of_file == 65'535);
  CHECK(limits_of_mounted("ext4", 1024).link_text == 1023);
  CHECK(limits_of_mounted("ext4", 1024).largest_file == 1024ULL * UINT32_MAX);
  CHECK(limits_of_mounted("fuse2fs").names_of_file == 65'000);
}

TEST_CASE("a file system that there is not is refused with those there are") {
  for (const char* name : {"zfs", "", "EXT4", "fat"}) {
    try {
      parse_file_system(name);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      for (const FileSystemInfo& info : file_systems()) {
        CHECK(std::string_view(error.what()).find(info.name) != std::string_view::npos);
      }
    }
  }
}

}  // namespace
}  // namespace filereel

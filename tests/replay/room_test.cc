#include "replay/run/room.h"

#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/volumes/name_rules.h"
#include "tests/entries.h"

namespace filereel {
namespace {

constexpr std::uint64_t kGiB = 1 << 30;

FileSet files(std::uint64_t count, std::uint64_t size) {
  std::vector<Entry> entries = {directory("d")};
  for (std::uint64_t i = 0; i < count; ++i) entries.push_back(file("d/" + std::to_string(i), size));
  return set_of(entries);
}

std::string refusal(const FileSet& set, FileSystemKind kind, std::uint64_t bytes) {
  VolumeNeeds needs{.what = "the set"};
  add_needs(set, std::vector{kind}, 1, needs);
  try {
    check_formatted_capacity(needs, bytes, "image:x", "do this");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed);
    return error.what();
  }
  return "";
}

TEST_CASE("the least space counts clusters, directories and what is stored with the inode") {
  const auto least = [](FileSystemKind kind, std::uint64_t size) {
    return least_space(files(100, size), file_system_info(kind).limits, 1);
  };
  CHECK(least(FileSystemKind::ext4, 0) == 2 * 4096);
  CHECK(least(FileSystemKind::ext4, 1) == 102 * 4096);
  CHECK(least(FileSystemKind::ext4, 4097) == 202 * 4096);
  CHECK(least(FileSystemKind::xfs, 0) == 102 * 512);
  CHECK(least(FileSystemKind::xfs, 1) == 102 * 512 + 100 * 4096);
  CHECK(least(FileSystemKind::btrfs, 2048) == 102 * 330);
  CHECK(least(FileSystemKind::btrfs, 2049) == 102 * 330 + 100 * 4096);
  CHECK(least(FileSystemKind::fat32, 0) == 100 * 32 + 2 * (32 + 4096));
}

TEST_CASE("holes and second names take no space") {
  const FileSet set = set_of({sparse_file("s", 1 << 20, {{0, (1 << 20) - 4096}}), file("f", 4096),
                              link_to(EntryKind::hard_link, "h", "f")});
  const FileSystemLimits& ext4 = file_system_info(FileSystemKind::ext4).limits;
  CHECK(least_space(set, ext4, 1) == 3 * 4096);
  CHECK(least_space(set, ext4, 2) == 6 * 4096);
  const FileSystemLimits& fat = file_system_info(FileSystemKind::fat32).limits;
  CHECK(least_space(set, fat, 1) > 1 << 20);
}

TEST_CASE("the number of inodes is bounded where mkfs fixes it") {
  CHECK(most_entries(FileSystemKind::btrfs, kGiB) == std::nullopt);
  CHECK(most_entries(FileSystemKind::ntfs, kGiB) == std::nullopt);
  // mkfs.ext4 creates 262,144 and mkfs.xfs 2,097,152 on 4 GiB, and mkfs.ext4 65,536 on 256 MiB.
  const auto near = [](FileSystemKind kind, std::uint64_t size, std::uint64_t real) {
    return *most_entries(kind, size) >= real && *most_entries(kind, size) < real + real / 100;
  };
  CHECK(near(FileSystemKind::ext4, 4 * kGiB, 262'144));
  CHECK(near(FileSystemKind::xfs, 4 * kGiB, 2'097'152));
  CHECK(near(FileSystemKind::ext4, kGiB / 4, 65'536));
}

TEST_CASE("a volume without enough inodes is refused before it is formatted") {
  const std::string text = refusal(files(20'000, 0), FileSystemKind::ext4, 64 << 20);
  CHECK(text ==
        "not enough inodes on image:x for the set: 20002 needed, at most 16416 on ext4; "
        "do this");
  CHECK(refusal(files(20'000, 0), FileSystemKind::btrfs, 64 << 20).empty());
}

TEST_CASE("a volume without enough space is refused before it is formatted") {
  const FileSet set = files(1'000, 100);
  CHECK(refusal(set, FileSystemKind::ext4, 1'002 * 4096 - 1).starts_with("not enough space on"));
  CHECK(refusal(set, FileSystemKind::ext4, 16 << 20).empty());
  // FAT32 has larger clusters on larger volumes.
  CHECK(refusal(files(100, 1), FileSystemKind::fat32, 40 << 20).empty());
}

TEST_CASE("the needs of several sets are those of the largest") {
  VolumeNeeds needs;
  const std::vector kinds = {FileSystemKind::ext4, FileSystemKind::xfs};
  add_needs(files(10, 4096), kinds, 1, needs);
  add_needs(files(20, 0), kinds, 1, needs);
  REQUIRE(needs.formatted.size() == 2);
  CHECK(needs.formatted[0].entries == 22);
  CHECK(needs.formatted[0].bytes.at(4096) == 12 * 4096);
  CHECK(needs.least == 10 * 4096);
}

}  // namespace
}  // namespace filereel

#include "replay/jobs/room.h"

#include <optional>
#include <string>
#include <vector>

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
  CHECK(refusal(files(20'000, 0), FileSystemKind::btrfs, kGiB / 4).empty());
}

TEST_CASE("a volume without enough space is refused before it is formatted") {
  CHECK(refusal(files(4'000, 100), FileSystemKind::ext4, 16 << 20)
            .starts_with("not enough space on"));
  CHECK(refusal(files(1'000, 100), FileSystemKind::ext4, 16 << 20).empty());
  // FAT32 has larger clusters on larger volumes.
  CHECK(refusal(files(100, 1), FileSystemKind::fat32, 40 << 20).empty());
}

TEST_CASE("what mkfs and the driver keep at least is no space for files") {
  struct Formatted {
    FileSystemKind kind;
    std::uint64_t mebibytes, blocks, block;  // available on a fresh volume
    double share;                            // of the estimate that is real
  };
  // e2fsprogs 1.47.0, ntfs-3g 2022.10.3, dosfstools 4.2, exfatprogs 1.2.0, xfsprogs 6.1.0,
  // btrfs-progs 6.2, Linux 6.18.
  for (const Formatted& formatted : {Formatted{FileSystemKind::ext4, 64, 13'173, 4096, 0.99},
                                     {FileSystemKind::ext4, 256, 52'682, 4096, 0.99},
                                     {FileSystemKind::ext4, 512, 115'545, 4096, 0.99},
                                     {FileSystemKind::ext4, 600, 136'108, 4096, 0.99},
                                     {FileSystemKind::ext4, 1024, 231'986, 4096, 0.99},
                                     {FileSystemKind::ext4, 4096, 955'110, 4096, 0.99},
                                     {FileSystemKind::ext4, 65'536, 15'526'585, 4096, 0.99},
                                     {FileSystemKind::ntfs, 64, 15'758, 4096, 0.98},
                                     {FileSystemKind::ntfs, 600, 152'715, 4096, 0.99},
                                     {FileSystemKind::ntfs, 65'536, 16'760'207, 4096, 0.99},
                                     {FileSystemKind::fat32, 64, 129'021, 512, 0.99},
                                     {FileSystemKind::fat32, 600, 613'156, 1024, 0.99},
                                     {FileSystemKind::fat32, 65'536, 67'092'384, 1024, 0.99},
                                     {FileSystemKind::exfat, 64, 15'868, 4096, 0.96},
                                     {FileSystemKind::exfat, 600, 19'133, 32'768, 0.99},
                                     {FileSystemKind::xfs, 600, 128'514, 4096, 0.85},
                                     {FileSystemKind::xfs, 4096, 1'016'730, 4096, 0.97},
                                     {FileSystemKind::btrfs, 600, 132'864, 4096, 0.85},
                                     {FileSystemKind::btrfs, 4096, 913'152, 4096, 0.85}}) {
    CAPTURE(file_system_info(formatted.kind).name);
    CAPTURE(formatted.mebibytes);
    const std::uint64_t real = formatted.blocks * formatted.block;
    const std::uint64_t most = most_bytes(formatted.kind, formatted.mebibytes << 20);
    CHECK(most >= real);
    CHECK(static_cast<double>(real) > static_cast<double>(most) * formatted.share);
  }
}

TEST_CASE("a volume is refused if it is too small for one of the file systems") {
  CHECK(refusal(files(1, 1), FileSystemKind::xfs, kGiB / 4).find("too small for xfs") !=
        std::string::npos);
  CHECK(refusal(files(1, 1), FileSystemKind::xfs, kGiB).empty());
}

std::string refusal_of_directory(const VolumeNeeds& needs, std::uint64_t trees, std::uint64_t bytes,
                                 std::optional<std::uint64_t> entries) {
  try {
    check_capacity(needs, trees, bytes, entries, "dir", "do this");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a directory needs the clusters of its file system, for each client") {
  VolumeNeeds needs{.what = "the set"};
  const FileSystemLimits limits{.cluster = 4096, .entry_bytes = 0, .inline_bytes = 0};
  add_needs(files(10, 1), {}, 1, needs, &limits);
  CHECK(refusal_of_directory(needs, 1, 10 * 4096, 12).empty());
  CHECK(refusal_of_directory(needs, 1, 10 * 4096, std::nullopt).empty());
  CHECK(refusal_of_directory(needs, 1, 10 * 4096 - 1, 12).starts_with("not enough space on dir"));
  CHECK(refusal_of_directory(needs, 1, 10 * 4096, 11).starts_with("not enough inodes on dir"));
  CHECK(refusal_of_directory(needs, 2, 20 * 4096 - 1, 24).starts_with("not enough space on dir"));
  CHECK(refusal_of_directory(needs, 2, 20 * 4096, 23).starts_with("not enough inodes on dir"));
}

TEST_CASE("files that have the size that the volume allows need nothing, but a volume of a size") {
  VolumeNeeds needs{.what = "the set"};
  const std::vector kinds = {FileSystemKind::xfs};
  add_needs(files(20'000, 1 << 20), kinds, 1, needs);
  needs.adapt();
  CHECK(refusal_of_directory(needs, 1, 0, 0).empty());
  CHECK_NOTHROW(check_formatted_capacity(needs, kGiB, "image:x", ""));
  CHECK_THROWS_AS(check_formatted_capacity(needs, kGiB / 4, "image:x", ""), Error);
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

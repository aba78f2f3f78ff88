#include "replay/volumes/format.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

std::string refusal(auto parse, std::string_view text) {
  try {
    parse(text);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

std::string line_of(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

TEST_CASE("options of mkfs are words, and come before the device") {
  CHECK(parse_mkfs_options("-O  ^has_journal -m 0") ==
        std::vector<std::string>{"-O", "^has_journal", "-m", "0"});
  CHECK(parse_mkfs_options("defaults").empty());
  const Format format{.kind = FileSystemKind::xfs, .mkfs_options = {"-m", "reflink=0"}};
  CHECK(line_of(make_command(format, "/dev/x", 1 << 30, false)) ==
        "mkfs.xfs -q -f -L FILEREEL -K -m reflink=0 /dev/x");
}

TEST_CASE("-E of ext4 is added to filereel's own, which it would replace") {
  for (const char* text : {"-E stride=4", "-Estride=4"}) {
    const Format format{.kind = FileSystemKind::ext4, .mkfs_options = parse_mkfs_options(text)};
    CHECK(line_of(make_command(format, "/dev/x", 1 << 30, true)) ==
          "mkfs.ext4 -q -F -b 4096 -L FILEREEL -E lazy_itable_init=1,lazy_journal_init=1,stride=4 "
          "/dev/x");
  }
}

TEST_CASE("no program discards a drive whose state is to be kept") {
  for (const FileSystemInfo& info : file_systems()) {
    CAPTURE(info.name);
    const auto kept = make_command({.kind = info.kind, .discard = false}, "/dev/x", 1 << 30, true);
    CHECK(kept == make_command({.kind = info.kind}, "/dev/x", 1 << 30, false));
  }
}

TEST_CASE("options that name another place are refused") {
  for (const char* text :
       {"-J device=/dev/sda1", "-z /tmp/undo", "-J device=UUID=12", "-d ../x", "-J device=LABEL=x",
        "-J device=TYPE=jbd", "-l logdev=x", "-d ..", "--rootdir ..", "-d name=x"}) {
    CAPTURE(text);
    CHECK(refusal(parse_mkfs_options, text).contains("another device or file"));
  }
  for (const char* text :
       {"logdev=/dev/sda1", "journal_dev=0x803", "device=sda", "lockfile=notes.txt"}) {
    CAPTURE(text);
    CHECK(refusal(parse_mount_options, text).contains("another device or file"));
  }
  CHECK(refusal(parse_mkfs_options, "sda1").contains("must begin with an option"));
  CHECK(refusal(parse_mkfs_options, "").contains("or defaults"));
  CHECK(refusal(parse_mkfs_options, "-L \x1b[2J").contains("printable"));
  CHECK(refusal(parse_mkfs_options, std::string(1001, '-')).contains("at most 1000 bytes"));
  for (const char* text : {"ro", "noatime,bind", "remount"}) {
    CAPTURE(text);
    CHECK(refusal(parse_mount_options, text).contains("does not mount the volume for writing"));
  }
  CHECK(refusal(parse_mount_options, "-o noatime").contains("separated by commas"));
}

TEST_CASE("mount options are flags of the call, or text for the driver") {
  const auto options = [](FileSystemKind kind, std::string_view text) {
    return kernel_mount_options({.kind = kind, .mount_options = parse_mount_options(text)});
  };
  const KernelMountOptions ext4 = options(FileSystemKind::ext4, "noatime,data=writeback,discard");
  CHECK(ext4.flags == MS_NOATIME);
  CHECK(ext4.text == "noinit_itable,data=writeback,discard");
  const KernelMountOptions xfs = options(FileSystemKind::xfs, "defaults");
  CHECK(xfs.flags == 0);
  CHECK(xfs.text.empty());
  CHECK(options(FileSystemKind::xfs, "sync,lazytime").flags == (MS_SYNCHRONOUS | MS_LAZYTIME));
}

TEST_CASE("FUSE drivers get the options in the form that they take") {
  const auto first = [](FileSystemKind kind) {
    return line_of(fuse_commands({.kind = kind, .mount_options = "noatime"}, "x", "/m").front());
  };
  CHECK(first(FileSystemKind::ntfs) == "ntfs-3g -o no_detach,big_writes,noatime x /m");
  CHECK(first(FileSystemKind::exfat) == "mount.exfat-fuse -d -o noatime x /m");
}

TEST_CASE("nothing can be created or written where mkfs runs") {
  const Descriptor directory = open_unwritable_directory();
  // Root may open what is there, of the kernel's, but writes fail.
  if (const Descriptor file(openat(directory.get(), "0", O_WRONLY | O_CLOEXEC)); file) {
    CHECK(write(file.get(), "x", 1) < 0);
  }
  CHECK(openat(directory.get(), "x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
  CHECK(mkdirat(directory.get(), "x", 0700) < 0);
}

}  // namespace
}  // namespace filereel

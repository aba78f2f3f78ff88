// How a volume is formatted and mounted: options of the user, and the command lines with them.
//
// What mkfs or a driver makes of an option is the user's affair, but nothing outside the volume may
// be touched. Options that name another place (the device of a journal or a log, a second device of
// a btrfs, a file to read or to write) name it by a path, or after a key of its own. Texts with a
// slash and these keys are refused. A name without a slash leads nowhere, because mkfs and FUSE
// drivers run in a directory without files, in which none can be created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/system/descriptor.h"
#include "replay/volumes/file_system.h"

namespace filereel {

struct Format {
  FileSystemKind kind = FileSystemKind::ext4;
  std::vector<std::string> mkfs_options = {};  // words
  std::string mount_options = {};              // as for mount -o
  // A block device may be discarded before; otherwise it keeps the state that its last writes left.
  bool discard = true;

  bool operator==(const Format&) const = default;
};

// The words of the text, which spaces separate; none for "defaults". Throws ValueError.
std::vector<std::string> parse_mkfs_options(std::string_view text);

// The text in the form of mount -o: "noatime,discard"; "" for "defaults". Throws ValueError.
std::string parse_mount_options(std::string_view text);

// Command line that formats `device` of `size` bytes. `is_device`: a real device, which the program
// may discard, too.
std::vector<std::string> make_command(const Format& format, const std::string& device,
                                      std::uint64_t size, bool is_device);

// A directory to run such a command in: of the kernel's, with numbers as names and nothing that can
// be written. Throws Error(failed).
Descriptor open_unwritable_directory();

// Command lines of the FUSE program that serves `source` at `mount_point`, in the foreground. Not
// all versions of a program accept the same options: the first that it accepts is to be used.
std::vector<std::vector<std::string>> fuse_commands(const Format& format, const std::string& source,
                                                    const std::string& mount_point);

// Options for mount(2): some are flags of the call, the others text for the driver.
struct KernelMountOptions {
  unsigned long flags = 0;
  std::string text;
};
KernelMountOptions kernel_mount_options(const Format& format);

}  // namespace filereel

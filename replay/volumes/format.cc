#include "replay/volumes/format.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mount.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kDefaults = "defaults";
constexpr std::size_t kMostText = 1000;  // bytes; mount(2) takes a page

// What finds another device or file; see the header.
constexpr std::array<std::string_view, 10> kOtherPlaces = {
    "/",       "..",    "UUID=",        "LABEL=",        "device=",
    "logdev=", "name=", "journal_dev=", "journal_path=", "lockfile="};

// As in mount(8).
struct MountFlag {
  std::string_view name;
  unsigned long flag;
};
constexpr auto kMountFlags = std::to_array<MountFlag>({
    {"rw", 0},
    {"async", 0},
    {"atime", 0},
    {"diratime", 0},
    {"dev", 0},
    {"exec", 0},
    {"suid", 0},
    {"noatime", MS_NOATIME},
    {"nodiratime", MS_NODIRATIME},
    {"relatime", MS_RELATIME},
    {"strictatime", MS_STRICTATIME},
    {"lazytime", MS_LAZYTIME},
    {"sync", MS_SYNCHRONOUS},
    {"dirsync", MS_DIRSYNC},
    {"nodev", MS_NODEV},
    {"nosuid", MS_NOSUID},
    {"noexec", MS_NOEXEC},
});
// Not for a volume to be measured: it would be read-only, or is something else than a mount of it.
constexpr std::array<std::string_view, 5> kRefusedMountOptions = {"ro", "remount", "bind", "loop",
                                                                  "rbind"};

[[noreturn]] void refuse(const std::string& text) {
  throw ValueError(ErrorKind::usage, {.text = text, .is_predicate = true});
}

Words split(std::string_view text, char separator) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

void check_options(std::string_view text) {
  if (text.size() > kMostText) refuse(fmt::format("must have at most {} bytes", kMostText));
  if (printable(text, kMostText) != text) refuse("must be printable text");
  for (const std::string_view form : kOtherPlaces) {
    if (!text.contains(form)) continue;
    refuse(fmt::format("must not contain '{}': it may lead to another device or file", form));
  }
}

// Joins texts that are not empty.
std::string joined(std::string_view own, std::string_view more) {
  return fmt::format("{}{}{}", own, own.empty() || more.empty() ? "" : ",", more);
}

// Of mke2fs, -E replaces an earlier one. Removes it from the words, and returns its texts.
std::string take_extended(Words& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size();) {
    if (!words[i].starts_with("-E")) {
      ++i;
      continue;
    }
    const bool apart = words[i].size() == 2 && i + 1 < words.size();
    text = joined(text, apart ? words[i + 1] : words[i].substr(2));
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(at, at + (apart ? 2 : 1));
  }
  return text;
}

}  // namespace

Words parse_mkfs_options(std::string_view text) {
  check_options(text);
  if (text == kDefaults) return {};
  Words words = split(text, ' ');
  if (words.empty()) refuse("must be options of mkfs, or defaults");
  if (!words.front().starts_with('-')) refuse("must begin with an option, such as -O");
  return words;
}

std::string parse_mount_options(std::string_view text) {
  check_options(text);
  if (text == kDefaults) return "";
  const Words words = split(text, ',');
  if (words.empty()) refuse("must be options for mount -o, or defaults");
  for (const std::string& word : words) {
    if (contains(kRefusedMountOptions, word)) {
      refuse(fmt::format("must not contain {}, which does not mount the volume for writing", word));
    }
    if (word.starts_with('-') || word.contains(' ')) {
      refuse("must be options for mount -o, separated by commas");
    }
  }
  return fmt::format("{}", fmt::join(words, ","));
}

Words make_command(const Format& format, const std::string& device, std::uint64_t size,
                   bool is_device) {
  const std::string label(kVolumeLabel);
  const bool keeps = !is_device || !format.discard;
  Words options = format.mkfs_options, command;
  switch (format.kind) {
    case FileSystemKind::ext4: {
      // Inode tables are initialised lazily and then never (noinit_itable below), so that no
      // background thread writes during a measurement. 4 KiB blocks on small volumes, too, where
      // mkfs would choose 1 KiB, which is unusual on real disks.
      const std::string own = "lazy_itable_init=1,lazy_journal_init=1";
      const std::string extended =
          joined(joined(own, keeps ? "nodiscard" : ""), take_extended(options));
      command = {"mkfs.ext4", "-q", "-F", "-b", "4096", "-L", label, "-E", extended};
      break;
    }
    case FileSystemKind::ntfs:
      command = {"mkfs.ntfs", "-q", "-Q", "-F", "-L", label};
      break;
    case FileSystemKind::fat32:
      command = {"mkfs.vfat", "-F",  "32", "-s", fmt::format("{}", fat32_cluster(size) / 512),
                 "-S",        "512", "-n", label};
      break;
    case FileSystemKind::exfat:
      command = {"mkfs.exfat", "-L", label};
      break;
    case FileSystemKind::xfs:
      command = {"mkfs.xfs", "-q", "-f", "-L", label};
      break;
    case FileSystemKind::btrfs:
      command = {"mkfs.btrfs", "-q", "-f", "-L", label};
      break;
  }
  const bool has_switch =
      format.kind == FileSystemKind::xfs || format.kind == FileSystemKind::btrfs;
  if (keeps && has_switch) command.emplace_back("-K");
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(device);
  return command;
}

Descriptor open_unwritable_directory() {
  constexpr const char* kPath = "/proc/self/fdinfo";
  Descriptor directory(open(kPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw_failed(fmt::format("cannot open {}: {}", kPath, error_text(errno)));
  return directory;
}

std::vector<Words> fuse_commands(const Format& format, const std::string& source,
                                 const std::string& mount_point) {
  const auto with = [&](std::string_view own) { return joined(own, format.mount_options); };
  switch (format.kind) {
    // big_writes: requests of 128 KiB instead of 4 KiB, as recommended for speed in the driver's
    // manual. FUSE 3 always has large requests and refuses the option.
    case FileSystemKind::ntfs:
      return {{"ntfs-3g", "-o", with("no_detach,big_writes"), source, mount_point},
              {"ntfs-3g", "-o", with("no_detach"), source, mount_point}};
    case FileSystemKind::fat32:
      return {{"fusefat", "-f", "-s", "-o", with("rw+,big_writes,max_write=131072"), source,
               mount_point},
              {"fusefat", "-f", "-s", "-o", with("rw+"), source, mount_point}};
    case FileSystemKind::exfat: {
      // There is no -f option. -d also keeps it in the foreground, but logs a line per request.
      Words command = {"mount.exfat-fuse", "-d", source, mount_point};
      if (!format.mount_options.empty()) {
        command.insert(command.begin() + 2, {"-o", format.mount_options});
      }
      return {command};
    }
    case FileSystemKind::ext4:
      return {{"fuse2fs", "-f", "-o", with("rw,fakeroot"), source, mount_point}};
    case FileSystemKind::xfs:
    case FileSystemKind::btrfs:
      break;
  }
  return {};
}

KernelMountOptions kernel_mount_options(const Format& format) {
  KernelMountOptions options;
  if (format.kind == FileSystemKind::ext4) options.text = "noinit_itable";
  for (const std::string& word : split(format.mount_options, ',')) {
    const MountFlag* const known = find_or_null(kMountFlags, word, &MountFlag::name);
    if (known) {
      options.flags |= known->flag;
    } else {
      options.text = joined(options.text, word);
    }
  }
  return options;
}

}  // namespace filereel

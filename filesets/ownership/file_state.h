// Metadata that identifies a file or directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// Unique per file, even if a new file reuses an inode number, provided that the file system stores
// the birth time.
struct FileIdentity {
  std::uint64_t inode = 0;
  std::int64_t birth_ns = 0;  // since 1970; 0: unknown

  bool operator==(const FileIdentity&) const = default;
};

struct FileState {
  FileIdentity identity;
  mode_t mode = 0;  // with the file type
  uid_t owner = 0;
  std::uint64_t links = 0;
  std::uint64_t size = 0;        // bytes
  std::uint64_t allocated = 0;   // bytes that it takes; its size where the file system says 0
  std::int64_t modified_ns = 0;  // of the content, since 1970
  std::int64_t changed_ns = 0;   // of content or metadata
  std::uint64_t mount = 0;       // kernel's ID of the mount used to reach it

  bool is_directory() const;
};

// Returns the state of `name` in the open directory or, if `name` is "", of `directory` itself,
// which may be any file. Does not follow symbolic links. Returns nothing on failure, with errno
// set.
std::optional<FileState> read_file_state(int directory, const std::string& name = "");

// Whether a file of the file system of this open one keeps its inode number and birth time when it
// is mounted again. FAT and exFAT store no numbers, and drivers of FUSE and SMB may invent them.
bool keeps_identities(int file);

// Keeps the identity of a file as it is while the descriptor (O_PATH) is open, where drivers invent
// inode numbers: the kernel forgets a file that nobody has open whenever it needs memory, and the
// driver then gives it another number. Hold it before an identity is read that is compared later.
// Returns an empty Descriptor on failure, and if identities are `lasting` (keeps_identities of the
// directory): holding takes time, and NFS renames an open file instead of removing it.
Descriptor hold_identity(int directory, const std::string& name, bool lasting);

// Whether the server of a share says that this open one was removed, O_PATH is sufficient. What the
// mount remembers of it may last for a while, and other calls may tell that.
bool is_removed_on_server(int file);

// Sets the permissions of an open file; O_PATH is sufficient. Returns false on failure, with errno
// set.
bool set_mode(int fd, mode_t mode);

// Opens the directory `name`, whose mode is `mode`, with O_PATH and adds all owner permissions to
// its mode. Returns an empty Descriptor on failure or if it is not a directory.
Descriptor grant_access(int parent, const std::string& name, mode_t mode);

// Returns nanoseconds since 1970. No file created from now on has an earlier birth time, even with
// coarse time stamps.
std::int64_t earliest_birth_time();

// --- Kinds and attributes of files that prevent filereel from creating or removing something.

// "a directory", "a pipe", "a socket", "a character device", "a block device", otherwise "a file".
std::string_view name_of_kind(mode_t mode);

// "immutable (chattr +i)" or "append-only (chattr +a)" if the file has this attribute; otherwise
// "". `name` as in read_file_state; errno is kept.
std::string_view protection_of(int directory, const std::string& name = "");

// Call before any work in the open directory. Throws Error(failed) if it is immutable, so that
// nothing can be created in it, or append-only, so that nothing can be removed. `shown`: the
// directory in messages.
void require_changeable(int directory, const std::string& shown);

// --- What has become of an open directory that its path no longer leads to.

// "was removed", "was renamed to /data/old", "was unmounted", "was replaced" or the like, as the
// end of a sentence about the directory; "" if `path`, an absolute one, still leads to it.
std::string fate_of(int directory, const std::string& path);

// Throws Error(failed) unless the absolute `path` still leads to the open directory. `shown`: the
// directory in messages.
void require_present(int directory, const std::string& path, const std::string& shown);

}  // namespace filereel

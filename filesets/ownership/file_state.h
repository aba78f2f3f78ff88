// What the kernel says of a file or directory, as far as it tells one from another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// Two files never have the same, also if the one took over the other's inode number, as long as the
// file system keeps the time of birth.
struct FileIdentity {
  std::uint64_t inode = 0;
  std::int64_t born_ns = 0;  // since 1970; 0: the file system does not say

  bool operator==(const FileIdentity&) const = default;
};

struct FileState {
  FileIdentity identity;
  mode_t mode = 0;  // with the kind
  uid_t owner = 0;
  std::uint64_t links = 0;
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // of the content, since 1970
  std::int64_t changed_ns = 0;   // of anything but the place
  std::uint64_t mount = 0;       // the kernel's number of the mount that it was reached by

  bool is_directory() const;
};

// Of `name` in the open directory, or of `directory` itself where it is "", which may be any file
// then. Symbolic links are not followed. Nothing, and errno says why, if it cannot be told.
std::optional<FileState> state_of(int directory, const std::string& name = "");

// Sets the permissions of the open file, be it open with O_PATH alone. False, and errno says why,
// if that is not possible.
bool set_mode(int fd, mode_t mode);

// Opens the directory `name` with O_PATH, whose mode is `mode`, and gives its owner all rights on
// it. An empty Descriptor if that is not possible or it is none.
Descriptor open_up(int parent, const std::string& name, mode_t mode);

// Nanoseconds since 1970: no file that is made from now on is born before, however coarse the file
// system's times are.
std::int64_t earliest_birth();

}  // namespace filereel

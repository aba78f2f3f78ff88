// The directory that a volume works in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filesets/ownership/work_directory.h"
#include "filesets/system/descriptor.h"
#include "replay/volumes/volume.h"

namespace filereel {

// --- The part of a target directory that this process fills.

// A working directory, or a client's directory in that of the first client (ClientPlace). The first
// client therefore removes everything, also the files of clients that have died.
class OwnDirectory {
 public:
  // Changes nothing. `path` need not exist. Throws Error(failed) if it cannot be used.
  OwnDirectory(const std::string& path, const std::optional<ClientPlace>& place);

  // Begins the use. Throws Error(failed), also if a client does not find the directory of the first
  // one.
  void take();

  // The directory to fill; before take() the one named by the user, or one above it if it is
  // missing.
  int place() const { return entered_ ? entered_.get() : work_ ? work_->place() : above_.get(); }
  // What take() removes.
  TreeSpace removable() const { return work_ ? work_->removable() : TreeSpace(); }

  int root() const { return entered_ ? entered_.get() : work_->root(); }
  void enter(std::optional<std::uint32_t> client);  // see Volume::enter
  void check_present() const;  // throws Error(failed) if it is gone or replaced
  void clear();
  void keep();
  void remove();

 private:
  void find_all();
  void make(const std::string& name) const;
  void clear(const std::string& name) const;
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_, all_name_;
  std::optional<ClientPlace> client_place_;
  std::uint32_t client_;
  std::optional<WorkDirectory> work_;  // of the first client
  Descriptor above_;                   // of the others: an existing directory there
  Descriptor all_, entered_;           // the first client's working directory, one in it
};

// --- What the superblock of ext4 tells, and statvfs does not.

// The size in bytes of the clusters in which ext2 to ext4 allocate, from their device, which is
// open for reading: with bigalloc more than a block. 0 if it cannot be read.
std::uint64_t ext_cluster_size(int device);

}  // namespace filereel

// How this folder works: what filereel creates is recorded in a lease before it exists, and the
// lease is deleted after it is gone. Whatever has no lease is somebody else's. WorkDirectory
// (work_directory.h) and NewFile (atomic_file.h) create under leases, removal.h removes exactly the
// recorded object, leftovers.h finds what killed runs have left, and the state directory holds the
// leases. FileIdentity (file_state.h) says when two objects are the same one. Start here, then read
// work_directory.cc and leftovers.cc. docs/ownership.md has the rules.
//
// Leases record what filereel has created and not yet removed. Each is a file in the state
// directory. It is written before the object is created and deleted after the object is removed.
// Everything that filereel may remove is therefore listed, even after a crash. Everything else
// belongs to someone else.
//
// A process locks the lease while it works with the object. An unlocked lease belongs to an object
// kept on purpose (an image or a tree), or to a killed process (all others, see leftovers.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "filesets/ownership/file_state.h"
#include "filesets/system/descriptor.h"

namespace filereel {

// --- The directory for filereel's leases, outside any target that others may write to.

struct StateDirectory {
  std::string path;  // absolute
  Descriptor directory;
};

// Opens $FILEREEL_STATE_DIR, or /var/lib/filereel for root, or $XDG_STATE_HOME/filereel, or
// ~/.local/state/filereel. A missing directory is created for its owner only. Throws Error(failed)
// if it cannot be created, or if another user owns it or can write to it.
StateDirectory open_state_directory();

// Random numbers from the kernel: 64 bits, and 128 bits as a unique name.
std::uint64_t random_number();
inline constexpr std::size_t kRandomName = 32;  // characters
std::string random_name();

enum class LeaseKind : std::uint8_t {
  file,         // incomplete file with a temporary name
  work,         // directory with a temporary name, and its contents
  directory,    // directory named by the user, to be removed once empty
  mount_point,  // directory in the state directory
  image,        // formatted and kept by filereel
  tree,         // contents of a directory named by the user
};

std::string_view lease_kind_name(LeaseKind kind);  // "file", "work directory"

// Content of a lease.
struct LeaseRecord {
  LeaseKind kind = LeaseKind::file;
  std::string path;                       // absolute
  std::optional<FileIdentity> made = {};  // set once it exists
  // Of the parent directory. None for mount points, and for trees at a mount point: without its
  // mount, there is another directory, or nothing.
  FileIdentity parent = {};
  std::string share = {};  // below the path (RemoteMounts::share_at), set by Lease
  // Work directories without lasting identities (keeps_identities): the random name of the only
  // entry, the directory that holds all files. It is the proof in place of the identity.
  std::string proof = {};
  dev_t mounted = 0;  // mount points: device of the mounted file system
  // State of an image when filereel finished with it.
  std::uint64_t size = 0;  // bytes
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::string file_system = {};  // type and UUID
  // State of a tree when filereel finished with it: fingerprints (removal.h) in
  // ascending order, and their seed.
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> entries = {};

  bool operator==(const LeaseRecord&) const = default;
};

// The text of a lease file: one line per member, printable bytes only.
std::string format_lease(const LeaseRecord& note);
// Returns nothing for text not written by format_lease: a truncated file or a later version.
std::optional<LeaseRecord> parse_lease(std::string_view text);

class Lease {
 public:
  // Call before the object is created. Adds the share to `note`. Throws Error(failed).
  explicit Lease(LeaseRecord note);
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept = default;
  // A lease that was not struck off stays on the list.
  ~Lease() = default;

  const LeaseRecord& note() const { return note_; }
  std::int64_t age_s() const;  // since the last write
  // Entries of a tree as written; empty if the file is truncated.
  std::vector<std::uint64_t> entries() const;
  // Replaces the content. Throws Error(failed).
  void write(LeaseRecord note);
  // Records that the object exists. Throws Error(failed).
  void made(const FileIdentity& identity);
  // Deletes the lease: the object was removed, or belongs to the user from now on.
  void remove_record() noexcept;

 private:
  friend std::vector<struct FoundLease> find_leases(
      const std::function<bool(const LeaseRecord&)>& wanted);
  Lease(LeaseRecord note, Descriptor state, std::string name, Descriptor file);

  LeaseRecord note_;
  Descriptor state_;  // the state directory
  std::string name_;  // of the lease in it
  Descriptor file_;
};

struct FoundLease {
  LeaseRecord note;
  std::optional<Lease> lease;  // locked by this process; none: in use by another
};

// Returns the leases selected by `wanted`. Their notes come without the entries of trees; see
// Lease::entries(). Skips files that are not leases. Throws Error(failed) if there is no state
// directory.
std::vector<FoundLease> find_leases(const std::function<bool(const LeaseRecord&)>& wanted);

}  // namespace filereel

// Notes of what filereel has made and has not removed yet. They lie in its state directory, a file
// each, are written before the thing is made and go after it is gone. So whatever happens, what
// filereel may remove is on the list, and what is not on the list is somebody else's.
//
// A lease is locked while the process works with the thing. Found unlocked, it is of something that
// was kept on purpose (an image or a tree), or of a process that was killed (all others, see
// leftovers.h).
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

enum class LeaseKind : std::uint8_t {
  file,         // a file under construction, with a temporary name
  work,         // a directory with a temporary name, and all that is in it
  directory,    // a directory that the user named, to be removed once it is empty
  mount_point,  // a directory in the state directory
  image,        // that filereel formatted and left
  tree,         // what a directory that the user named holds
};

std::string_view lease_kind_name(LeaseKind kind);  // "file", "work directory"

// What a lease says.
struct LeaseNote {
  LeaseKind kind = LeaseKind::file;
  std::string path;                       // absolute
  std::optional<FileIdentity> made = {};  // as soon as it exists
  FileIdentity parent = {};               // of the directory that it lies in; none for mount points
  dev_t mounted = 0;                      // mount points: the device of what is mounted there
  // An image as filereel left it.
  std::uint64_t size = 0;  // bytes
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::string file_system = {};  // its kind and UUID
  // A tree as filereel left it: fingerprints (tree_listing.h) in ascending order, and their seed.
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> entries = {};

  bool operator==(const LeaseNote&) const = default;
};

// The text of a lease's file: a line per member, of bytes that can be shown.
std::string format_lease(const LeaseNote& note);
// Nothing for what format_lease does not make: a torn file, one of a later version.
std::optional<LeaseNote> parse_lease(std::string_view text);

class Lease {
 public:
  // To be called before the thing is made. Throws Error(failed).
  explicit Lease(LeaseNote note);
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept = default;
  // What was not struck off stays on the list.
  ~Lease() = default;

  const LeaseNote& note() const { return note_; }
  std::int64_t age_s() const;  // since it was last written
  // Of a tree, as they were written; none if they are torn.
  std::vector<std::uint64_t> entries() const;
  // Replaces what it says. Throws Error(failed).
  void write(LeaseNote note);
  // The thing exists. Throws Error(failed).
  void made(const FileIdentity& identity);
  // The thing is gone, or is the user's from now on.
  void strike() noexcept;

 private:
  friend std::vector<struct FoundLease> find_leases(
      const std::function<bool(const LeaseNote&)>& wanted);
  Lease(LeaseNote note, Descriptor state, std::string name, Descriptor file);

  LeaseNote note_;
  Descriptor state_;  // the state directory
  std::string name_;  // in it
  Descriptor file_;
};

struct FoundLease {
  LeaseNote note;
  std::optional<Lease> lease;  // locked by this process from now on; nothing: in use by another
};

// Those whose notes are wanted. The notes come without the entries of trees; see Lease::entries().
// Files that cannot be read as leases are left alone. Throws Error(failed) where there can be no
// state directory.
std::vector<FoundLease> find_leases(const std::function<bool(const LeaseNote&)>& wanted);

}  // namespace filereel

// Removes what filereel created, and nothing that replaced it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "filesets/ownership/file_state.h"
#include "filesets/ownership/tree_walk.h"

namespace filereel {

// Removes the file or empty directory `name` in the open directory `parent` if it has the identity
// `wanted`. It is first renamed to aside_name() and checked again, so that a last-moment
// replacement is not removed. An object that a killed process left under that name is removed, too.
// Where identities do not last, the caller has the file open or holds it (hold_identity).
// Returns 0 or the error. ENOENT: missing; ESTALE: replaced; ENOTEMPTY: directory not empty.
int remove_exactly(int parent, const std::string& name, const FileIdentity& wanted);

// A name specific to the file: no other file of that name has this identity.
std::string aside_name(const FileIdentity& identity);

// Removes the contents of the open directory, including the user's own directories without write
// permission for the owner. Does not follow symbolic links or cross mounts. `shown` is the
// directory's name in messages. Throws Error(failed).
void remove_contents(int directory, const std::string& shown);

// Renames unless the new name exists. Returns 0 or the error, such as EEXIST. Also works on file
// systems without an exclusive rename, there with a short race.
int rename_new(int from_parent, const std::string& from, int to_parent, const std::string& to);

// --- Recognises a tree that filereel left behind. Entries added, changed or replaced since then
// belong to someone else.

// What a tree takes on its file system.
struct TreeSpace {
  std::uint64_t bytes = 0, entries = 0;
};

// Fingerprints of the entries below a directory: path, type and identity, and except for
// directories size and times. Inode numbers and birth times are left out if the file system does
// not keep them (keeps_identities). All throw Error(failed) as walk_tree does.
class TreeFingerprints {
 public:
  // `seed` must be random, so that nobody can construct two entries with the same fingerprint.
  TreeFingerprints(int directory, const std::string& shown, std::uint64_t seed);

  // Fingerprints of all current entries, in ascending order, without the change time (ctime):
  // renaming a file or removing another name of it changes that time.
  std::vector<std::uint64_t> lasting() const;

  // Fingerprints including ctime of the entries in `lasting`, in ascending order.
  std::vector<std::uint64_t> complete(std::span<const std::uint64_t> lasting) const;

  // Throws Error(failed) if an entry is not in `complete`. Returns what its removal frees.
  TreeSpace check(std::span<const std::uint64_t> complete) const;

  // Removes all entries, if check() finds all of them in `complete`. Checks each again while
  // removing it.
  void remove(std::span<const std::uint64_t> complete) const;

 private:
  enum class FingerprintFields : bool { lasting, all };
  void prove(std::span<const std::uint64_t> complete,
             const std::function<void(const WalkedEntry&)>& visit) const;
  std::uint64_t fingerprint(const WalkedEntry& entry, FingerprintFields wanted) const;

  int directory_;
  const std::string& shown_;
  std::uint64_t seed_;
  bool with_inode_;
};

}  // namespace filereel

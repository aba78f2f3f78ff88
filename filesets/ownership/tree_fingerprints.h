// Recognises a tree that filereel left behind. Entries added, changed or replaced since then belong
// to someone else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filesets/ownership/tree_walk.h"

namespace filereel {

// Fingerprints of the entries below a directory: path, type and identity, and except for
// directories size and times. Inode numbers and birth times are left out if the file system does
// not keep them (FUSE, FAT). All throw Error(failed) as walk_tree does.
class TreeFingerprints {
 public:
  // `seed` must be random, so that nobody can construct two entries with the same fingerprint.
  TreeFingerprints(int directory, const std::string& shown, std::uint64_t seed);

  // Fingerprints of all current entries, in ascending order, without the change time (ctime):
  // renaming a file or removing another name of it changes that time.
  std::vector<std::uint64_t> lasting() const;

  // Fingerprints including ctime of the entries in `lasting`, in ascending order.
  std::vector<std::uint64_t> complete(std::span<const std::uint64_t> lasting) const;

  // Removes all entries. First checks all of them, and throws Error(failed) without removing
  // anything if one is not in `complete`. Then checks each again while removing it.
  void remove(std::span<const std::uint64_t> complete) const;

 private:
  enum class FingerprintFields : bool { lasting, all };
  std::uint64_t fingerprint(const WalkedEntry& entry, FingerprintFields wanted) const;

  int directory_;
  const std::string& shown_;
  std::uint64_t seed_;
  bool with_inode_;
};

}  // namespace filereel

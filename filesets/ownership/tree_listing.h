// A tree as filereel left it, to be known again: what was added, changed or replaced since is
// somebody else's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "filesets/ownership/tree_walk.h"

namespace filereel {

// Fingerprints of entries below a directory, of their path, kind and identity, and for all but
// directories of size and times. Inode numbers and times of birth are left out where the file
// system makes them up anew (FUSE, FAT). All throw Error(failed) as walk_tree does.
class TreeListing {
 public:
  // `seed` is drawn at random, so that nobody can make two entries with the same fingerprint.
  TreeListing(int directory, const std::string& shown, std::uint64_t seed);

  // In ascending order, of all that is there now; without the time of the last change of
  // attributes, which a new name or the removal of another name of the same file changes.
  std::vector<std::uint64_t> lasting() const;

  // In ascending order, with that time, of those that `lasting` has.
  std::vector<std::uint64_t> complete(std::span<const std::uint64_t> lasting) const;

  // Removes every entry. Looks at all first, and throws Error(failed), with nothing removed, that
  // names one which is not in `complete`; then looks at each once more as it is removed.
  void remove(std::span<const std::uint64_t> complete) const;

 private:
  enum class Facts : bool { lasting, all };
  std::uint64_t fingerprint(const WalkedEntry& entry, Facts wanted) const;

  int directory_;
  const std::string& shown_;
  std::uint64_t seed_;
  bool with_inode_;
};

}  // namespace filereel

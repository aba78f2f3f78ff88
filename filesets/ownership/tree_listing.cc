#include "filesets/ownership/tree_listing.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <xxhash.h>

#include "filesets/error.h"
#include "filesets/ownership/removal.h"
#include "filesets/ownership/tree_walk.h"
#include "filesets/printable.h"

namespace filereel {
namespace {

constexpr unsigned long kExfatMagic = 0x2011bab0;  // fs/exfat/exfat_raw.h

bool keeps_inode_numbers(int directory) {
  struct statfs info{};
  if (fstatfs(directory, &info) != 0) return false;
  const auto type = static_cast<unsigned long>(info.f_type);
  return type != FUSE_SUPER_MAGIC && type != MSDOS_SUPER_MAGIC && type != kExfatMagic;
}

// Without what changes when a hard link to the same file is removed: whether it is still the same.
enum class Facts : bool { all, lasting };

std::uint64_t fingerprint(const WalkedEntry& entry, std::uint64_t seed, bool with_inode,
                          Facts facts_wanted = Facts::all) {
  const FileState& state = entry.state;
  // A directory changes with what is put into it, which has a fingerprint itself.
  const bool content = !state.is_directory();
  const std::array<std::uint64_t, 6> facts = {
      state.mode & S_IFMT,
      with_inode ? state.identity.inode : 0,
      with_inode ? static_cast<std::uint64_t>(state.identity.born_ns) : 0,
      content ? state.size : 0,
      content ? static_cast<std::uint64_t>(state.modified_ns) : 0,
      content && facts_wanted == Facts::all ? static_cast<std::uint64_t>(state.changed_ns) : 0,
  };
  return XXH3_64bits_withSeed(facts.data(), sizeof facts,
                              XXH3_64bits_withSeed(entry.path.data(), entry.path.size(), seed));
}

}  // namespace

std::vector<std::uint64_t> list_tree(int directory, const std::string& shown, std::uint64_t seed) {
  const bool with_inode = keeps_inode_numbers(directory);
  std::vector<std::uint64_t> entries;
  walk_tree(directory, shown, [&](const WalkedEntry& entry) {
    entries.push_back(fingerprint(entry, seed, with_inode));
  });
  std::ranges::sort(entries);
  return entries;
}

void remove_listed(int directory, const std::string& shown, std::uint64_t seed,
                   std::span<const std::uint64_t> entries) {
  const bool with_inode = keeps_inode_numbers(directory);
  std::vector<std::uint64_t> proven;
  walk_tree(directory, shown, [&](const WalkedEntry& entry) {
    if (!std::ranges::binary_search(entries, fingerprint(entry, seed, with_inode))) {
      throw_failed(
          fmt::format("{} was added or changed since filereel filled {}: move it away, or "
                      "name another directory",
                      printable(shown + "/" + entry.path), printable(shown)));
    }
    proven.push_back(fingerprint(entry, seed, with_inode, Facts::lasting));
  });
  std::ranges::sort(proven);
  const auto remove = [&](const WalkedEntry& entry) {
    const std::uint64_t now = fingerprint(entry, seed, with_inode, Facts::lasting);
    if (std::ranges::binary_search(proven, now) &&
        remove_exactly(entry.parent, entry.name, entry.state.identity)) {
      return;
    }
    throw_failed(
        fmt::format("{} is not removed: somebody else works in {}; wait, or name another "
                    "directory",
                    printable(shown + "/" + entry.path), printable(shown)));
  };
  walk_tree(directory, shown, remove, Closed::open_up);
}

}  // namespace filereel

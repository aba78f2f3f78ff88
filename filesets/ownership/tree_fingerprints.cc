#include "filesets/ownership/tree_fingerprints.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "filesets/ownership/removal.h"
#include "filesets/ownership/tree_walk.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

bool has(std::span<const std::uint64_t> sorted, std::uint64_t fingerprint) {
  return std::ranges::binary_search(sorted, fingerprint);
}

// True if a process was killed between renaming and removing the entry.
bool was_moved_aside(const WalkedEntry& entry) {
  return entry.name == aside_name(entry.state.identity);
}

}  // namespace

TreeFingerprints::TreeFingerprints(int directory, const std::string& shown, std::uint64_t seed)
    : directory_(directory), shown_(shown), seed_(seed), with_inode_(keeps_identities(directory)) {}

std::uint64_t TreeFingerprints::fingerprint(const WalkedEntry& entry,
                                            FingerprintFields wanted) const {
  const FileState& state = entry.state;
  // A directory's size and times change with its entries, which have fingerprints of their own.
  const bool content = !state.is_directory();
  const bool all = content && wanted == FingerprintFields::all;
  const std::array<std::uint64_t, 6> facts = {
      state.mode & S_IFMT,
      with_inode_ ? state.identity.inode : 0,
      with_inode_ ? static_cast<std::uint64_t>(state.identity.birth_ns) : 0,
      content ? state.size : 0,
      content ? static_cast<std::uint64_t>(state.modified_ns) : 0,
      all ? static_cast<std::uint64_t>(state.changed_ns) : 0,
  };
  return XXH3_64bits_withSeed(facts.data(), sizeof facts,
                              XXH3_64bits_withSeed(entry.path.data(), entry.path.size(), seed_));
}

std::vector<std::uint64_t> TreeFingerprints::lasting() const {
  std::vector<std::uint64_t> list;
  walk_tree(directory_, shown_, [&](const WalkedEntry& entry) {
    list.push_back(fingerprint(entry, FingerprintFields::lasting));
  });
  std::ranges::sort(list);
  return list;
}

std::vector<std::uint64_t> TreeFingerprints::complete(
    std::span<const std::uint64_t> lasting) const {
  std::vector<std::uint64_t> list;
  walk_tree(directory_, shown_, [&](const WalkedEntry& entry) {
    if (has(lasting, fingerprint(entry, FingerprintFields::lasting))) {
      list.push_back(fingerprint(entry, FingerprintFields::all));
    }
  });
  std::ranges::sort(list);
  return list;
}

void TreeFingerprints::prove(std::span<const std::uint64_t> complete,
                             const std::function<void(const WalkedEntry&)>& visit) const {
  walk_tree(directory_, shown_, [&](const WalkedEntry& entry) {
    if (!has(complete, fingerprint(entry, FingerprintFields::all)) && !was_moved_aside(entry)) {
      throw_failed(
          fmt::format("{} was added or changed after filereel filled {}; move it away, or choose "
                      "another directory",
                      printable(shown_ + "/" + entry.path), printable(shown_)));
    }
    visit(entry);
  });
}

TreeSpace TreeFingerprints::check(std::span<const std::uint64_t> complete) const {
  TreeSpace space;
  prove(complete, [&](const WalkedEntry& entry) {
    // A file with several names is freed with the last one.
    const std::uint64_t names =
        entry.state.is_directory() ? 1 : std::max<std::uint64_t>(1, entry.state.links);
    space.bytes += entry.state.allocated / names;
    ++space.entries;
  });
  return space;
}

void TreeFingerprints::remove(std::span<const std::uint64_t> complete) const {
  std::vector<std::uint64_t> proven;
  prove(complete, [&](const WalkedEntry& entry) {
    proven.push_back(fingerprint(entry, FingerprintFields::lasting));
  });
  std::ranges::sort(proven);
  const auto remove_one = [&](const WalkedEntry& entry) {
    const bool same = has(proven, fingerprint(entry, FingerprintFields::lasting));
    const int error =
        same ? remove_exactly(entry.parent, entry.name, entry.state.identity) : ESTALE;
    if (error == 0 || error == ENOENT) return;
    throw_failed(fmt::format("cannot remove {}: {}; choose another directory",
                             printable(shown_ + "/" + entry.path),
                             error == ESTALE ? "changed by another process" : strerror(error)));
  };
  walk_tree(directory_, shown_, remove_one, UnreadableDirectory::grant_access);
}

}  // namespace filereel

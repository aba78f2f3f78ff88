// The problem. unlink removes a name, whatever it refers to. Between the check that a name is that
// of the recorded file and its removal, another program may put its own file there. Linux has no
// call that removes a file by identity.
//
// So the file is first renamed to a name that only it can have (aside_name: inode and birth time),
// in one step and without replacing anything, where the file system can do that. Whatever was
// renamed is then checked once more, under a name that nobody else uses. If it is another file, it
// goes back, without replacing a newer one. A process that is killed between the steps leaves a
// file whose name tells what it is: the next removal of that identity looks for it, and so does
// leftovers.cc.
//
// Directories are removed only if they are empty, by the kernel's own check. Contents are removed
// by remove_contents, only below a directory that is open and was proven to be filereel's.
#include "filesets/ownership/removal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "filesets/ownership/tree_walk.h"
#include "filesets/system/error.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

// Compares the object of that name. Returns 0 or the error.
int find_exactly(int parent, const std::string& name, const FileIdentity& wanted) {
  const std::optional<FileState> state = read_file_state(parent, name);
  if (!state) return errno;
  if (state->identity != wanted) return ESTALE;
  if (!state->is_directory()) return 0;
  const Descriptor directory(
      openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const auto names = directory ? names_in(directory.get()) : std::nullopt;
  return !names || names->empty() ? 0 : ENOTEMPTY;
}

int done(int result) {
  return result == 0 ? 0 : errno;
}

// Renames unless the new name exists, in one step. EINVAL or the like: not supported.
int rename_exclusively(int from_parent, const std::string& from, int to_parent,
                       const std::string& to) {
  return done(renameat2(from_parent, from.c_str(), to_parent, to.c_str(), RENAME_NOREPLACE));
}

// Some FUSE and network file systems have no exclusive rename, and a policy may deny the call.
bool is_unsupported(int error) {
  return error == EINVAL || error == ENOSYS || error == EPERM;
}

int rename_if_free(int from_parent, const std::string& from, int to_parent, const std::string& to) {
  if (read_file_state(to_parent, to)) return EEXIST;
  return done(renameat(from_parent, from.c_str(), to_parent, to.c_str()));
}

// Renames a file that is to stay the same one: a hard link has another inode number on sshfs.
int rename_in_place(int parent, const std::string& from, const std::string& to) {
  const int error = rename_exclusively(parent, from, parent, to);
  return is_unsupported(error) ? rename_if_free(parent, from, parent, to) : error;
}

int removal_flags(const FileState& state) {
  return state.is_directory() ? AT_REMOVEDIR : 0;
}

}  // namespace

int remove_exactly(int parent, const std::string& name, const FileIdentity& wanted) {
  const std::string aside = aside_name(wanted);
  const int found = find_exactly(parent, name, wanted);
  const bool in_place = found == 0 && name != aside;
  const int moved = in_place ? rename_in_place(parent, name, aside) : found;
  if (moved != 0 && moved != ENOENT) return moved;
  const std::optional<FileState> state = read_file_state(parent, aside);
  if (!state) return ENOENT;
  int error = state->identity == wanted ? 0 : ESTALE;
  if (error == 0 && unlinkat(parent, aside.c_str(), removal_flags(*state)) != 0) error = errno;
  // Back; what is not ours must not replace a newer file of that name.
  if (error == ESTALE) rename_new(parent, aside, parent, name);
  if (error != 0 && error != ESTALE) rename_in_place(parent, aside, name);
  return error;
}

std::string aside_name(const FileIdentity& identity) {
  return fmt::format(".filereel-aside-{:x}-{:x}", identity.inode, identity.birth_ns);
}

void remove_contents(int directory, const std::string& shown) {
  const auto remove = [&](const WalkedEntry& entry) {
    if (unlinkat(entry.parent, entry.name.c_str(), removal_flags(entry.state)) == 0) return;
    if (errno == ENOENT) return;
    throw_failed(fmt::format("cannot remove {}: {}; remove it by hand",
                             printable(shown + "/" + entry.path), strerror(errno)));
  };
  walk_tree(directory, shown, remove, UnreadableDirectory::grant_access);
}

int rename_new(int from_parent, const std::string& from, int to_parent, const std::string& to) {
  int error = rename_exclusively(from_parent, from, to_parent, to);
  if (!is_unsupported(error)) return error;
  // A hard link is exclusive, too, but is not possible for directories or on FAT.
  error = done(linkat(from_parent, from.c_str(), to_parent, to.c_str(), 0));
  if (error == 0) return done(unlinkat(from_parent, from.c_str(), 0));
  return error == EEXIST ? EEXIST : rename_if_free(from_parent, from, to_parent, to);
}

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

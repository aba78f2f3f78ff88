#include "filesets/ownership/removal.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/error.h"
#include "filesets/ownership/state_directory.h"
#include "filesets/ownership/tree_walk.h"
#include "filesets/printable.h"

namespace filereel {
namespace {

bool is_the_one(int parent, const std::string& name, const FileIdentity& wanted) {
  const std::optional<FileState> state = state_of(parent, name);
  return state && state->identity == wanted;
}

int removal_flags(const FileState& state) {
  return state.is_directory() ? AT_REMOVEDIR : 0;
}

}  // namespace

bool remove_exactly(int parent, const std::string& name, const FileIdentity& wanted) {
  const std::optional<FileState> state = state_of(parent, name);
  if (!state || state->identity != wanted) return false;
  const std::string aside = ".filereel-" + random_name();
  if (rename_new(parent, name, parent, aside) != 0) return false;
  if (is_the_one(parent, aside, wanted) &&
      unlinkat(parent, aside.c_str(), removal_flags(*state)) == 0) {
    return true;
  }
  rename_new(parent, aside, parent, name);
  return false;
}

void remove_contents(int directory, const std::string& shown) {
  const auto remove = [&](const WalkedEntry& entry) {
    if (unlinkat(entry.parent, entry.name.c_str(), removal_flags(entry.state)) == 0) return;
    if (errno == ENOENT) return;
    throw_failed(fmt::format("cannot remove {}: {}; remove it by hand",
                             printable(shown + "/" + entry.path), strerror(errno)));
  };
  walk_tree(directory, shown, remove, Closed::open_up);
}

int rename_new(int from_parent, const std::string& from, int to_parent, const std::string& to) {
  const auto done = [](int result) { return result == 0 ? 0 : errno; };
  int error = done(renameat2(from_parent, from.c_str(), to_parent, to.c_str(), RENAME_NOREPLACE));
  if (error != EINVAL && error != ENOSYS) return error;
  // Some FUSE and network file systems have no exclusive rename. A link is exclusive too, but not
  // for directories and not on FAT.
  error = done(linkat(from_parent, from.c_str(), to_parent, to.c_str(), 0));
  if (error == 0) return done(unlinkat(from_parent, from.c_str(), 0));
  if (error == EEXIST || state_of(to_parent, to)) return EEXIST;
  return done(renameat(from_parent, from.c_str(), to_parent, to.c_str()));
}

}  // namespace filereel

// Walks a directory tree of any depth within one file system.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "filesets/ownership/file_state.h"

namespace filereel {

// Created by mkfs in every ext4: belongs neither to the user nor to filereel.
inline constexpr std::string_view kLostAndFound = "lost+found";

struct WalkedEntry {
  int parent;               // its open parent directory
  const std::string& name;  // in the parent
  const std::string& path;  // below the root
  const FileState& state;
};

// Whether to add owner permissions to directories before reading them, as needed to remove their
// entries.
enum class UnreadableDirectory : bool { fail, grant_access };

// Calls `visit` for every entry below the open directory `root`, for a directory after its entries.
// `visit` may remove the entry. Where identities do not last, that of the entry is held until it
// returns (hold_identity). Uses at most 64 descriptors and does not follow symbolic links. Throws
// Error(failed) at a mount point, before visiting its contents, and if a directory cannot be read
// or is replaced during the walk. `shown` is the root's name in messages. kLostAndFound in the root
// is skipped.
void walk_tree(int root, const std::string& shown,
               const std::function<void(const WalkedEntry&)>& visit,
               UnreadableDirectory closed = UnreadableDirectory::fail);

}  // namespace filereel

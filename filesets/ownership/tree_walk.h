// All that lies below a directory, however deep, on this file system alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "filesets/ownership/file_state.h"

namespace filereel {

// What mkfs makes in every ext4: not the user's and not filereel's.
inline constexpr std::string_view kLostAndFound = "lost+found";

struct WalkedEntry {
  int parent;               // the directory that it lies in, open
  const std::string& name;  // in it
  const std::string& path;  // below the root
  const FileState& state;
};

// Whether directories get all rights for their owner before they are looked into, as the removal of
// what is in them needs.
enum class Closed : bool { fail, open_up };

// Calls `visit` for every entry below the open directory `root`, for a directory after all that is
// in it; `visit` may remove the entry. Takes at most 64 descriptors, follows no symbolic link, and
// crosses no mount: throws Error(failed) where one is, before anything in it is looked at, and
// where a directory cannot be read or is exchanged for another one meanwhile. `shown` stands for
// the root in messages. kLostAndFound in the root is passed over.
void walk_tree(int root, const std::string& shown,
               const std::function<void(const WalkedEntry&)>& visit, Closed closed = Closed::fail);

}  // namespace filereel

// Removing what filereel made, and nothing that has taken its place.
#pragma once

#include <string>

#include "filesets/ownership/file_state.h"

namespace filereel {

// Removes the file or empty directory `name` in the open directory `parent` if it is that one: it
// is moved aside first, to aside_name(), and looked at there, so that nothing is removed that took
// its place at the last moment. What a process that was killed left aside goes too. 0, or the
// error: ENOENT: it is not there; ESTALE: another one is; ENOTEMPTY: something is in it.
int remove_exactly(int parent, const std::string& name, const FileIdentity& wanted);

// It tells its file: none that is called so by accident has this identity.
std::string aside_name(const FileIdentity& identity);

// Removes all that is in the open directory, also in directories of the user's own that even the
// owner may not write to. Follows no symbolic link and leaves what is mounted there alone. `shown`
// stands for the directory in messages. Throws Error(failed).
void remove_contents(int directory, const std::string& shown);

// Renames unless there is something of the new name. 0, or the error: EEXIST. Also where the file
// system has no such call; then only almost at once.
int rename_new(int from_parent, const std::string& from, int to_parent, const std::string& to);

}  // namespace filereel

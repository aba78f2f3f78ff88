// Removes what filereel created, and nothing that replaced it.
#pragma once

#include <string>

#include "filesets/ownership/file_state.h"

namespace filereel {

// Removes the file or empty directory `name` in the open directory `parent` if it has the identity
// `wanted`. It is first renamed to aside_name() and checked again, so that a last-moment
// replacement is not removed. An object that a killed process left under that name is removed, too.
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

}  // namespace filereel

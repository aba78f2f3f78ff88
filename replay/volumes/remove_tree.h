// Removes a tree that filereel made.
#pragma once

#include <string>

namespace filereel {

// Removes `name` in the directory `parent` with all below it; what is not there is gone already.
// Never follows a symbolic link and never leaves the file system. Throws Error(failed).
void remove_tree(int parent, const std::string& name);

}  // namespace filereel

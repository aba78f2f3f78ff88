// Kinds and attributes of files that prevent filereel from creating or removing something.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

namespace filereel {

// "a directory", "a pipe", "a socket", "a character device", "a block device", otherwise "a file".
std::string_view name_of_kind(mode_t mode);

// "immutable (chattr +i)" or "append-only (chattr +a)" if the file has this attribute; otherwise
// "". `name` as in read_file_state; errno is kept.
std::string_view protection_of(int directory, const std::string& name = "");

// Call before any work in the open directory. Throws Error(failed) if it is immutable, so that
// nothing can be created in it, or append-only, so that nothing can be removed. `shown`: the
// directory in messages.
void require_changeable(int directory, const std::string& shown);

}  // namespace filereel

// Full volumes behind other errors: the server of a share, or a FUSE program, may fail a write with
// EIO or the like where a local file system says ENOSPC.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// Follows such an error, in all texts and results.
inline constexpr std::string_view kNoSpaceLeft = ", and the volume has no free space";

// Whether the error says nothing of space, although there may be none.
bool may_hide_full_volume(int error);

// Whether the file system of this open file is one of a network or of FUSE, and is full.
bool is_full_share(int file);

// error_text() of a failed write to the open file, with what the error may hide.
std::string write_error_text(int error, int file);

}  // namespace filereel

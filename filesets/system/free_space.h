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

// --- Limits of a directory tree within its file system.

// Whether a project quota limits the open directory, so that its file system looks smaller there.
// xfs reports an exhausted one as a full volume, and not as a quota.
bool has_project_quota(int directory);

// `advice` on lack of space, preceded by that on the project quota if there is one.
std::string with_quota_advice(bool has_quota, const std::string& advice);
// The same for the open directory.
std::string with_quota_advice_of(int directory, const std::string& advice);

}  // namespace filereel

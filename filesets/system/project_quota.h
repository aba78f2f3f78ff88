// Limits of a directory tree within its file system.
#pragma once

#include <string>

namespace filereel {

// Whether a project quota limits the open directory, so that its file system looks smaller there.
// xfs reports an exhausted one as a full volume, and not as a quota.
bool has_project_quota(int directory);

// `advice` on lack of space, preceded by that on the project quota if there is one.
std::string with_quota_advice(bool has_quota, const std::string& advice);
// The same for the open directory.
std::string with_quota_advice_of(int directory, const std::string& advice);

}  // namespace filereel

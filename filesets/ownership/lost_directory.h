// What has become of an open directory that its path no longer leads to.
#pragma once

#include <string>

namespace filereel {

// "was removed", "was renamed to /data/old", "was unmounted", "was replaced" or the like, as the
// end of a sentence about the directory; "" if `path`, an absolute one, still leads to it.
std::string fate_of(int directory, const std::string& path);

// Throws Error(failed) unless the absolute `path` still leads to the open directory. `shown`: the
// directory in messages.
void require_present(int directory, const std::string& path, const std::string& shown);

}  // namespace filereel

// What an error number of the system means to the user.
#pragma once

#include <string>

namespace filereel {

// The system's text, and for an exhausted quota what to do: "Disk quota exceeded; raise the quota,
// or choose another volume".
std::string error_text(int error);

}  // namespace filereel

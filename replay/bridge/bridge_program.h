// The bridge to MPI as part of the portable program; cmake/portable.cmake embeds it.
#pragma once

#include <string_view>

namespace filereel {

// The executable file; empty if filereel was built without MPI.
std::string_view bridge_program();

}  // namespace filereel

// Core dumps of recorded programs: the kernel writes them, without system calls.
#pragma once

namespace filereel {

// False if this machine passes them to a program.
bool core_dumps_are_files();

}  // namespace filereel

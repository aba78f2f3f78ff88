// Terminals, and mpirun, which gives its programs something that looks like one.
#pragma once

#include <cstdint>

namespace filereel {

// One of the processes that mpirun or a similar program started, as its environment tells.
struct MpiProcess {
  std::uint32_t rank = 0, count = 1;  // count 1: there are no others
};
MpiProcess mpi_process();

// Whether the descriptor leads to a terminal that shows what is written. Below mpirun it does not:
// mpirun gives its programs a pseudo-terminal and copies what they write into its own output, which
// may be a file.
bool is_terminal(int descriptor) noexcept;

}  // namespace filereel

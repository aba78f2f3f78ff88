// What filereel and its MPI module agree on.
#pragma once

#include "replay/clients/messages.h"

namespace filereel {

inline constexpr const char* kMpiModule = "filereel_mpi.so";
inline constexpr const char* kStartMpi = "filereel_start_mpi";

// Starts MPI on the calling thread. The caller owns the result. Throws Error(failed).
using StartMpi = Messages*();

}  // namespace filereel

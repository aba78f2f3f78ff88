#include "filesets/system/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "filesets/system/numbers.h"

namespace filereel {
namespace {

struct Launcher {
  const char *rank, *count;
};
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH, Intel MPI, srun
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},    // MVAPICH
};

// Nothing that is not a number.
std::uint32_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  std::string_view rest = text ? text : "";
  std::uint32_t number = 0;
  take_number(rest, number);
  return number;
}

}  // namespace

MpiProcess mpi_process() {
  for (const auto& [rank, count] : kLaunchers) {
    if (std::getenv(count)) return {number_in(rank), std::max(number_in(count), 1U)};
  }
  return {};
}

bool is_terminal(int descriptor) noexcept {
  const auto started = [](const Launcher& launcher) {
    return std::getenv(launcher.count) != nullptr;
  };
  const bool by_mpirun = std::ranges::any_of(kLaunchers, started) || std::getenv("PMIX_RANK");
  return !by_mpirun && isatty(descriptor) != 0;
}

}  // namespace filereel

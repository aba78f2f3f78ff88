#include "replay/run/sampling.h"

#include <optional>

#include <doctest/doctest.h>
#include <sys/types.h>
#include <unistd.h>

#include "replay/volumes/processes.h"
#include "tests/replay/bare_volume.h"

namespace filereel {
namespace {

// Served by this process.
class ServedVolume : public BareVolume {
 public:
  std::optional<pid_t> driver() const override { return ::getpid(); }
};

TEST_CASE("a FUSE driver of several volumes counts once") {
  volatile unsigned work = 0;
  while (process_cpu_s(::getpid()) <= 0) work = work + 1;  // the kernel counts in ticks
  ServedVolume near, far;
  const double both = read_system_counters({&near, &far}).driver_cpu_s;
  CHECK(both > 0);
  CHECK(both <= process_cpu_s(::getpid()));
  BareVolume kernel;
  CHECK(read_system_counters({&kernel}).driver_cpu_s == 0);
}

}  // namespace
}  // namespace filereel

// What else goes on in the machine while samples are taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Processor time since the machine started, in ticks of all processors together.
struct ProcessorLook {
  std::uint64_t all = 0, user = 0, stolen = 0;
  double own_user_s = 0;  // of this process
};
ProcessorLook look_at_processors(const std::string& stat = "/proc/stat");

// Between two looks; `drivers_s` is the processor time of FUSE drivers between them. Others are
// seen by their user time only: what the kernel does for them cannot be told from what it does for
// filereel (loop devices, write-back). Nothing for a time too short to tell.
void add_processor_shares(const ProcessorLook& before, const ProcessorLook& after, double drivers_s,
                          Conditions& conditions);

// Widens the range of the cores' clocks by what they are now. `cpus` is the kernel's folder of
// processors, `cpuinfo` what is read where they have no frequency there.
void add_clock_rates(Conditions& conditions, const std::string& cpus = "/sys/devices/system/cpu",
                     const std::string& cpuinfo = "/proc/cpuinfo");

// Waits a moment, in which filereel asks for nothing, and counts what goes through the drives that
// the volumes lie on. No wait where there are none.
void look_at_rest(const std::vector<Volume*>& volumes, Conditions& conditions);

// As `df` counts it.
void add_volume_used(const Volume& volume, Conditions& conditions);

}  // namespace filereel

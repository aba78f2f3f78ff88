// Where a history keeps a result: by drive, then firmware, then time.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// What a result is of, as people call it; from the volume near.
struct TestedDevice {
  // "Fast Disk 3 S123"; several drives are joined with " + ". Without model and serial number the
  // result's label, else the kernel's name of the drive, else "unknown".
  std::string name;
  std::string firmware;  // "1.07"; several joined with " + "; "" if none says
};

TestedDevice tested_device(const Result& result);

// What the user says goes before what the drives say: each one of near is called so from then on,
// without its serial number. Empty: as it was. Throws Error(usage) for a result without volumes.
void set_tested_device(Result& result, const TestedDevice& said);

// `text` as one component of a path on any file system: letters, digits, "_", "+", "." inside and
// UTF-8 stay, everything else becomes "-". At most 100 bytes, never empty; what is cut off is told
// by a number.
std::string file_name_of(std::string_view text);

// "Fast-Disk-3-S123/1.07/2026-11-21T10-00-00Z-fc-test".
std::string entry_name(const Result& result);

}  // namespace filereel

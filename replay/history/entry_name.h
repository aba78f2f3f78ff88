// Names of results in a history: by drive, then firmware, then time.
#pragma once

#include <string>
#include <string_view>

#include "replay/results/result.h"

namespace filereel {

// The device that a result is of; from the volume near.
struct TestedDevice {
  // "Fast Disk 3 S123", or the source of a share, "nas:/data"; several are joined with " + ".
  // Without any of these the result's label, otherwise the kernel's name of the drive, otherwise
  // "unknown".
  std::string name;
  std::string firmware;  // "1.07"; several are joined with " + "; "" if unknown
};

TestedDevice tested_device(const Result& result);

// Overrides the drives' identity with the user's. Each drive of near gets the name, without its
// serial number. Empty members change nothing. Throws Error(usage) for a result without volumes.
void set_tested_device(Result& result, const TestedDevice& said);

// Turns `text` into a path component that is valid on any file system. Keeps letters, digits, "_",
// "+", "." inside and UTF-8, and replaces everything else with "-". At most 100 bytes, never empty;
// a hash replaces a truncated end.
std::string file_name_of(std::string_view text);

// "Fast-Disk-3-S123/1.07/2026-11-21T10-00-00Z-fc-test".
std::string entry_name(const Result& result);

}  // namespace filereel

// Removes serial numbers and network addresses, so that results can be published.
#pragma once

#include "replay/results/result.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Replaces every serial number with serial_digest, also within the target's name and the layers. A
// name in /dev/disk/by-id, which contains the serial number or similar, is replaced with the
// kernel's name. The same for source, server and address of a share, also in mount options.
void hide_serials(VolumeDescription& volume);

// The volume for the result: without serial numbers and the like if its serials_hidden is set.
VolumeDescription described(const VolumeDescription& volume, const Result& result);

}  // namespace filereel

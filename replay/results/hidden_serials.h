// Results that can be published.
#pragma once

#include "replay/results/result.h"
#include "replay/volumes/volume.h"

namespace filereel {

// Puts serial_digest in the place of every serial number, also within the target's name and the
// layers. A name of /dev/disk/by-id, which tells the serial number or the like, becomes the
// kernel's.
void hide_serials(VolumeDescription& volume);

// The volume as the result may tell it: where its serials_hidden says so, without serial numbers.
VolumeDescription described(const VolumeDescription& volume, const Result& result);

}  // namespace filereel

// Removes serial numbers and network addresses, so that results can be published.
#pragma once

#include "replay/results/result.h"

namespace filereel {

// A short pseudonym for a text that must not be published.
std::string text_digest(std::string_view text);

// The pseudonym for a serial number, identical for the same drive in every result. It hides the
// number from readers, but not from someone who tries all serial numbers of a manufacturer.
std::string serial_digest(const DeviceIdentity& drive);

// Replaces every serial number with serial_digest, also within the target's name and the layers. A
// name in /dev/disk/by-id, which contains the serial number or similar, is replaced with the
// kernel's name. The same for source, server and address of a share, also in mount options.
void hide_serials(VolumeDescription& volume);

// The volume for the result: without serial numbers and the like if its serials_hidden is set.
VolumeDescription described(const VolumeDescription& volume, const Result& result);

}  // namespace filereel

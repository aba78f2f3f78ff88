// The file systems of a result. For directories these are the kernel's names, such as "tmpfs".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// File systems with samples, in the order of measuring.
std::vector<std::string> file_systems_of(const Result& result);
// The same for several results, without duplicates.
std::vector<std::string> file_systems_of(std::span<const Result> results);

// Whether the volumes that both have for a role and a file system are made and mounted alike, as
// far as is known. Features are compared of volumes of one size, as they depend on it.
bool same_volumes(const Result& result, const Result& other);

// Whether one can be the control of the other. An image in memory changes from session to session
// by itself: by its pages, and by those of the host of a virtual machine.
bool same_kind_of_storage(const VolumeDescription& volume, const VolumeDescription& other);

// The measurements of one file system, with its volumes. A far volume with another file system is
// kept if there is none with this one.
Result only_on(const Result& result, const std::string& file_system);
// The same of several results, without those that have none.
std::vector<Result> all_on(std::span<const Result> results, const std::string& file_system);

}  // namespace filereel

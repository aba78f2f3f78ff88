// Finds reels by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "traces/reel/reel_reader.h"

namespace filereel {

bool is_catalogue_reel(std::string_view name);  // with or without ".reel"

// Whether the file starts with a reel's magic number.
bool is_reel_file(const std::string& path);

// Opens a reel of the catalogue, or else a file. Throws as ReelReader.
std::unique_ptr<ReelReader> open_reel(const std::string& name_or_path);

// The name of a reel in results: the file name without ".reel".
std::string reel_name(std::string_view path);

}  // namespace filereel

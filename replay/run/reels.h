// Reels by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "traces/reel/reel_reader.h"

namespace filereel {

bool is_catalog_reel(std::string_view name);  // with or without ".reel"

// Whether it begins like one.
bool is_reel_file(const std::string& path);

// A reel of the catalogue, or else a file. Throws as ReelReader.
std::unique_ptr<ReelReader> open_reel(const std::string& name_or_path);

// What a reel is called in results: the file's name without ".reel".
std::string reel_name(std::string_view path);

}  // namespace filereel

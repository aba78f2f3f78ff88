// Recorded traces shipped with filereel, embedded at build time (cmake/catalogue.cmake).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace filereel {

struct CatalogueReel {
  std::string_view name;  // file name in traces/catalogue, such as "app-compile.reel"
  std::span<const std::byte> bytes;
};

// In file-name order.
std::span<const CatalogueReel> reel_catalogue();

}  // namespace filereel

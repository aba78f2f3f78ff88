// Recorded traces shipped with filereel, embedded at build time (cmake/catalog.cmake).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace filereel {

struct CatalogReel {
  std::string_view name;  // file name in traces/catalog, such as "app-compile.reel"
  std::span<const std::byte> bytes;
};

// In file-name order.
std::span<const CatalogReel> reel_catalog();

}  // namespace filereel

// A file of a built-in catalogue, embedded at build time (cmake/catalog.cmake).
#pragma once

#include <span>
#include <string_view>

namespace filereel {

struct CatalogFile {
  std::string_view name;  // file name without ".yaml"
  std::string_view text;
};

std::span<const CatalogFile> file_set_catalog();  // filesets/catalog/*.yaml
std::span<const CatalogFile> workload_catalog();  // traces/catalog/*.yaml, with layer traces
std::span<const CatalogFile> plan_catalog();      // replay/catalog/*.yaml, with layer replay

}  // namespace filereel

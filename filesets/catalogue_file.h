// A file of a built-in catalogue, embedded at build time (cmake/catalogue.cmake).
#pragma once

#include <span>
#include <string_view>

namespace filereel {

struct CatalogueFile {
  std::string_view name;  // file name without ".yaml"
  std::string_view text;
};

std::span<const CatalogueFile> file_set_catalogue();  // filesets/catalogue/*.yaml
std::span<const CatalogueFile> workload_catalogue();  // traces/catalogue/*.yaml, with layer traces
std::span<const CatalogueFile> plan_catalogue();      // replay/catalogue/*.yaml, with layer replay

}  // namespace filereel

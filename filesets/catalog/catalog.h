// The file sets that come with filereel, and finding a file set by name or path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"

namespace filereel {

struct CatalogFileSet {
  std::string name;
  std::string description;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// All sets of the catalogue (filesets/catalog/*.yaml) in alphabetical order.
std::vector<CatalogFileSet> list_catalog_file_sets();

bool is_catalog_file_set(std::string_view name);

// The set of that name at `scale` (filesets/specification/scaling.h). Throws Error(usage), naming
// the sets there are, if there is none.
FileSet catalog_file_set(std::string_view name, double scale = 1.0);

// A set of the catalogue, or one from a file: .yaml or .yml (a specification), .fileset, .fls or
// .ptn; a file with another extension is known by its content if it is a .fileset. The catalogue
// goes first: "./install" is a file. Throws Error(usage) if there is neither, Error(failed) if the
// file cannot be read, Error(unusable_input) if it cannot be used.
FileSet load_file_set(const std::string& name_or_path, double scale = 1.0);

}  // namespace filereel

// How this folder works: the YAML files beside this one are embedded at build time
// (cmake/catalogue.cmake), and catalogue.cc finds them by name. A new file set is a new YAML file.
// Start here.
//
// The file sets shipped with filereel, and lookup of file sets by name or path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"

namespace filereel {

struct CatalogueFileSet {
  std::string name;
  std::string description;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// All sets of the catalogue (filesets/catalogue/*.yaml) in alphabetical order.
std::vector<CatalogueFileSet> list_catalogue_file_sets();

bool is_catalogue_file_set(std::string_view name);

// Returns the named set at `scale` (filesets/specification/scaling.h). Throws Error(usage) with the
// available names if the name is unknown.
FileSet catalogue_file_set(std::string_view name, double scale = 1.0);

// Loads a set of the catalogue or of a file: .yaml or .yml (a specification), .fileset, .fls or
// .ptn. A file with another extension must have the content of a .fileset. Catalogue names take
// precedence; "./install" is always a file. Throws Error(usage) if there is neither, Error(failed)
// if the file cannot be read, Error(unusable_input) if its content is invalid.
FileSet load_file_set(const std::string& name_or_path, double scale = 1.0);

}  // namespace filereel

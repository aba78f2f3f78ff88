// Resolves names to plans, workloads, file sets and reels, from the catalogue or from files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/specification/yaml_reader.h"
#include "traces/reel/reel_reader.h"

namespace filereel {

struct CatalogueItem {
  enum class Kind : std::uint8_t { plan, workload, file_set, reel };

  Kind kind = Kind::plan;
  std::string name;                        // as given; a path of a file
  std::optional<YamlValue> document = {};  // of YAML items; parsed once
  bool in_catalogue = false;

  // Of a file, without folders: the same wherever it lies. "" for the catalogue.
  std::string file() const;
  // In results: the name in the catalogue, or that of the file.
  std::string shown_name() const { return in_catalogue ? name : file(); }
};

// Looks in the catalogue first, then for a file: "./install" is always a file. A reel is found with
// and without ".reel"; with it, a file takes precedence. Throws Error(usage) with the nearest names
// if there is none, Error(failed) if a file cannot be read, Error(unusable_input) if it is none of
// these kinds.
CatalogueItem find_named(const std::string& name_or_path);

// Opens the reel of this name: one of the catalogue, the recording of a catalogue workload, or else
// a file. Throws as find_named and ReelReader.
std::unique_ptr<ReelReader> open_named_reel(const std::string& name_or_path);
// The same for an item that was found: a reel, or a workload that is a recording.
std::unique_ptr<ReelReader> open_reel(const CatalogueItem& item);

struct CataloguePlan {
  std::string name, description;
};
std::vector<CataloguePlan> list_catalogue_plans();

}  // namespace filereel

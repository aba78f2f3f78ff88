// What names stand for: plans, workloads, file sets and reels, of the catalogue or in files.
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
  std::string name;                        // as it was given
  std::optional<YamlValue> document = {};  // of what is written in YAML; parsed once
  bool in_catalogue = false;
};

// Of the catalogue, else a file: "./install" is a file. A reel goes by its name with and without
// ".reel"; with it a file goes first. Throws Error(usage) with the nearest names if there is no
// such thing, Error(failed) if a file cannot be read, Error(unusable_input) if it is none of these.
CatalogueItem find_named(const std::string& name_or_path);

// The reel that a name stands for: one of the catalogue, the recording that a workload of the
// catalogue is, or else a file. Throws as find_named and ReelReader.
std::unique_ptr<ReelReader> open_named_reel(const std::string& name_or_path);
// The same of what was found: a reel, or a workload that is a recording.
std::unique_ptr<ReelReader> open_reel(const CatalogueItem& item);

struct CatalogPlan {
  std::string name, description;
};
std::vector<CatalogPlan> list_catalog_plans();

}  // namespace filereel

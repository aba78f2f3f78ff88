// Workloads as people write them: YAML (docs/workloads.md), with sweeps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/workload/recipe.h"
#include "traces/workload/sweep.h"

namespace filereel {

class Workload {
 public:
  static constexpr std::uint32_t kMostRuns = 10'000;

  // Throws Error(unusable_input) with line and column. Every point is read and checked.
  static Workload from_yaml(std::string_view text, std::string_view file_name);
  // The same of a document that was parsed.
  static Workload from_document(YamlValue document, std::string_view name);

  std::string name, description;
  std::string source;                     // where the figures come from
  std::string notes;                      // which of them are printed, remembered, assumed
  std::vector<std::string> file_systems;  // words of --fs
  std::uint32_t runs = 3;

  // The keys that set_values takes.
  const std::vector<SweepKey>& keys() const { return sweep_.keys(); }
  const std::vector<SweepAxis>& axes() const { return sweep_.axes(); }
  // The product of the axes' lengths, at least 1.
  std::uint64_t points() const { return sweep_.points(); }

  // The same workload with other values for some keys, be they swept or not: KEY, or
  // SCOPE.KEY where several keys are alike (SCOPE: the name of the phase, threads or files).
  // Throws Error(usage) if there is no such key, Error(unusable_input) if a value is not possible.
  void set_values(const SweepOverrides& values);

  // The recipe at a point; points count through the last axis first. `scale` shrinks (or grows)
  // files and the operations and bytes that end phases; docs/workloads.md says how.
  Recipe recipe(std::uint64_t point, double scale = 1) const;
  // The values of the axes there, in their order.
  std::vector<std::pair<std::string, std::string>> parameters(std::uint64_t point) const;

 private:
  explicit Workload(YamlValue document) : document_(std::move(document)) {}
  void read(Sweep sweep);

  YamlValue document_;
  Sweep sweep_;
};

struct CatalogWorkload {
  std::string name, description;
  bool recorded = false;  // a program's, not made up from phases
};

// Those of traces/catalog/*.yaml in alphabetical order.
std::vector<CatalogWorkload> list_catalog_workloads();
bool is_catalog_workload(std::string_view name);

// One of the catalogue. Throws Error(usage) if there is none.
Workload catalog_workload(std::string_view name);

}  // namespace filereel

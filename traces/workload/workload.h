// How this folder works: a Workload is a YAML document with values that may be swept (sweep.h). At
// each point of the sweep, recipe_reader.h turns it into a Recipe (recipe.h), which is plain data,
// checked and complete. Synthesis (synthesis.h) turns a Recipe into files and, for each phase, into
// a trace: one source of operations per thread, of accesses at positions or of steps on files
// (thread_streams.h). Start with recipe.h, then synthesis.h.
//
// Workloads in YAML (docs/workloads.md), with sweeps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/workload/recipe.h"
#include "traces/workload/sweep.h"

namespace filereel {

// A value of `analysis`: reports find the write cache of the drive (docs/write-cache.md).
inline constexpr std::string_view kWriteCacheAnalysis = "write-cache";

class Workload {
 public:
  static constexpr std::uint32_t kMostRuns = 10'000;

  // Throws Error(unusable_input) with line and column. Reads and checks every point.
  static Workload from_yaml(std::string_view text, std::string_view file_name);
  // The same for a parsed document.
  static Workload from_document(YamlValue document, std::string_view name);

  std::string name, description;
  std::string source;                     // origin of the figures
  std::string notes;                      // which figures are printed, remembered or assumed
  std::vector<std::string> file_systems;  // names of --fs
  std::uint32_t runs = 6;
  std::string analysis;  // kWriteCacheAnalysis, or ""

  // The keys accepted by set_values.
  const std::vector<SweepKey>& keys() const { return sweep_.keys(); }
  const std::vector<SweepAxis>& axes() const { return sweep_.axes(); }
  // The product of the axes' lengths, at least 1.
  std::uint64_t points() const { return sweep_.points(); }

  // The same workload with other values for some keys, swept or not: KEY, or SCOPE.KEY if several
  // keys have the same name (SCOPE: the name of the phase, threads or files). Throws SweepError
  // if the key is unknown, Error(unusable_input) if a value is invalid.
  void set_values(const SweepOverrides& values);

  // The recipe at a point; the last axis varies fastest. `scale` scales files, and the operations
  // and bytes that end phases; see docs/workloads.md.
  Recipe recipe(std::uint64_t point, double scale = 1) const;
  // The values of the axes there, in order.
  std::vector<std::pair<std::string, std::string>> parameters(std::uint64_t point) const;

 private:
  explicit Workload(YamlValue document) : document_(std::move(document)) {}
  void read(Sweep sweep);

  YamlValue document_;
  Sweep sweep_;
};

struct CatalogueWorkload {
  std::string name, description;
  bool recorded = false;  // of a program, not synthesised from phases
};

// All of traces/catalogue/*.yaml in alphabetical order.
std::vector<CatalogueWorkload> list_catalogue_workloads();
bool is_catalogue_workload(std::string_view name);

// One of the catalogue. Throws Error(usage) for an unknown name.
Workload catalogue_workload(std::string_view name);

}  // namespace filereel

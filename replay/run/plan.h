// What to run: workloads × file systems × file sets × repetitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/volumes/file_system.h"
#include "traces/fc_test.h"

namespace filereel {

// Repetitions go on until every measurement is precise enough, or the time is over.
struct AutoRuns {
  double width = 0.05;      // of the 95 % interval of the median, as a share of the median
  double budget_s = 1800;   // no repetition begins that would probably end after that
  std::uint32_t least = 5;  // repetitions before the interval is looked at
  std::uint32_t most = 100;
};

struct Plan {
  std::string name;
  std::string description;
  std::string workload = "fc-test";
  std::vector<FileSystemKind> file_systems;  // in order; not used on directories
  std::vector<std::string> sets;             // catalogue names or files (load_file_set)
  std::vector<FcStep> operations;            // a subset in FcStep's order, beginning with create
  std::uint32_t runs = 3;                    // repetitions of each set, 1 to kMostRuns
  std::optional<AutoRuns> auto_runs;         // then `runs` of a result is how many there were
  double scale = 1.0;
  FcTestOptions fc_test;
  bool warm = false;  // leave the caches as they are before each step

  static constexpr std::uint32_t kMostRuns = 10'000;
};

struct CatalogPlan {
  std::string name, description;
};

std::vector<CatalogPlan> list_catalog_plans();
bool is_catalog_plan(std::string_view name);

// A plan of the catalogue, or one from a YAML file (docs/plans.md). Throws Error.
Plan load_plan(const std::string& name_or_path);

// Throws Error(unusable_input) with line and column.
Plan plan_from_yaml(std::string_view text, std::string_view file_name);

// Sorts the operations into FcStep's order and drops double ones; throws Error(usage) when an
// operation needs what is not made before it.
std::vector<FcStep> ordered_operations(std::vector<FcStep> operations);

// Throws Error(usage) unless the block size is 1 byte to 1 GiB.
void check_block_size(std::uint64_t bytes);

}  // namespace filereel

// A plan, or suite: jobs × file systems × repetitions (docs/plans.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/results/result.h"
#include "replay/run/job.h"
#include "replay/run/job_options.h"

namespace filereel {

// A part of near, where a run goes through several.
struct DrivePart {
  std::string name;  // as on the command line: "begin", "25%"
  double place = 0;  // from 0, the first start that is possible, to 1, the last one
};

struct Plan {
  std::string name;
  std::string description;
  std::optional<AutoRuns> auto_runs;
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<DrivePart> parts;          // that each job is measured on; none: near as it is named
  std::vector<ReportView> report;        // of all plans that it is made of, in their order
  std::vector<IndexDefinition> indexes;  // likewise
  bool has_full = false;                 // a job has other values for a full run (key `full`)
};

inline constexpr std::uint32_t kUsualRuns = 3;

// What is said over what plans and jobs say themselves: the parameters of the command line, by key.
struct PlanOverrides {
  std::vector<std::pair<const JobParameter*, std::vector<std::string>>> parameters;
  SweepOverrides sweep;
  bool repetitions = false;  // how often is said, too: what plans say of it does not hold
  bool full = false;         // what jobs say under `full` holds
};

// Finds what each name stands for and makes its jobs: a plan, a workload, a file set (for FC-Test)
// or a reel of the catalogue, or a file that holds one of them. Several names make one plan. A
// parameter without a meaning for a job is an Error(usage) where it has none for any of the jobs;
// else it is added to `remarks`, one line each. A full run of what has no values for one is an
// Error(usage). Throws Error for names that are not known, with the
// nearest ones, and for what cannot be used.
Plan load_plan(std::span<const std::string> names, const PlanOverrides& overrides,
               std::vector<std::string>& remarks);

// What a job is measured with where nobody says otherwise: as the plan says, else as it asks for.
std::uint32_t runs_of(const Job& job);
std::vector<FileSystemKind> file_systems_of(const Job& job);

// About how long `runs` of the job take that are of `seconds` each (JobNeeds), with fresh volumes.
double expected_seconds(double seconds, std::uint32_t runs);

// Throws Error(unusable_input) with line and column.
Plan plan_from_yaml(std::string_view text, std::string_view file_name);

}  // namespace filereel

// How planning works: names on the command line become items of the catalogue (catalogue.h), items
// become jobs (job_sources.h), and jobs with their options become a Plan, declared here.
// kParameters (job_options.h) is the table of their options, for the command line and for plans;
// job_settings.h reads the settings of plans. Values further out win: the command line, the job in
// its plan, the plan. Nothing here touches a volume. Start with load_plan() in plan.cc, then
// job_options.h, the table that most changes concern.
//
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

#include "replay/jobs/job.h"
#include "replay/jobs/job_options.h"
#include "replay/results/result.h"

namespace filereel {

// A part of near, for runs over several parts.
struct DrivePart {
  std::string name;  // as on the command line: "begin", "25%"
  double place = 0;  // from 0, the first possible start, to 1, the last one
};

struct Plan {
  std::string name;
  std::string description;
  std::optional<AutoRuns> auto_runs;
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<DrivePart> parts;          // measured by each job; empty: near as named
  std::vector<ReportView> report;        // of all included plans, in their order
  std::vector<IndexDefinition> indexes;  // likewise
  bool has_full = false;                 // a job has values for a full run (key `full`)
};

// Of six runs, the median has a confidence interval.
inline constexpr std::uint32_t kUsualRuns = 6;

// Parameters of the command line, by key. They override those of plans and jobs.
struct PlanOverrides {
  std::vector<std::pair<const JobParameter*, std::vector<std::string>>> parameters;
  SweepOverrides sweep;
  bool repetitions = false;  // the number of repetitions is set, and overrides plans
  bool full = false;         // the `full` values of jobs apply
  // The processes of mpirun run the plan: `clients` is their number, for all kinds of jobs.
  bool processes = false;
  bool reel_per_client = false;  // see job_wrappers.h
};

// Resolves each name and creates its jobs. A name is a plan, workload, file set (for FC-Test) or
// reel of the catalogue, or a file with one of them. Several names form one plan. A parameter that
// applies to none of the jobs is an Error(usage); if it does not apply to some of them, it is added
// to `remarks`, one line each. A full run of jobs without `full` values is an Error(usage). Throws
// Error for unknown names, with the nearest ones, and for unusable items.
Plan load_plan(std::span<const std::string> names, const PlanOverrides& overrides,
               std::vector<std::string>& remarks);

// The settings if the command line has none: those of the plan, otherwise the job's own.
std::uint32_t runs_of(const Job& job);
std::vector<FileSystemKind> file_systems_of(const Job& job);

// The assumed time to format volumes and to drop caches in one repetition of all points.
double preparation_seconds(const Job& job);

// Estimated duration of `runs` repetitions of `seconds` each (JobNeeds), with fresh volumes.
double expected_seconds(const Job& job, double seconds, std::uint32_t runs);

// Throws Error(unusable_input) with line and column.
Plan plan_from_yaml(std::string_view text, std::string_view file_name);

}  // namespace filereel

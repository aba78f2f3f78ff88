// filereel run for workloads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/observed_run.h"
#include "tools/runs_options.h"
#include "tools/session.h"
#include "traces/workload/workload.h"

namespace filereel {

// Of the command line; what is empty was not said.
struct WorkloadArguments {
  std::string near, against;
  ResultOptions output;
  std::string time;
  std::vector<std::string> file_systems, sweeps, destroy;
  RunsArguments runs;
  std::optional<double> scale;
  bool keep = false, warm = false, block_baseline = false;
};

// "KEY=V1,V2…", whose values may hold commas within brackets.
struct SweepArgument {
  std::string key;
  std::vector<std::string> values;
};
SweepArgument parse_sweep(std::string_view text);  // throws Error(usage)

// Runs the workload with progress, and prints its tables. Throws Error.
void run_workload_command(Workload workload, const WorkloadArguments& arguments, Session& session);

}  // namespace filereel

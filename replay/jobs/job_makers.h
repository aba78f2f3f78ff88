// Creates the jobs of each kind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filesets/file_set.h"
#include "replay/jobs/job.h"
#include "replay/jobs/job_options.h"
#include "traces/recorded_trace.h"
#include "traces/workload/workload.h"

namespace filereel {

using Jobs = std::vector<std::unique_ptr<Job>>;

// FC-Test on each set of the options, or on the given one. Throws Error.
Jobs make_fc_test_jobs(const JobOptions& options);
std::unique_ptr<Job> make_fc_test_job(FileSet set, const JobOptions& options);

// A recipe's phases, at the points of its sweep. Throws Error.
std::unique_ptr<Job> make_workload_job(Workload workload, const JobOptions& options);

// A recorded trace, or one that a workload without phases simulates. Throws Error.
std::unique_ptr<Job> make_trace_job(std::string name, std::unique_ptr<RecordedTrace> trace,
                                    const JobOptions& options);
std::unique_ptr<Job> make_trace_job(Workload workload, const JobOptions& options);

}  // namespace filereel

// The kinds of jobs there are. A new one is a file that makes it and a line of the table in
// job_kinds.cc; results know it by its line in replay/results/result.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/run/catalogue.h"
#include "replay/run/job.h"
#include "replay/run/job_options.h"
#include "traces/recorded_trace.h"
#include "traces/workload/workload.h"

namespace filereel {

using Jobs = std::vector<std::unique_ptr<Job>>;

// What becomes a job of a kind.
struct JobSource {
  JobKind kind;
  bool recorded;  // as long as it was when it was recorded, whatever the scale
  bool (*fits)(const CatalogueItem& item);
  Jobs (*make)(const CatalogueItem& item, const JobOptions& options);
};

// Of a workload, a file set or a reel; plans hold jobs and are none.
const JobSource& job_source_of(const CatalogueItem& item);

// FC-Test on each of the options' sets, or on one that is here. Throws Error.
Jobs make_fc_test_jobs(const JobOptions& options);
std::unique_ptr<Job> make_fc_test_job(FileSet set, const JobOptions& options);

// A recipe's phases, at the points of its sweep. Throws Error.
std::unique_ptr<Job> make_workload_job(Workload workload, const JobOptions& options);

// A trace that was recorded, or that a workload without phases simulates. Throws Error.
std::unique_ptr<Job> make_trace_job(std::string name, std::unique_ptr<RecordedTrace> trace,
                                    const JobOptions& options);
std::unique_ptr<Job> make_trace_job(Workload workload, const JobOptions& options);

}  // namespace filereel

// The tables of recorded traces and of workloads.
#pragma once

#include <string>
#include <vector>

#include "replay/results/result.h"
#include "tools/cli/table.h"

namespace filereel {

// --- The tables of recorded traces.

// A row for each trace on one file system: its time, the recorded time, and the number of
// divergences.
std::string replay_table(const std::vector<const Measurement*>& list, const Bold& bold);

// Details of the repetition with the median time: totals, a row for each kind of operation, and the
// divergences. "" without samples.
std::string replay_details(const Measurement& measurement, const Bold& bold);

// --- The tables of workloads, of sweeps and of several clients.

// A row for each phase of the job; none is null.
std::string phase_table(const Result& result, const std::string& job,
                        const std::vector<const Measurement*>& list, const Bold& bold);

// A sweep on a file system: a row for each value of one axis; with more axes a matrix of the last
// two under headings for the others.
std::string sweep_table(const Result& result, const JobRecord& job, const std::string& file_system,
                        const Bold& bold);

// A row for each measurement of several clients on a file system, of any kind of job: throughput
// until the first client ended, fairness and start skew. "" without such measurements.
std::string clients_table(const Result& result, const std::string& file_system, const Bold& bold);

}  // namespace filereel

// The tables of workloads, and of all that was swept.
#pragma once

#include <string>
#include <vector>

#include "replay/results/result.h"
#include "tools/table.h"

namespace filereel {

// "1.23k", "456", "0.12": three significant digits, thousands and millions by letter.
std::string short_number(double value);

// Of microseconds: "12.3 µs", "4.56 ms", "1.20 s".
std::string short_latency(double us);

// A row for each phase of the job; none is null.
std::string phase_table(const Result& result, const std::string& job,
                        const std::vector<const Measurement*>& list, const Bold& bold);

// A job that was swept on a file system: with one axis a row for each value, with more a matrix of
// the last two under headings of the others.
std::string sweep_table(const Result& result, const JobRecord& job, const std::string& file_system,
                        const Bold& bold);

}  // namespace filereel

// Jobs of several clients: a number of them that varies, and a reel for each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "replay/run/job.h"

namespace filereel {

// The job with this number of clients; `swept`: with these, one after another, as an axis of its
// sweep, which varies slowest. Throws SweepError for invalid numbers.
std::unique_ptr<Job> with_clients(std::unique_ptr<Job> job, std::span<const std::string> counts,
                                  bool swept);

// One job in which client N replays the N-th of these recorded traces, and starts over after the
// last one. Throws Error(usage) for other kinds of jobs and for different sweeps.
std::unique_ptr<Job> reel_per_client(std::vector<std::unique_ptr<Job>> jobs);

}  // namespace filereel

// Describes where a replay diverged from the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// "position 12, thread 0, open a/b: expected 0, got ENOENT".
std::string describe_divergence(const DivergenceExample& example);

// How the samples of a replay differ from the trace, all together.
struct Differences {
  std::size_t runs = 0;
  std::uint64_t results = 0, operations = 0;        // that differ, of so many
  std::map<std::string, std::uint64_t> by_class;    // of the results, by divergence_class_name
  std::uint64_t unverified = 0, refused = 0;        // not compared, not executed
  std::map<std::string, std::uint64_t> refusals;    // by what they would change
  bool has_trees = false;                           // verified
  std::uint64_t in_tree = 0, left_out_of_tree = 0;  // differences, and links left out
};
Differences differences_of(const Measurement& measurement);

// The reasons why a replay failed: true mismatches, wrong content, differences in the tree, failed
// calls. The text gives the counts and the first one; "" if there are none.
std::string failures_of(const Result& result);
// Apart: what a verification found, and work that could not be done.
std::string verification_failures_of(const Result& result);
std::string work_failures_of(const Result& result);
// The same for one measurement.
std::string failures_of(const Result& result, const Measurement& measurement);

// Adds the calls to those of the same volume, operation and error.
void add_failed_calls(const FailedCalls& calls, std::vector<FailedCalls>& all);

// Calls of a measurement that failed with one error on one volume, although they should have
// succeeded.
struct FailedWork {
  FailedCalls calls;         // of the sample with most of them
  std::uint64_t fewest = 0;  // of the samples with any
  std::uint32_t runs = 0, of = 0;
};

// By number of calls, the most first. Of results without Sample::failed_calls, what the examples of
// divergences tell.
std::vector<FailedWork> failed_work_of(const Measurement& measurement);

// Whether a part of the measurement's work was not done: it has no rank and no prediction.
bool is_incomplete(const Measurement& measurement);

// "write on /dev/sdb (near, ext4) failed with EINVAL: 4000 times a run, in 5 of 5 runs"; "up to
// 4000 times a run" where the runs differ.
std::string describe_failed_work(const FailedWork& work, const Result& result,
                                 const Measurement& measurement);

// What to do about calls that failed with this error, by its name.
std::string_view failed_work_advice(std::string_view error);

// The first of them, and the number of others; "" if the work was done.
std::string failed_work_text(const Result& result, const Measurement& measurement);

// Describes a failed operation of a workload: where and why. `room` is the advice for a full
// volume. `full`: it is, whatever the error is.
std::string describe_failure(const std::string& where, const DivergenceExample& what,
                             std::string_view room, bool full = false);

}  // namespace filereel

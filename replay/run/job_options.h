// What a job may be told: one table for plans, the command line and the documentation.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/io_engine.h"
#include "replay/results/result.h"
#include "replay/schedule/schedule.h"
#include "replay/volumes/file_system.h"
#include "traces/fc_test.h"
#include "traces/workload/sweep.h"

namespace filereel {

// What is compared with what should be.
enum class Verification : std::uint8_t {
  results,  // the result of each operation
  content,  // also the bytes of each read
  tree,     // results, and after the step the names, kinds and sizes on the volume
};
std::string_view verification_name(Verification verification);

// The values of all parameters, whatever the kind of the job.
struct JobOptions {
  double scale = 1;  // of file sets, of a recipe's files and of what ends its phases
  bool warm = false;
  Verification verify = Verification::results;
  std::optional<EngineKind> engine;  // nothing: what the job asks for
  SweepOverrides sweep;
  std::string name;  // in results; empty: that of the workload or the reel
  // What a plan says of a job; empty, nothing: what it asks for itself.
  std::vector<FileSystemKind> file_systems;
  std::optional<std::uint32_t> runs;
  // FC-Test
  std::vector<std::string> sets;   // catalogue names or files (load_file_set)
  std::vector<FcStep> operations;  // a subset in FcStep's order, beginning with create; empty: all
  FcTestOptions fc_test;
  // Workloads
  std::optional<std::uint64_t> time_ns;  // bounds each phase
  // Recorded traces
  Order order = Order::resource;
  Pace pace = {};
  std::uint32_t depth = 0;    // see EngineContext::queue_depth
  std::uint32_t clients = 1;  // copies of the trace at the same time, each in its own directory
  bool change_owners = false;
  bool stop_on_divergence = false;
};

struct JobParameter {
  enum class Form : std::uint8_t { value, list, flag };

  std::string_view key;     // in plans and results
  std::string_view option;  // on the command line
  std::string_view help;
  Form form = Form::value;
  bool swept = false;  // FC-Test and recorded traces take several values of it by --sweep
  // By JobKind: why it has no meaning for such a job; "" where it has one.
  std::array<std::string_view, kJobKinds> why_not = {};
  std::string_view why_not_recorded = {};  // the same for traces that are not simulated
  // Takes the values, one unless it is a list. Throws Error(usage) that names what is possible.
  void (*set)(JobOptions& options, std::span<const std::string> values) = nullptr;
};

// In the order of the help.
std::span<const JobParameter> job_parameters();
// Null if there is none of that key.
const JobParameter* find_job_parameter(std::string_view key);

// Why the parameter has no meaning for such a job; "" where it has one. `recorded`: it is a trace
// that was recorded, and not simulated.
std::string_view why_not(const JobParameter& parameter, JobKind kind, bool recorded);

// The sweep of a job whose parameters are all here. The axes are in the order of their names.
class OptionSweep {
 public:
  // Throws Error(usage) for a key that is none of the kind's, and for values that are not possible.
  OptionSweep(JobKind kind, JobOptions options, const SweepOverrides& sweep);

  const std::vector<SweepAxis>& axes() const { return axes_; }
  std::uint64_t points() const { return points_; }
  JobOptions at(std::uint64_t point) const;
  Parameters parameters(std::uint64_t point) const;

 private:
  JobOptions options_;
  std::vector<SweepAxis> axes_;
  std::uint64_t points_ = 1;
};

// Sorts the operations into FcStep's order and drops double ones; throws Error(usage) when an
// operation needs what is not made before it.
std::vector<FcStep> ordered_operations(std::vector<FcStep> operations);

}  // namespace filereel

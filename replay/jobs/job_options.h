// The parameters of a job: one table for plans, the command line and the documentation.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/engine_kind.h"
#include "replay/jobs/drive_condition.h"
#include "replay/results/result.h"
#include "replay/schedule/schedule.h"
#include "replay/volumes/file_system.h"
#include "traces/fc_test.h"
#include "traces/workload/sweep.h"

namespace filereel {

// What is verified.
enum class Verification : std::uint8_t {
  results,  // the result of each operation
  content,  // also the bytes of each read
  tree,     // results, and after the step the names, kinds and sizes on the volume
};
std::string_view verification_name(Verification verification);

// The values of all parameters, for jobs of every kind.
struct JobOptions {
  double scale = 1;  // of file sets, of a recipe's files and of the limits that end its phases
  bool warm = false;
  Verification verify = Verification::results;
  std::optional<EngineKind> engine;  // nothing: the job's default
  SweepOverrides sweep;
  DriveCondition condition;
  std::string name;  // in results; empty: the name of the workload or reel
  std::string file;  // the name of the file with the work, without folders; empty: the catalogue
  // Settings of a plan for the job; empty, nothing: the job's defaults.
  std::vector<FileSystemKind> file_systems;
  std::optional<std::uint32_t> runs;
  // FC-Test
  std::vector<std::string> sets;   // catalogue names or files (load_file_set)
  std::vector<FcStep> operations;  // a subset in FcStep's order, including create; empty: all
  FcTestOptions fc_test;
  std::vector<std::string> copy_commands;  // further copy methods (copy_command.h)
  std::string copy_command;                // the one in use; empty: fc_test.copy_method
  // Workloads
  std::optional<std::uint64_t> time_ns;  // bounds each phase
  std::uint64_t limit = 0;               // bytes of files that fill the volume; 0: none
  // Recorded traces
  Order order = Order::resource;
  Pace pace = {};
  std::uint32_t depth = 0;  // see EngineContext::queue_depth
  // Concurrent copies of the trace, each in its own directory; nothing: one. With several
  // processes, for all jobs, the number of those that work; nothing: all.
  std::optional<std::uint32_t> clients;
  bool change_owners = false;
  bool stop_on_divergence = false;
  // Several clients (docs/clients.md)
  bool share = false;       // one tree for all
  std::uint32_t shift = 0;  // read the files of the client this many ranks later
};

// A value that completion offers.
struct Candidate {
  std::string text, description = {};
};

// Without descriptions.
std::vector<Candidate> candidates_of(std::span<const std::string_view> names);

// Why a parameter does not apply to jobs of each kind; "" if it does. kAppliesToAll, or an answer
// for each kind: a new kind compiles only once each such row has a reason for it, or "".
class InapplicableReasons {
 public:
  struct None {};
  constexpr InapplicableReasons(None) {}
  template <class... Reasons>
    requires(sizeof...(Reasons) == kJobKinds)
  constexpr InapplicableReasons(Reasons... in_order_of_kinds) : reasons_{in_order_of_kinds...} {}

  constexpr std::string_view operator[](JobKind kind) const {
    return reasons_[static_cast<std::size_t>(kind)];
  }

 private:
  std::array<std::string_view, kJobKinds> reasons_ = {};
};
inline constexpr InapplicableReasons kAppliesToAll = InapplicableReasons::None();

// One row for each parameter. Everything else that lists parameters is derived from the rows (help,
// completion, plans, sweeps) or compared with them by tests/replay/job_options_test.cc (documents).
struct JobParameter {
  enum class Form : std::uint8_t { value, list, repeated, flag };  // repeated: one value each time

  std::string_view key;     // in plans and results
  std::string_view option;  // on the command line
  std::string_view help;
  std::string_view group;            // heading in the help and in man pages
  std::string_view value_name = {};  // "SIZE"; flags have none
  std::string_view values = {};      // what they are, in docs/plans.md; empty: the candidates
  std::string_view default_text;     // the default, in docs/plans.md
  Form form = Form::value;
  bool takes_files = false;  // a value may also be the name of a file
  // Values to choose from, or examples of them; null: none.
  std::vector<Candidate> (*candidates)() = nullptr;
  bool swept = false;      // FC-Test and recorded traces can sweep it (--sweep)
  bool condition = false;  // of the drive: jobs of every kind can sweep it
  InapplicableReasons inapplicable_reason;
  // Why it does not apply to a recorded trace, although it does to a simulated one; or "".
  std::string_view inapplicable_reason_recorded = {};
  // Sets the values: one unless it is a list. Throws Error(usage) naming the possible values,
  // ValueError if it does not name the parameter.
  void (*set)(JobOptions& options, std::span<const std::string> values) = nullptr;
  // What this machine lacks for a value; "" if nothing. Such values of a plan are left out.
  std::string (*lacks)(const std::string& value) = nullptr;

  bool has_list() const { return form == Form::list || form == Form::repeated; }
};

// In the order of the help.
std::span<const JobParameter> job_parameters();
// Null if the key is unknown.
const JobParameter* find_job_parameter(std::string_view key);

// Why the parameter does not apply to such a job; "" if it does. `recorded`: a recorded trace, not
// a simulated one.
std::string_view inapplicable_reason(const JobParameter& parameter, JobKind kind, bool recorded);

// The sweep of a job whose parameters are all in this table. The axes are in the order of their
// names.
class OptionSweep {
 public:
  // Throws SweepError for a key that the kind does not have, and for invalid values.
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

// Sorts the operations into FcStep's order and removes duplicates. Throws Error(usage) if create,
// which all others need, is missing.
std::vector<FcStep> ordered_operations(std::vector<FcStep> operations);

}  // namespace filereel

#include "replay/jobs/job_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/specification/scaling.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/jobs/copy_command.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kVerifications = {"results", "content", "tree"};
constexpr std::uint64_t kMostBlock = 1 << 30;

using Values = std::span<const std::string>;

// `text` follows the name of the parameter.
[[noreturn]] void refuse(std::string text) {
  throw ValueError(ErrorKind::usage, {.text = std::move(text), .is_predicate = true});
}

template <class Number>
Number number(const std::string& text, Number least, Number most) {
  if (const auto value = parse_number_in<Number>(text, least, most)) return *value;
  refuse(fmt::format("must be a number from {} to {}", least, most));
}

bool truth(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  refuse("must be true or false");
}

void set_verify(JobOptions& options, Values values) {
  const auto found = std::ranges::find(kVerifications, values.front());
  if (found == kVerifications.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("unknown verification '{}'{}", printable(values.front()),
                            use_one_of(values.front(), kVerifications)));
  }
  options.verify = static_cast<Verification>(found - kVerifications.begin());
}

void set_engine(JobOptions& options, Values values) {
  options.engine.reset();
  if (values.front() != "auto") options.engine = parse_engine(values.front());
}

void set_scale(JobOptions& options, Values values) {
  options.scale = number(values.front(), 0.0, kMaxScale);
  check_scale(options.scale);
}

void set_operations(JobOptions& options, Values values) {
  options.operations.clear();
  for (const std::string& value : values) options.operations.push_back(parse_fc_step(value));
  options.operations = ordered_operations(std::move(options.operations));
}

// A copy command is one more method, by its text.
void set_copy_method(JobOptions& options, Values values) {
  const bool command = contains(options.copy_commands, values.front());
  options.copy_command = command ? values.front() : "";
  options.fc_test.copy_method = command ? CopyMethod::readwrite : parse_copy_method(values.front());
}

void set_copy_commands(JobOptions& options, Values values) {
  options.copy_commands.clear();
  for (const std::string& value : values) {
    check_copy_command(value);
    if (contains(options.copy_commands, value)) {
      throw ValueError(ErrorKind::usage,
                       {.value = value,
                        .text = fmt::format("must be different commands; remove the second '{}'",
                                            printable(value)),
                        .is_predicate = true});
    }
    options.copy_commands.push_back(value);
  }
}

std::string lacking_program(const std::string& command) {
  const std::string program = missing_program(command);
  return program.empty() ? "" : fmt::format("{} is not installed", printable(program));
}

void set_block_size(JobOptions& options, Values values) {
  const std::uint64_t bytes = parse_size(values.front(), "block_size", ErrorKind::usage);
  if (bytes == 0 || bytes > kMostBlock) refuse("must be from 1 byte to 1 GiB");
  options.fc_test.block_size = bytes;
}

void set_time(JobOptions& options, Values values) {
  const std::uint64_t time = parse_duration(values.front(), "time", ErrorKind::usage);
  if (time == 0) refuse("must be more than 0");
  options.time_ns = time;
}

void set_limit(JobOptions& options, Values values) {
  options.limit = parse_size(values.front(), "limit", ErrorKind::usage);
  if (options.limit == 0) refuse("must be more than 0");
}

std::vector<Candidate> file_set_candidates() {
  std::vector<Candidate> candidates;
  for (const CatalogueFileSet& set : list_catalogue_file_sets()) {
    candidates.emplace_back(set.name, set.description);
  }
  return candidates;
}

std::vector<Candidate> step_candidates() {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < kFcSteps; ++i) {
    candidates.emplace_back(std::string(fc_step_name(static_cast<FcStep>(i))));
  }
  return candidates;
}

std::vector<Candidate> copy_method_candidates() {
  std::vector<Candidate> candidates;
  for (auto method = CopyMethod::readwrite; method != CopyMethod::splice;  // of traces only
       method = static_cast<CopyMethod>(static_cast<int>(method) + 1)) {
    candidates.emplace_back(std::string(copy_method_name(method)));
  }
  return candidates;
}

std::vector<Candidate> pace_candidates() {
  std::vector<Candidate> candidates = candidates_of(pace_names());
  candidates.push_back({"2x"});
  return candidates;
}

std::vector<Candidate> order_candidates() {
  return candidates_of(order_names());
}

// The number of processes is a matter of the command line.
std::vector<Candidate> client_candidates() {
  return {Candidate{"mpi"}};
}

std::vector<Candidate> verification_candidates() {
  return candidates_of(kVerifications);
}

std::vector<Candidate> engine_candidates() {
  std::vector<Candidate> candidates = candidates_of(engine_names());
  candidates.insert(candidates.begin(), {"auto"});
  return candidates;
}

using enum JobParameter::Form;

// Reasons why a parameter does not apply to a kind of job.
constexpr std::string_view kNoPhases =
    "a step of FC-Test ends with its last file; use --scale to shorten it";
constexpr std::string_view kWholeTrace =
    "a recorded trace ends with its last operation; shorten it with filereel cut";
constexpr std::string_view kNoTimes = "FC-Test has no recorded times";
constexpr std::string_view kOwnTimes = "a workload sets its own pace (keys think and rate)";
constexpr std::string_view kNoOrders =
    "FC-Test threads share no files, so there is no order to preserve";
constexpr std::string_view kFreeThreads =
    "workload threads are independent, so there is no order to preserve";
constexpr std::string_view kOneRequest = "an FC-Test thread has one request in flight";
constexpr std::string_view kOwnKeys =
    "a workload has its own keys; filereel show lists those for --sweep";
constexpr std::string_view kOwnThreads = "use --threads";
constexpr std::string_view kOfFcTest = "it is for FC-Test only";
constexpr std::string_view kOfTraces = "it is for recorded traces only";
constexpr std::string_view kOwnTree =
    "a trace changes the files that it reads, so each client needs its own";

// Headings of groups.
constexpr std::string_view kWhatToMeasure = "What to measure";
constexpr std::string_view kHowToMeasure = "How to measure";
constexpr std::string_view kSeveralClients = "Several clients";
constexpr std::string_view kCondition = "Condition of the drive";

constexpr auto kParameters = std::to_array<JobParameter>({
    {.key = "sets",
     .option = "--set",
     .help = "FC-Test file sets: catalogue names or files",
     .group = kWhatToMeasure,
     .value_name = "SET",
     .values = "names of the catalogue; `.yaml`, `.fileset`, `.fls`, `.ptn` files",
     .default_text = "required",
     .form = list,
     .takes_files = true,
     .candidates = file_set_candidates,
     .inapplicable_reason = {"", kOfFcTest, kOfFcTest},
     .set = [](JobOptions& o, Values v) { o.sets.assign(v.begin(), v.end()); }},
    {.key = "operations",
     .option = "--operations",
     .help = "FC-Test steps: any of create,read,copy-near,copy-far,delete",
     .group = kWhatToMeasure,
     .value_name = "STEP",
     .values =
         "`create`, `read`, `copy-near`, `copy-far`, `delete`; in this order, starting with create",
     .default_text = "all",
     .form = list,
     .candidates = step_candidates,
     .inapplicable_reason = {"", kOfFcTest, kOfFcTest},
     .set = set_operations},
    {.key = "scale",
     .option = "--scale",
     .help = "Size factor for file sets and workloads, such as 0.1",
     .group = kWhatToMeasure,
     .value_name = "FACTOR",
     .values = "above 0; see [file-sets.md](file-sets.md), [workloads.md](workloads.md)",
     .default_text = "1",
     .inapplicable_reason = kAppliesToAll,
     .inapplicable_reason_recorded = kWholeTrace,
     .set = set_scale},
    {.key = "block_size",
     .option = "--block-size",
     .help = "Bytes per read or write in FC-Test (128 KiB)",
     .group = kHowToMeasure,
     .value_name = "SIZE",
     .values = "bytes per read and write, 1 byte to `1 GiB`",
     .default_text = "`128 KiB`",
     .swept = true,
     .inapplicable_reason = {"", kOwnKeys, kOfFcTest},
     .set = set_block_size},
    {.key = "copy_method",
     .option = "--copy-method",
     .help = "FC-Test copy method: readwrite, copy_file_range, reflink or sendfile",
     .group = kHowToMeasure,
     .value_name = "METHOD",
     .default_text = "`readwrite`",
     .candidates = copy_method_candidates,
     .swept = true,
     .inapplicable_reason = {"", kOfFcTest, kOfFcTest},
     .set = set_copy_method},
    {.key = "copy_command",
     .option = "--copy-command",
     .help = "Additional copy method: a shell command with {from} and {to}; may be repeated",
     .group = kHowToMeasure,
     .value_name = "COMMAND",
     .values = "commands of the shell with `{from}` and `{to}`, see [Copy "
               "commands](#copy-commands); on the command line one each time",
     .default_text = "none",
     .form = repeated,
     .inapplicable_reason = {"", kOfFcTest, kOfFcTest},
     .set = set_copy_commands,
     .lacks = lacking_program},
    {.key = "threads",
     .option = "--threads",
     .help = "Number of FC-Test threads sharing the files (1)",
     .group = kHowToMeasure,
     .value_name = "N",
     .values = "1 to 1024; each thread takes the next file when it has completed one, the largest "
               "files first",
     .default_text = "1",
     .swept = true,
     .inapplicable_reason = {"", kOwnKeys, kOfFcTest},
     .set = [](JobOptions& o, Values v) { o.fc_test.threads = number(v.front(), 1U, 1024U); }},
    {.key = "time",
     .option = "--time",
     .help = "Time limit of each workload phase, such as 10s",
     .group = kWhatToMeasure,
     .value_name = "TIME",
     .values = "maximum time of each phase, such as `10 s`",
     .default_text = "as in the recipe",
     .inapplicable_reason = {kNoPhases, "", kWholeTrace},
     .set = set_time},
    {.key = "limit",
     .option = "--limit",
     .help = "Size limit of files that fill the volume, such as 200GB",
     .group = kWhatToMeasure,
     .value_name = "SIZE",
     .values = "maximum size of all files of a group with `fill`, such as `200 GB`",
     .default_text = "none",
     .inapplicable_reason = {"the files of FC-Test do not fill the volume; use --scale", "",
                             "the files of a recorded trace do not fill the volume"},
     .set = set_limit},
    {.key = "pace",
     .option = "--pace",
     .help = "Replay pace: asap, natural, think or a factor such as 2x",
     .group = kHowToMeasure,
     .value_name = "PACE",
     .values = "`asap`, `natural`, `think`, `2x`, `think/2x`",
     .default_text = "`asap`",
     .candidates = pace_candidates,
     .swept = true,
     .inapplicable_reason = {kNoTimes, kOwnTimes, ""},
     .set = [](JobOptions& o, Values v) { o.pace = parse_pace(v.front()); }},
    {.key = "order",
     .option = "--order",
     .help = "Order to preserve in a replay: strict, resource or thread",
     .group = kHowToMeasure,
     .value_name = "ORDER",
     .default_text = "`resource`",
     .candidates = order_candidates,
     .swept = true,
     .inapplicable_reason = {kNoOrders, kFreeThreads, ""},
     .set = [](JobOptions& o, Values v) { o.order = parse_order(v.front()); }},
    {.key = "depth",
     .option = "--depth",
     .help = "Queue depth per replay thread, with io_uring",
     .group = kHowToMeasure,
     .value_name = "N",
     .values = "requests in flight per thread, 1 to 4096",
     .default_text = "as recorded",
     .swept = true,
     .inapplicable_reason = {kOneRequest, kOwnKeys, ""},
     .set = [](JobOptions& o, Values v) { o.depth = number(v.front(), 1U, 4096U); }},
    {.key = "clients",
     .option = "--clients",
     .help =
         "Number of concurrent copies of a trace, each in its own directory; mpi: the processes "
         "of mpirun, for all jobs",
     .group = kSeveralClients,
     .value_name = "N|mpi",
     .values = "concurrent copies of the trace, 1 to 1000; with `--clients mpi`, the number of "
               "processes that work, for jobs of every kind: [clients.md](clients.md)",
     .default_text = "1",
     .candidates = client_candidates,
     .swept = true,
     .inapplicable_reason = {kOwnThreads, kOwnKeys, ""},
     .set = [](JobOptions& o, Values v) { o.clients = number(v.front(), 1U, 1000U); }},
    {.key = "share",
     .option = "--share",
     .help = "With --clients mpi: one set of files for all clients",
     .group = kSeveralClients,
     .values = "`true`: with `--clients mpi`, one set of files for all clients",
     .default_text = "`false`",
     .form = flag,
     .inapplicable_reason = {"", "", kOwnTree},
     .set = [](JobOptions& o, Values v) { o.share = truth(v.front()); }},
    {.key = "shift",
     .option = "--shift",
     .help = "With --clients mpi: read the files of the client N ranks later",
     .group = kSeveralClients,
     .value_name = "N",
     .values = "with `--clients mpi`, read the files of the client this many ranks later",
     .default_text = "0",
     .inapplicable_reason = {"", "", kOwnTree},
     .set = [](JobOptions& o, Values v) { o.shift = number(v.front(), 0U, 1'000'000U); }},
    {.key = "owners",
     .option = "--owners",
     .help = "Change file owners as recorded (needs root)",
     .group = kHowToMeasure,
     .values = "`true`: change owners as recorded",
     .default_text = "`false`",
     .form = flag,
     .inapplicable_reason = {kOfTraces, kOfTraces, ""},
     .set = [](JobOptions& o, Values v) { o.change_owners = truth(v.front()); }},
    {.key = "stop_on_divergence",
     .option = "--stop-on-divergence",
     .help = "Stop a replay at its first true mismatch",
     .group = kHowToMeasure,
     .values = "`true`: end at the first true mismatch",
     .default_text = "`false`",
     .form = flag,
     .inapplicable_reason = {kOfTraces, kOfTraces, ""},
     .set = [](JobOptions& o, Values v) { o.stop_on_divergence = truth(v.front()); }},
    {.key = "verify",
     .option = "--verify",
     .help = "Verification level: results, content or tree",
     .group = kHowToMeasure,
     .value_name = "LEVEL",
     .default_text = "`results`",
     .candidates = verification_candidates,
     .swept = true,
     .inapplicable_reason = kAppliesToAll,
     .set = set_verify},
    {.key = "engine",
     .option = "--engine",
     .help = "I/O engine: auto, blocking, io_uring or null (no system calls)",
     .group = kHowToMeasure,
     .value_name = "ENGINE",
     .default_text = "`auto`",
     .candidates = engine_candidates,
     .swept = true,
     .inapplicable_reason = kAppliesToAll,
     .set = set_engine},
    {.key = "warm",
     .option = "--warm",
     .help = "Do not drop caches before each step",
     .group = kHowToMeasure,
     .values = "`true`: leave the caches as they are",
     .default_text = "`false`",
     .form = flag,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { o.warm = truth(v.front()); }},
    {.key = "purge",
     .option = "--purge",
     .help = "Discard the whole drive before the job; warn if that is not possible",
     .group = kCondition,
     .values = "`true`: discard the whole device or part before the job",
     .default_text = "`false`",
     .form = flag,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { o.condition.purge = truth(v.front()); }},
    {.key = "precondition",
     .option = "--precondition",
     .help = "Write the whole drive before the job, such as 'sequential 2x' or 'random 1x 4KiB'",
     .group = kCondition,
     .value_name = "WRITES",
     .values = "`sequential` or `random`; passes such as `2x`; bytes per write such as `128KiB`; "
               "`device` or `files`; separated by spaces",
     .default_text = "none",
     .condition = true,
     .inapplicable_reason = kAppliesToAll,
     .set =
         [](JobOptions& o, Values v) {
           o.condition.precondition.reset();
           if (v.front() != "none") o.condition.precondition = parse_preconditioning(v.front());
         }},
    {.key = "mkfs_options",
     .option = "--mkfs-options",
     .help =
         "Options for mkfs, of one file system such as 'ext4=-O ^has_journal', or of all; may be "
         "repeated",
     .group = kCondition,
     .value_name = "OPTIONS",
     .values =
         "options of mkfs, separated by spaces, such as `ext4=-O ^has_journal`; without a file "
         "system for all; `defaults`",
     .default_text = "`defaults`",
     .form = repeated,
     .condition = true,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { set_mkfs_options(o.condition, v); }},
    {.key = "mount_options",
     .option = "--mount-options",
     .help = "Options for mounting, of one file system such as 'ext4=noatime,discard', or of all; "
             "may be repeated",
     .group = kCondition,
     .value_name = "OPTIONS",
     .values = "options for `mount -o`, such as `ext4=noatime,discard`; without a file system for "
               "all; `defaults`",
     .default_text = "`defaults`",
     .form = repeated,
     .condition = true,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { set_mount_options(o.condition, v); }},
    {.key = "fill",
     .option = "--fill",
     .help = "Fill the file system up to this share with files before the job, such as 75%",
     .group = kCondition,
     .value_name = "SHARE",
     .values = "used share of the file system before the job, as counted by df: `0%` to `95%`",
     .default_text = "`0%`",
     .condition = true,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { set_fill(o.condition, v.front()); }},
    {.key = "fill_files",
     .option = "--fill-files",
     .help = "Files of --fill: a size, or a file set (64 MiB)",
     .group = kCondition,
     .value_name = "SIZE|SET",
     .values = "files of `fill`: their size, or a file set",
     .default_text = "`64 MiB`",
     .takes_files = true,
     .candidates = file_set_candidates,
     .condition = true,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { set_fill_files(o.condition, v.front()); }},
    {.key = "steady",
     .option = "--steady",
     .help = "Repeat the job until the drive is in steady state (SNIA PTS), in at most 25 rounds",
     .group = kCondition,
     .values = "`true`: repeat the job until the steady state; only rounds from then on count",
     .default_text = "`false`",
     .form = flag,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { o.condition.steady = truth(v.front()); }},
    {.key = "rest",
     .option = "--rest",
     .help = "Idle time before the first step, such as 5min",
     .group = kCondition,
     .value_name = "TIME",
     .values = "time without I/O before the first step, such as `5 min`",
     .default_text = "`0`",
     .condition = true,
     .inapplicable_reason = kAppliesToAll,
     .set = [](JobOptions& o, Values v) { set_rest(o.condition, v.front()); }},
});

[[noreturn]] void refuse_sweep(const std::string& key, const std::string& text) {
  throw SweepError(SweepError::Fault::values, key, text);
}

}  // namespace

std::string_view verification_name(Verification verification) {
  return kVerifications[static_cast<std::size_t>(verification)];
}

std::vector<Candidate> candidates_of(std::span<const std::string_view> names) {
  std::vector<Candidate> candidates;
  for (const std::string_view name : names) candidates.emplace_back(std::string(name));
  return candidates;
}

std::span<const JobParameter> job_parameters() {
  return kParameters;
}

const JobParameter* find_job_parameter(std::string_view key) {
  return find_or_null(kParameters, key, &JobParameter::key);
}

std::string_view inapplicable_reason(const JobParameter& parameter, JobKind kind, bool recorded) {
  const std::string_view why = parameter.inapplicable_reason[kind];
  return why.empty() && recorded ? parameter.inapplicable_reason_recorded : why;
}

OptionSweep::OptionSweep(JobKind kind, JobOptions options, const SweepOverrides& sweep)
    : options_(std::move(options)) {
  for (const auto& [key, values] : sweep) {
    const JobParameter* parameter = find_job_parameter(key);
    const auto can = [&](const JobParameter& one) {
      return one.swept && one.inapplicable_reason[kind].empty();
    };
    if (!parameter || !can(*parameter)) {
      std::vector<std::string_view> keys;
      for (const JobParameter& one : kParameters) {
        if (can(one) || one.condition) keys.push_back(one.key);
      }
      throw SweepError(
          SweepError::Fault::unknown_key, key,
          fmt::format("unknown sweep key '{}'{}", printable(key), use_one_of(key, keys)));
    }
    for (const std::string& value : values) {
      JobOptions tried = options_;
      try {
        parameter->set(tried, {&value, 1});
      } catch (const Error& error) {
        refuse_sweep(key, fmt::format("{}={}: {}", key, printable(value), error.what()));
      }
      if (tried.engine != EngineKind::null || options_.engine == EngineKind::null) continue;
      refuse_sweep(
          key, "the null engine uses no volume, unlike the others: measure it in a separate run");
    }
    axes_.push_back({key, values});
    points_ *= values.size();
    if (points_ > kMostPoints) {
      refuse_sweep(key, fmt::format("the sweep has more than {}: use fewer values",
                                    counted(kMostPoints, "point")));
    }
  }
}

JobOptions OptionSweep::at(std::uint64_t point) const {
  JobOptions options = options_;
  for (const auto& [key, value] : parameters(point)) {
    find_job_parameter(key)->set(options, {&value, 1});
  }
  return options;
}

Parameters OptionSweep::parameters(std::uint64_t point) const {
  Parameters list(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0; point /= axes_[i].values.size()) {
    list[i] = {axes_[i].name, axes_[i].values[point % axes_[i].values.size()]};
  }
  return list;
}

std::vector<FcStep> ordered_operations(std::vector<FcStep> operations) {
  std::ranges::sort(operations);
  const auto duplicates = std::ranges::unique(operations);
  operations.erase(duplicates.begin(), duplicates.end());
  if (operations.empty() || operations.front() != FcStep::create) {
    throw Error(ErrorKind::usage, "the operations must include create: the others need its files");
  }
  return operations;
}

}  // namespace filereel

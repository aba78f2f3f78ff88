// filereel predict: the expected run time of a recorded program on volumes, from replays at pace
// `think` on all of them in turns.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/control_groups.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/read_file.h"
#include "replay/compare/compared_figures.h"
#include "replay/compare/prediction.h"
#include "replay/compare/prediction_json.h"
#include "replay/compare/prediction_text.h"
#include "replay/compare/sessions.h"
#include "replay/plan/catalogue.h"
#include "replay/plan/plan.h"
#include "replay/report/figures.h"
#include "replay/results/failures.h"
#include "replay/results/work_checks.h"
#include "replay/run/runner.h"
#include "replay/statistics/summary.h"
#include "tools/cli/clean_command.h"
#include "tools/cli/commands.h"
#include "tools/cli/observed_run.h"
#include "tools/cli/prediction_table.h"
#include "tools/cli/run_options.h"
#include "tools/cli/share_watch.h"
#include "tools/cli/signals.h"
#include "tools/cli/table.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

// The parameters of a replay that leave its accuracy as it was measured.
constexpr std::string_view kParameters[] = {"warm", "owners"};

struct PredictArguments {
  std::string reel, label;
  std::vector<std::string> volumes;
  FormatArguments format;
  ParameterArguments parameters;
  RunsArguments runs;
  bool allow_divergence = false;
  ResultOptions output;
};

// Why nothing is known about the accuracy of replays of this trace; "" if it is known.
std::string unknown_accuracy(const TraceInfo& info) {
  for (const std::string_view disturbed : {kStoppedFact, kThrottledFact}) {
    const auto fact = info.facts.find(std::string(disturbed));
    if (fact != info.facts.end()) return "during the recording, " + fact->second;
  }
  if (!info.complete) return "the reel is truncated: the end of the program is missing";
  for (const std::string_view reason : {kEventsLost, kEventsBeyondMemory}) {
    for (const auto& [lost, number] : info.lost) {
      if (lost.starts_with(reason)) return fmt::format("the reel is incomplete: {}", lost);
    }
  }
  if (info.waits) return "";
  return "the reel does not contain the waits of threads (only `filereel record` with BPF records "
         "them), so all pauses are replayed as sleeps";
}

// The same, by what disturbed the replays.
std::string disturbed_replays(std::span<const Result> results) {
  Throttling all;
  bool throttled = false;
  for (const Result& result : results) {
    for (const Measurement& measurement : result.measurements) {
      for (const Sample& sample : measurement.samples) {
        if (was_cut_short(sample)) continue;
        all.add(throttling_of(sample.conditions));
        throttled = throttled || is_throttled(sample.conditions);
      }
    }
  }
  return throttled ? "during the replays, " + quota_wait_text(all, "filereel") : "";
}

std::vector<std::string> remarks_on(const TraceInfo& info) {
  std::vector<std::string> remarks;
  const auto failed = info.facts.find(std::string(kFailedFact));
  if (failed != info.facts.end()) {
    remarks.push_back(
        fmt::format("the recorded program failed (it {}): the times are those of "
                    "what it did until then",
                    failed->second));
  }
  for (std::string& remark : recording_remarks(info)) remarks.push_back(std::move(remark));
  return remarks;
}

bool has_calls(const TraceInfo& info) {
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    if (info.by_kind[i] > 0 && operation_info(static_cast<OperationKind>(i)).is_call) return true;
  }
  return false;
}

// From the first operation to the end of the last one that replays count: not to that of a wait
// which no operation of its thread follows (replay/engine/lane.h).
double recorded_seconds(RecordedSource& source) {
  std::vector<RecordedOperation> block(4096);
  std::uint64_t begin_ns = UINT64_MAX, end_ns = 0;
  while (const std::size_t count = source.next(block)) {
    for (const RecordedOperation& operation : std::span(block).first(count)) {
      const Operation& op = operation.operation;
      begin_ns = std::min(begin_ns, operation.start_ns);
      const bool waits = op.kind == OperationKind::wait && op.flags == wait_flags::kForOutside;
      if (!waits) end_ns = std::max(end_ns, operation.start_ns + operation.duration_ns);
    }
  }
  return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) * 1e-9 : 0;
}

PredictedProgram describe(const std::string& name, const std::string& label, RecordedTrace& trace) {
  const TraceInfo& info = trace.info();
  if (!info.timed) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: has no recorded times, which a prediction needs; record the "
                            "program with `filereel record`",
                            printable(name)));
  }
  if (!has_calls(info)) {
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("{}: has no operations on files, so there is nothing to predict; record "
                    "a program that uses files",
                    printable(name)));
  }
  const auto command = info.facts.find("command");
  const double recorded_s = recorded_seconds(*open_named_reel(name));
  return {.reel = name,
          .command = command == info.facts.end() ? "" : command->second,
          .label = label,
          .recorded_s = recorded_s,
          .threads = static_cast<std::uint64_t>(std::ranges::count_if(
              info.threads, [](const TraceThread& thread) { return thread.operations > 0; })),
          .unknown_accuracy = unknown_accuracy(info),
          .remarks = remarks_on(info),
          .running = info.facts.contains(std::string(kRunningFact)),
          .commits = grouped_commits(trace, recorded_s)};
}

// The largest share of the CPU time that others took during the replays on a volume.
std::optional<double> busiest_share(std::span<const Result> results) {
  std::optional<double> most;
  for (const Result& result : results) {
    if (const auto busy = busy_share(result)) most = std::max(most.value_or(0), *busy);
  }
  return most;
}

RunRequest request_of(const PredictArguments& arguments, const Plan& plan,
                      const std::vector<Target>& targets) {
  RunRequest request{.plan = plan,
                     .targets = {.near = targets.front(),
                                 .against = {targets.begin() + 1, targets.end()},
                                 .listed = true},
                     .file_systems = parse_file_systems(arguments.format.file_systems),
                     .runs = kLeastForInterval,
                     .destroy = parse_devices(arguments.format.destroy)};
  apply_runs(arguments.runs, request.runs, request.auto_runs);
  if (request.auto_runs) request.runs.reset();
  if (request.runs && *request.runs < kLeastForInterval) {
    throw Error(ErrorKind::usage, fmt::format("--runs {}: a prediction needs at least {}",
                                              *request.runs, kLeastForInterval));
  }
  return request;
}

Plan plan_of(const PredictArguments& arguments) {
  PlanOverrides overrides;
  overrides.repetitions = true;
  overrides.parameters = given_parameters(arguments.parameters);
  overrides.parameters.emplace_back(find_job_parameter("pace"), std::vector<std::string>{"think"});
  std::vector<std::string> remarks;  // of parameters that do not apply to all jobs: there is one
  return load_plan({&arguments.reel, 1}, overrides, remarks);
}

// A volume for each file system of each result.
std::vector<ReplayedVolume> replayed_volumes(std::span<const Result> results,
                                             const std::optional<GroupedCommits>& commits,
                                             bool allow_divergence) {
  std::vector<ReplayedVolume> volumes;
  for (const Result& result : results) {
    for (const Measurement& measurement : result.measurements) {
      ReplayedVolume& volume = volumes.emplace_back(ReplayedVolume{
          .name = volume_name(result, measurement), .file_system = measurement.file_system});
      std::vector<double> saved;  // shares
      for (const Sample& sample : measurement.samples) {
        if (sample.conditions.stops.value_or(0) > 0) ++volume.stopped;
        const bool unusable = allow_divergence ? was_cut_short(sample) : has_failed(sample);
        if (unusable || !(sample.elapsed_s > 0)) continue;
        volume.seconds.push_back(sample.elapsed_s);
        volume.runs.push_back(sample.run);
        volume.begins_s.push_back(sample.started_s);
        if (commits) saved.push_back(most_saved(*commits, sample));
      }
      if (!saved.empty()) {
        volume.most_saved = median(saved);
        volume.saved_to_s = commits->recorded_s;
      }
      if (allow_divergence || failures_of(result, measurement).empty()) continue;
      volume.obstacle = failed_work_text(result, measurement);
      if (!volume.obstacle.empty()) continue;
      volume.obstacle = fmt::format("{}, so the program would do something else than recorded",
                                    differing_text(measurement));
    }
  }
  return volumes;
}

StoredPrediction predicted(PredictedProgram program, std::vector<Result> results,
                           bool allow_divergence) {
  StoredPrediction stored{.program = std::move(program)};
  stored.volumes = replayed_volumes(results, stored.program.commits, allow_divergence);
  const std::optional<double> busy = busiest_share(results);
  const double sessions =
      assumed_spread(results.front().host.machine, Aspect::time, busy.value_or(0));
  std::string& unknown = stored.program.unknown_accuracy;
  if (const std::string disturbed = disturbed_replays(results); !disturbed.empty()) {
    unknown += (unknown.empty() ? "" : "; ") + disturbed;
  }
  const bool known = unknown.empty();
  stored.prediction = predict_times(
      stored.volumes, known ? std::optional(kReplayAccuracy) : std::nullopt, sessions);
  stored.prediction.busy = busy;
  stored.results = std::move(results);
  return stored;
}

void show(const PredictArguments& arguments, const StoredPrediction& stored,
          const Session& session) {
  const ResultOptions& output = arguments.output;
  const bool taken = output.json == "-" || output.html == "-" || output.live.json == "-";
  const auto bold = [&](const std::string& text) {
    return session.bold(text, taken ? STDERR_FILENO : STDOUT_FILENO);
  };
  const std::string text = format_prediction(stored, bold) + warnings_of(stored.results);
  if (!output.json.empty()) session.print_to(output.json, prediction_to_json(stored));
  write_report(session, stored, output.html);
  taken ? static_cast<void>(session.print_aside(text)) : session.print(text);
}

void predict(const PredictArguments& arguments, Session& session) {
  require_calls(CallUse::volumes, "measuring volumes");
  std::vector<std::string> paths = {arguments.reel};
  for (const std::string& volume : arguments.volumes) paths.push_back(path_in_target(volume));
  const ShareWatch watch(paths);
  PredictedProgram program =
      describe(arguments.reel, arguments.label, *open_named_reel(arguments.reel));
  clear_leftovers(session);
  const Plan plan = plan_of(arguments);
  const std::vector<Target> targets = parse_targets(arguments.volumes);
  RunRequest request = request_of(arguments, plan, targets);
  if (mounts_something(targets)) {
    request.power = enter_mount_namespace();  // before there are threads
  }
  SignalWatch signals(paths);
  request.stop = signals.token();
  request.continued = [&signals] { return signals.continued(); };
  std::vector<Result> results =
      observe_quietly(session, signals, arguments.output, targets, targets.size(),
                      [&](RunObserver& observer, std::span<Result> measured) {
                        return run_plan(request, observer, measured.front(), measured.subspan(1));
                      });
  if (session.exit_code == Session::kInterrupted) return;
  const StoredPrediction stored =
      predicted(std::move(program), std::move(results), arguments.allow_divergence);
  show(arguments, stored, session);
  if (!arguments.allow_divergence) require_verified(stored.results);
}

}  // namespace

void add_predict_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "predict", "Predict the run time of a recorded program on one or more volumes");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("REEL", arguments->reel, "Reel: a .reel file or a catalogue name")
      ->required();
  command
      ->add_option("VOLUMES", arguments->volumes,
                   "Directories, image:FILE[,size=4G], block devices or parts of them")
      ->required();
  add_format_options(*command, arguments->format);
  add_runs_options(*command, arguments->runs,
                   "Number of repetitions on each volume, at least 6 (6)");
  add_parameter_options(*command, arguments->parameters, kParameters);
  command->add_flag("--allow-divergence", arguments->allow_divergence,
                    "Predict times although replays diverge from the trace, and exit with 0");
  command->add_option("--label", arguments->label,
                      "Name of the program in texts and on the page (its command line)");
  add_result_options(*command, arguments->output);
  command->footer(
      "Examples:\n  filereel predict app.reel /mnt/a/test /mnt/b/test\n"
      "  filereel predict app.reel image:test.img --fs ext4,xfs,btrfs --json app.json\n"
      "  filereel predict app.reel /dev/sdb /dev/sdc --destroy /dev/sdb --destroy /dev/sdc --runs "
      "10");
  command->callback([arguments, &session] {
    refuse_special_file(arguments->reel);
    predict(*arguments, session);
  });
}

}  // namespace filereel

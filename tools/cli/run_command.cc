// filereel run and filereel replay: measure jobs on volumes and print the tables. A replay is a run
// of one recorded trace on one volume, given as the second argument.
#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/ownership/leftovers.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/privileges.h"
#include "filesets/system/read_file.h"
#include "filesets/system/terminal.h"
#include "filesets/system/wording.h"
#include "replay/jobs/job_options.h"
#include "replay/measure/clock.h"
#include "replay/plan/drive_parts.h"
#include "replay/plan/plan.h"
#include "replay/run/runner.h"
#include "tools/cli/clean_command.h"
#include "tools/cli/command_line.h"
#include "tools/cli/commands.h"
#include "tools/cli/observed_run.h"
#include "tools/cli/output_options.h"
#include "tools/cli/run_options.h"
#include "tools/cli/session_files.h"
#include "tools/cli/session_series.h"
#include "tools/cli/share_watch.h"
#include "tools/cli/signals.h"

namespace filereel {
namespace {

// Default scale of the five FC-Test sets when no arguments are given: about a minute on a slow
// machine.
constexpr const char* kDemonstrationScale = "0.02";
constexpr const char* kDemonstration = "fc-test";

struct RunArguments {
  std::vector<std::string> names;
  std::string near, control;
  std::vector<std::string> far, against, against_far, sweeps, parts;
  FormatArguments format;
  ParameterArguments parameters;
  RunsArguments runs;
  SeriesArguments series;
  ClientsArguments clients;
  bool full = false, keep = false, block_baseline = false, allow_divergence = false;
  std::string resume;
  ResultOptions output;
};

// Adds the options of both commands. `arguments` must outlive the command.
void add_options(CLI::App& command, RunArguments& arguments) {
  add_repeated(command, "--far", arguments.far,
               "Second volume, for copies; may be repeated for workloads on more volumes");
  add_repeated(command, "--against", arguments.against,
               "Volume to measure in turns with the first one, and to compare with it; may be "
               "repeated, for a ranking");
  add_repeated(command, "--against-far", arguments.against_far,
               "Second volume of --against (default: --far)");
  command.add_option("--control", arguments.control,
                     "Volume to measure in turns, to tell changes of the machine from changes of "
                     "the volume under test");
  add_format_options(command, arguments.format);
  command
      .add_option("--parts", arguments.parts,
                  "Parts of the drive to measure in sequence: begin,middle,end or 0%,25%")
      ->delimiter(',');
  add_runs_options(command, arguments.runs, "Number of repetitions, each on fresh volumes (6)");
  add_series_options(command, arguments.series);
  add_parameter_options(command, arguments.parameters);
  command
      .add_option("--sweep", arguments.sweeps,
                  "Values of a key to measure in sequence: depth=1,4,16")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_clients_options(command, arguments.clients);
  command.add_flag("--with-block-baseline", arguments.block_baseline,
                   "First measure fio on the volume, below the file system");
  command.add_flag("--allow-divergence", arguments.allow_divergence,
                   "Exit with 0 even if a replay diverges from the trace");
  add_result_options(command, arguments.output);
  command.add_option("--resume", arguments.resume,
                     "Continue the interrupted run of this result, with the same command");
  add_history_options(command, arguments.series.history);
  command.add_option("--label", arguments.output.label,
                     "Name of the result, such as a drive or 'firmware 1.08'");
  add_output_option(command, "--against-json", arguments.output.against_json, OutputKind::json,
                    "Write the result of --against to this file; once for each");
  add_repeated(command, "--against-label", arguments.output.against_label,
               "Name of the result of --against; once for each");
}

PlanOverrides overrides_of(const RunArguments& arguments) {
  PlanOverrides overrides;
  overrides.repetitions = !arguments.runs.runs.empty();
  overrides.full = arguments.full;
  overrides.parameters = given_parameters(arguments.parameters);
  for (const std::string& text : arguments.sweeps) {
    SweepArgument sweep = parse_sweep(text);
    overrides.sweep.insert_or_assign(sweep.key, std::move(sweep.values));
  }
  return overrides;
}

// Volumes of one name could not be told apart in comparisons and pages.
void check_labels(const ResultOptions& output) {
  std::vector<std::string> labels = output.against_label;
  if (!output.label.empty()) labels.push_back(output.label);
  std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels);
  if (twice == labels.end()) return;
  throw Error(ErrorKind::usage,
              fmt::format("two volumes have the label '{}': give each its own", *twice));
}

void check_resume(const RunArguments& arguments) {
  const ResultOptions& output = arguments.output;
  const auto refuse = [](bool wrong, std::string_view text) {
    if (wrong) throw Error(ErrorKind::usage, std::string(text));
  };
  refuse(arguments.resume == "-", "--resume needs a file");
  refuse(!output.json.empty(), "--resume names the file of the result: omit --json");
  refuse(!arguments.against.empty() && output.against_json.empty(),
         "--resume with --against needs --against-json: the files of the other volumes");
  refuse(has_sessions(arguments.series),
         "--resume continues one run; --sessions continues with the same command");
  refuse(arguments.block_baseline, "--resume does not apply to --with-block-baseline");
}

void check_together(const RunArguments& arguments) {
  const ResultOptions& output = arguments.output;
  if (!arguments.resume.empty()) check_resume(arguments);
  const std::size_t sides = arguments.against.size();
  for (const auto& [option, given] : {std::pair{"--against-json", output.against_json.size()},
                                      std::pair{"--against-label", output.against_label.size()}}) {
    if (given == 0 || given == sides) continue;
    throw Error(ErrorKind::usage,
                sides == 0 ? fmt::format("{} needs --against", option)
                           : fmt::format("--against names {}, but {} is given {}: give it once "
                                         "for each, or not at all",
                                         counted(sides, "volume"), option, counted(given, "time")));
  }
  check_labels(output);
  if (!arguments.control.empty() && !arguments.parts.empty()) {
    throw Error(ErrorKind::usage,
                "--control supports one volume: omit --parts, and name a part with --near");
  }
  check_series(arguments.series, output, !arguments.against.empty());
  if (arguments.block_baseline && !arguments.parts.empty()) {
    throw Error(
        ErrorKind::usage,
        "--with-block-baseline supports one volume: omit --parts, and name a part with --near");
  }
}

// A run without --near creates its own volumes. A replay keeps its files, so it needs a volume.
void require_volume(const RunArguments& arguments) {
  const PlanOverrides overrides = overrides_of(arguments);
  const bool null = std::ranges::any_of(overrides.parameters, [](const auto& one) {
    return one.first->key == "engine" && one.second.front() == engine_name(EngineKind::null);
  });
  if (!arguments.near.empty() || null) return;
  throw Error(ErrorKind::usage, "missing VOLUME: name a directory, image:FILE or a block device");
}

std::vector<Target> all_of(const NamedTargets& targets) {
  std::vector<Target> list;
  if (targets.near) list.push_back(*targets.near);
  if (targets.control) list.push_back(*targets.control);
  for (const auto* more : {&targets.against, &targets.far, &targets.against_far}) {
    list.insert(list.end(), more->begin(), more->end());
  }
  return list;
}

// What the command works on, not yet looked at.
std::vector<std::string> named_paths(const RunArguments& arguments) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& target) {
    if (!target.empty()) paths.push_back(path_in_target(target));
  };
  add(arguments.near);
  add(arguments.control);
  for (const auto* more : {&arguments.far, &arguments.against, &arguments.against_far}) {
    std::ranges::for_each(*more, add);
  }
  for (const OutputFile& output : outputs_of(arguments.output)) {
    if (!output.file.empty() && output.file != "-") paths.push_back(output.file);
  }
  return paths;
}

// Without names, runs the demonstration; without volumes and job options, too, at a small scale.
// Returns whether it set that scale.
bool demonstrate(RunArguments& arguments, PlanOverrides& overrides) {
  if (!arguments.names.empty()) return false;
  arguments.names = {kDemonstration};
  if (!arguments.near.empty() || !arguments.far.empty() || !arguments.against.empty() ||
      !arguments.control.empty() || !arguments.format.file_systems.empty() ||
      !overrides.parameters.empty()) {
    return false;
  }
  overrides.parameters.emplace_back(find_job_parameter("scale"),
                                    std::vector<std::string>{kDemonstrationScale});
  return true;
}

// Whether the clients are the processes of mpirun; removes this value from the parameters of jobs.
bool take_mpi(RunArguments& arguments) {
  const JobParameter* const clients = find_job_parameter("clients");
  auto& values = arguments.parameters[static_cast<std::size_t>(clients - job_parameters().data())];
  const bool mpi = values == std::vector<std::string>{"mpi"};
  if (mpi) {
    values.clear();
    if (arguments.block_baseline) {
      throw Error(ErrorKind::usage, "--clients mpi does not support --with-block-baseline");
    }
    if (has_sessions(arguments.series)) {
      throw Error(ErrorKind::usage,
                  "--clients mpi does not support --sessions: use mpirun for each session");
    }
  } else {
    refuse_clients_options(arguments.clients, arguments.parameters);
  }
  return mpi;
}

// Receives the events of a run at all clients but the first.
class SilentObserver final : public RunObserver {
 public:
  void notice(const std::string&) override {}
  void step_begins(const StepInfo&, const ReplayProgress&) override {}
  void step_ended() override {}
  void result_grew(const Result&) override {}
};

RunRequest request_of(const RunArguments& arguments, const Plan& plan) {
  RunRequest request{.plan = plan,
                     .targets = {.far = parse_targets(arguments.far),
                                 .against = parse_targets(arguments.against),
                                 .against_far = parse_targets(arguments.against_far)},
                     .file_systems = parse_file_systems(arguments.format.file_systems),
                     .auto_runs = plan.auto_runs,
                     .destroy = parse_devices(arguments.format.destroy),
                     .keep = arguments.keep,
                     .block_baseline = arguments.block_baseline,
                     .for_comparison = true};
  if (!arguments.near.empty()) request.targets.near = parse_target(arguments.near);
  if (!arguments.control.empty()) request.targets.control = parse_target(arguments.control);
  apply_runs(arguments.runs, request.runs, request.auto_runs);
  return request;
}

// A client other than the first: its part of the run, without any output.
void follow(const RunRequest& request) {
  SilentObserver observer;
  Result result;
  std::vector<Result> against(request.targets.against.size());
  run_plan(request, observer, result, against);
}

// What the arguments ask for. The request refers to the plan.
struct Prepared {
  Plan plan;
  std::vector<std::string> remarks;
  std::vector<Target> volumes;
};

// Measures, writes and prints; throws if a replay diverged.
std::vector<Result> observe(const RunArguments& arguments, const RunRequest& request,
                            const Prepared& prepared, const ResultOptions& output,
                            SignalWatch& signals, Session& session) {
  std::vector<Result> begun;
  if (!arguments.resume.empty()) begun = load_begun(request, output);
  RunRequest run_request = request;
  run_request.began_ns = begun.empty() ? now_ns() : began_ns(begun.front());
  for (const Result& one : begun) run_request.begun.push_back(&one);
  if (request.targets.control && !begun.empty()) {
    run_request.begun.push_back(&begun.front().control.front());
  }
  std::vector<Result> results =
      observe_run(session, signals, output, prepared.volumes, request.targets.against.size(),
                  [&](RunObserver& observer, std::span<Result> measured) {
                    for (const std::string& remark : prepared.remarks) observer.notice(remark);
                    return run_plan(run_request, observer, measured.front(), measured.subspan(1));
                  });
  const bool interrupted = session.exit_code == Session::kInterrupted;
  if (!interrupted && !arguments.allow_divergence) require_verified(results);
  return results;
}

// Measures all sessions.
void observe_sessions(const RunArguments& arguments, const RunRequest& request,
                      const Prepared& prepared, SignalWatch& signals, Session& session) {
  const SessionSeries series{arguments.series, arguments.output, request, prepared.volumes,
                             arguments.allow_divergence};
  run_series(series, session, signals, [&](const ResultOptions& output) {
    return observe(arguments, request, prepared, output, signals, session);
  });
}

// Loads the plan again if it needs a larger scale.
void scale_to_server(const RunArguments& arguments, const Clients& clients,
                     PlanOverrides& overrides, Prepared& prepared) {
  const auto scale = scale_for_server(arguments.clients, prepared.plan, clients.count());
  if (!scale) return;
  // Three digits, without an exponent.
  const std::string text = fmt::format("{}", std::stod(fmt::format("{:.3g}", *scale)));
  overrides.parameters.emplace_back(find_job_parameter("scale"), std::vector{text});
  prepared = {};
  prepared.plan = load_plan(arguments.names, overrides, prepared.remarks);
  prepared.remarks.push_back(fmt::format(
      "scale {}: the files of all clients are at least twice the memory of the server", text));
}

// `clients`: null for a single one.
RunRequest prepare(RunArguments& arguments, const Clients* clients, Prepared& prepared) {
  PlanOverrides overrides = overrides_of(arguments);
  overrides.processes = clients != nullptr;
  overrides.reel_per_client = arguments.clients.reel_per_client;
  const bool demonstration = demonstrate(arguments, overrides);
  prepared.plan = load_plan(arguments.names, overrides, prepared.remarks);
  if (clients) scale_to_server(arguments, *clients, overrides, prepared);
  measure_on_parts(prepared.plan, parse_drive_parts(arguments.parts));
  RunRequest request = request_of(arguments, prepared.plan);
  if (demonstration) {
    prepared.remarks.push_back(
        fmt::format("scale {}: use --scale 1 for full-size sets", kDemonstrationScale));
  }
  prepared.volumes = all_of(request.targets);
  return request;
}

// Takes part in the run of all clients. The first one prints, also the errors of others.
void run_with(Clients& clients, RunArguments& arguments, SignalWatch& signals, Session& session) {
  if (clients.first()) clear_leftovers(session);
  Prepared prepared;
  std::optional<RunRequest> request;
  std::optional<Error> failure;
  try {
    request.emplace(prepare(arguments, &clients, prepared));
    check_for_clients(prepared.volumes);
  } catch (const Error& error) {
    failure = error;
  }
  clients.agree(failure);
  request->clients = &clients;
  request->stop = clients.stop_token();
  request->continued = [&signals] { return signals.continued(); };
  if (!clients.first()) return follow(*request);
  observe_sessions(arguments, *request, prepared, signals, session);
}

// As one of the processes of mpirun.
void run_as_client(RunArguments& arguments, Session& session) {
  ClientsOptions options = read_clients_options(arguments.clients);
  auto janitor = std::make_unique<Janitor>();
  SignalWatch signals(named_paths(arguments));
  options.stop = signals.token();
  std::unique_ptr<Clients> clients;
  try {
    clients = Clients::join(options);
    if (!clients->first()) janitor.reset();  // the files of all are the first one's
    run_with(*clients, arguments, signals, session);
  } catch (const Clients::Stopped&) {
    session.exit_code = Session::kInterrupted;
  } catch (const std::exception& error) {
    if (!clients) throw;
    clients->fail(failure_text(error));
    if (!clients->first()) return;
    if (!clients->any_lost()) throw;
    complain(failure_text(error));  // now: the end of the clients ends this process, too
  }
}

// Several processes that know nothing of each other disturb one another's figures, and refuse a
// volume that another one uses.
void warn_of_lone_processes(const Session& session) {
  const MpiProcess process = mpi_process();
  if (process.count < 2 || process.rank > 0) return;
  session.warn(
      fmt::format("mpirun started {}, which know nothing of each other; use --clients mpi "
                  "for one run of {}",
                  counted(process.count, "run"), counted(process.count, "client")));
}

void run(RunArguments& arguments, Session& session) {
  check_together(arguments);
  if (!arguments.resume.empty()) arguments.output.json = arguments.resume;
  require_calls(CallUse::volumes, "measuring volumes");
  if (take_mpi(arguments)) {
    if (arguments.resume.empty()) return run_as_client(arguments, session);
    throw Error(ErrorKind::usage, "--resume does not apply to --clients mpi");
  }
  warn_of_lone_processes(session);
  const std::vector<std::string> paths = named_paths(arguments);
  const ShareWatch watch(paths);
  if (!arguments.near.empty()) check_device_place(arguments.series.history, arguments.near);
  clear_leftovers(session);
  Prepared prepared;
  RunRequest request = prepare(arguments, nullptr, prepared);
  if (mounts_something(prepared.volumes)) {
    request.power = enter_mount_namespace();  // before there are threads
  }
  SignalWatch signals(paths);
  request.stop = signals.token();
  request.continued = [&signals] { return signals.continued(); };
  observe_sessions(arguments, request, prepared, signals, session);
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("run", "Measure plans, workloads, file sets and reels on fresh volumes");
  const auto arguments = std::make_shared<RunArguments>();
  command->add_option(
      "NAMES", arguments->names,
      "Plans, workloads, file sets (for FC-Test) and reels: catalogue names or files [fc-test]");
  command->add_option("--near", arguments->near,
                      "Volume under test: a directory, image:FILE[,size=4G], a block device or a "
                      "part, DEVICE,start=0,size=32G");
  add_options(*command, *arguments);
  command->add_flag("--reel-per-client", arguments->clients.reel_per_client,
                    "With --clients mpi: distribute the reels over the clients");
  command->add_flag("--full", arguments->full,
                    "Run plans that are scaled down by default at full size and duration");
  command->add_flag("--keep", arguments->keep,
                    "Keep files and temporary images (image:FILE stays)");
  command->footer(
      "Examples:\n  filereel run\n"
      "  filereel run --near image:a.img --far image:b.img --fs ext4 --set programs\n"
      "  filereel run --near /dev/sdb1 --far /dev/sdb2 --destroy /dev/sdb1 "
      "--destroy /dev/sdb2 --json drive.json\n"
      "  filereel run --near /dev/sdb,start=0,size=32G --far /dev/sdb,start=32G,size=32G "
      "--destroy /dev/sdb\n"
      "  filereel run mp3 --near /dev/sdb,size=32G --parts begin,middle,end --destroy /dev/sdb\n"
      "  filereel run --near /dev/sdb --against /dev/sdc --destroy /dev/sdb --destroy /dev/sdc "
      "--fs ext4 --runs auto --budget 2h\n"
      "  filereel run backup.reel --near /mnt/a --against /mnt/b --against /mnt/c --runs 8\n"
      "  filereel run review-desktop --full --near /dev/sdb --destroy /dev/sdb\n"
      "  filereel run random-read --time 2s --sweep depth=1,32 --json curve.json\n"
      "  filereel run app-git-clone random-read programs --fs ext4,ntfs --html all.html");
  command->callback([arguments, &session] { run(*arguments, session); });
}

void add_replay_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("replay", "Replay a reel on a volume and time it");
  const auto arguments = std::make_shared<RunArguments>();
  arguments->keep = true;
  arguments->names.resize(1);
  command->add_option("REEL", arguments->names.front(), "Reel: a .reel file or a catalogue name")
      ->required();
  command->add_option(
      "VOLUME", arguments->near,
      "Directory, image:FILE[,size=4G] or block device; not needed for --engine null");
  add_options(*command, *arguments);
  command->add_flag("--keep,!--remove", arguments->keep,
                    "Keep the files of the last repetition (the default), or remove them");
  command->footer(
      "Examples:\n  filereel replay app.reel /mnt/new-disk/test --verify tree\n"
      "  filereel replay app.reel image:test.img --fs ext4,xfs --pace natural --json app.json\n"
      "  filereel replay app.reel --engine null");
  command->callback([arguments, &session] {
    refuse_special_file(arguments->names.front());
    require_volume(*arguments);
    run(*arguments, session);
  });
}

}  // namespace filereel

// filereel run: measures a plan or a workload and prints the table.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/run/runnable.h"
#include "replay/run/runner.h"
#include "tools/clean.h"
#include "tools/commands.h"
#include "tools/observed_run.h"
#include "tools/runs_options.h"
#include "tools/signals.h"
#include "tools/table.h"
#include "tools/workload_command.h"

namespace filereel {
namespace {

// Where nothing is said of volumes, sets or steps the five sets shrink to this, which takes about a
// minute on a slow machine.
constexpr double kDemonstrationScale = 0.02;

struct RunArguments {
  std::string plan = "fc-test";
  std::string near, far, against, against_far, block_size, copy_method, time;
  std::vector<std::string> file_systems, sets, operations, destroy, sweeps;
  RunsArguments runs;
  std::optional<std::uint32_t> threads;
  std::optional<double> scale;
  bool keep = false, warm = false, block_baseline = false;
  ResultOptions output;
};

// Options of plans are none of workloads, and the other way round.
void refuse(bool given, std::string_view option, std::string_view owner,
            const RunArguments& arguments, std::string_view what) {
  if (!given) return;
  throw Error(ErrorKind::usage, fmt::format("{} is for {}, and {} is a {}: leave it out", option,
                                            owner, arguments.plan, what));
}

void run_workload(Workload workload, const RunArguments& arguments, Session& session) {
  const auto not_here = [&](bool given, std::string_view option) {
    refuse(given, option, "plans such as fc-test", arguments, "workload");
  };
  not_here(!arguments.far.empty(), "--far");
  not_here(!arguments.against_far.empty(), "--against-far");
  not_here(!arguments.sets.empty(), "--set");
  not_here(!arguments.operations.empty(), "--operations");
  not_here(!arguments.block_size.empty(), "--block-size");
  not_here(!arguments.copy_method.empty(), "--copy-method");
  not_here(arguments.threads.has_value(), "--threads");
  run_workload_command(std::move(workload),
                       {.near = arguments.near,
                        .against = arguments.against,
                        .output = arguments.output,
                        .time = arguments.time,
                        .file_systems = arguments.file_systems,
                        .sweeps = arguments.sweeps,
                        .destroy = arguments.destroy,
                        .runs = arguments.runs,
                        .scale = arguments.scale,
                        .keep = arguments.keep,
                        .warm = arguments.warm,
                        .block_baseline = arguments.block_baseline},
                       session);
}

RunRequest make_request(Plan loaded, const RunArguments& arguments) {
  refuse(!arguments.time.empty(), "--time", "workloads", arguments, "plan");
  refuse(!arguments.sweeps.empty(), "--sweep", "workloads", arguments, "plan");
  RunRequest request;
  request.plan = std::move(loaded);
  Plan& plan = request.plan;
  if (!arguments.near.empty()) request.near = parse_target(arguments.near);
  if (!arguments.far.empty()) request.far = parse_target(arguments.far);
  if (!arguments.against.empty()) request.against = parse_target(arguments.against);
  if (!arguments.against_far.empty()) request.against_far = parse_target(arguments.against_far);
  if (!arguments.file_systems.empty()) {
    plan.file_systems.clear();
    for (const std::string& name : arguments.file_systems) {
      plan.file_systems.push_back(parse_file_system(name));
    }
    request.file_systems_required = true;
  }
  if (!arguments.sets.empty()) plan.sets = arguments.sets;
  if (!arguments.operations.empty()) {
    plan.operations.clear();
    for (const std::string& name : arguments.operations) {
      plan.operations.push_back(parse_fc_step(name));
    }
    plan.operations = ordered_operations(std::move(plan.operations));
  }
  apply_runs(arguments.runs, plan.runs, plan.auto_runs);
  if (arguments.threads) plan.fc_test.threads = *arguments.threads;
  const bool demonstration = !request.near && !request.far && !request.against &&
                             arguments.plan == "fc-test" && arguments.sets.empty() &&
                             arguments.file_systems.empty() && arguments.operations.empty();
  if (arguments.scale) {
    plan.scale = *arguments.scale;
  } else if (demonstration) {
    plan.scale = kDemonstrationScale;
  }
  if (!arguments.block_size.empty()) {
    plan.fc_test.block_size = parse_size(arguments.block_size, "--block-size", ErrorKind::usage);
    check_block_size(plan.fc_test.block_size);
  }
  if (!arguments.copy_method.empty()) {
    plan.fc_test.copy_method = parse_copy_method(arguments.copy_method);
  }
  plan.warm = plan.warm || arguments.warm;
  request.destroy = arguments.destroy;
  request.keep = arguments.keep;
  request.block_baseline = arguments.block_baseline;
  return request;
}

void run_plan(Plan plan, const RunArguments& arguments, Session& session) {
  RunRequest request = make_request(std::move(plan), arguments);
  if (request.plan.scale == kDemonstrationScale && !arguments.scale) {
    session.notice(fmt::format("scale {}: --scale 1 runs the sets in full", kDemonstrationScale));
  }
  request.power = enter_mount_namespace();  // before there are threads
  SignalWatch signals;
  request.stop = signals.token();
  observe_run(
      session, signals, arguments.output, request.against.has_value(),
      [&](RunObserver& observer, Result& result, Result* against) {
        return run_plan(request, observer, result, against);
      },
      format_result);
}

void run(const RunArguments& arguments, Session& session) {
  if (!arguments.output.against_json.empty() && arguments.against.empty()) {
    throw Error(ErrorKind::usage, "--against-json is for the result of --against");
  }
  check_outputs(arguments.output,
                {arguments.near, arguments.far, arguments.against, arguments.against_far});
  clear_leftovers(session);
  Runnable runnable = load_runnable(arguments.plan);
  if (Workload* workload = std::get_if<Workload>(&runnable)) {
    run_workload(std::move(*workload), arguments, session);
  } else {
    run_plan(std::move(std::get<Plan>(runnable)), arguments, session);
  }
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "run", "Measure a plan or a workload on fresh volumes and print the table");
  const auto arguments = std::make_shared<RunArguments>();
  command
      ->add_option("PLAN", arguments->plan, "A plan or workload of the catalogue, or a YAML file")
      ->capture_default_str();
  command->add_option("--near", arguments->near,
                      "Volume to work on: a directory, image:FILE[,size=4G] or a block device");
  command->add_option("--far", arguments->far, "Volume to copy to");
  command->add_option("--against", arguments->against,
                      "A second volume that takes turns with --near, and is compared with it");
  command->add_option("--against-far", arguments->against_far,
                      "Volume that the second one copies to (that of --far)");
  command->add_option("--fs", arguments->file_systems, "File systems to format, such as ext4,ntfs")
      ->delimiter(',');
  command->add_option("--set", arguments->sets, "File sets: catalogue names or files")
      ->delimiter(',');
  command
      ->add_option("--operations", arguments->operations,
                   "Any of create,read,copy-near,copy-far,delete")
      ->delimiter(',');
  add_runs_options(*command, arguments->runs, "Repetitions, each on a fresh volume");
  command->add_option("--scale", arguments->scale,
                      "Shrink (or grow) the sets, keeping their shape");
  command->add_option("--block-size", arguments->block_size, "Bytes per read and write (128 KiB)");
  command->add_option("--copy-method", arguments->copy_method,
                      "readwrite, copy_file_range, reflink or sendfile");
  command->add_option("--threads", arguments->threads, "Threads that share the files (1)")
      ->check(CLI::Range(1U, 1024U));
  command->add_option("--time", arguments->time,
                      "How long each phase of a workload lasts that a time ends, such as 10s");
  command
      ->add_option("--sweep", arguments->sweeps,
                   "Other values for a key of a workload: depth=1,4,16")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--warm", arguments->warm, "Leave the caches as they are, on purpose");
  command->add_flag("--keep", arguments->keep, "Leave the files and images as they are at the end");
  command->add_option("--destroy", arguments->destroy,
                      "Block device that may be formatted; all on it is lost");
  command->add_flag("--with-block-baseline", arguments->block_baseline,
                    "Measure what fio reaches on the volume first, below the file system");
  add_result_options(*command, arguments->output);
  command->add_option("--against-json", arguments->output.against_json,
                      "Write the result of --against here");
  command->footer(
      "Examples:\n  filereel run\n"
      "  filereel run --near image:a.img --far image:b.img --fs ext4 --set programs\n"
      "  filereel run --near /dev/sdb1 --far /dev/sdb2 --destroy /dev/sdb1 "
      "--destroy /dev/sdb2 --json drive.json\n"
      "  filereel run --near /dev/sdb --against /dev/sdc --destroy /dev/sdb --destroy /dev/sdc "
      "--fs ext4 --runs auto --budget 2h\n"
      "  filereel run random-read --time 2s --sweep depth=1,32 --json curve.json");
  command->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace filereel

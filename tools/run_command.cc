// filereel run: measures a plan and prints the table.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "filesets/atomic_file.h"
#include "filesets/error.h"
#include "filesets/units.h"
#include "replay/runner/runner.h"
#include "tools/commands.h"
#include "tools/observed_run.h"
#include "tools/signals.h"
#include "tools/table.h"

namespace filereel {
namespace {

// Where nothing is said of volumes, sets or steps the five sets shrink to this, which takes about a
// minute on a slow machine.
constexpr double kDemonstrationScale = 0.02;

struct RunArguments {
  std::string plan = "fc-test";
  std::string near, far, json, block_size, copy_method;
  std::vector<std::string> file_systems, sets, operations, destroy;
  std::optional<std::uint32_t> runs, threads;
  std::optional<double> scale;
  bool keep = false, warm = false;
};

RunRequest make_request(const RunArguments& arguments) {
  RunRequest request;
  request.plan = load_plan(arguments.plan);
  Plan& plan = request.plan;
  if (!arguments.near.empty()) request.near = parse_target(arguments.near);
  if (!arguments.far.empty()) request.far = parse_target(arguments.far);
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
  if (arguments.runs) plan.runs = *arguments.runs;
  if (arguments.threads) plan.fc_test.threads = *arguments.threads;
  const bool demonstration = !request.near && !request.far && arguments.plan == "fc-test" &&
                             arguments.sets.empty() && arguments.file_systems.empty() &&
                             arguments.operations.empty();
  if (arguments.scale) {
    plan.scale = *arguments.scale;
  } else if (demonstration) {
    plan.scale = kDemonstrationScale;
  }
  if (!arguments.block_size.empty()) {
    try {
      plan.fc_test.block_size = parse_size(arguments.block_size, "--block-size");
    } catch (const Error& error) {
      throw Error(ErrorKind::usage, error.what());
    }
    check_block_size(plan.fc_test.block_size);
  }
  if (!arguments.copy_method.empty()) {
    plan.fc_test.copy_method = parse_copy_method(arguments.copy_method);
  }
  plan.warm = plan.warm || arguments.warm;
  request.destroy = arguments.destroy;
  request.keep = arguments.keep;
  return request;
}

void run(const RunArguments& arguments, Session& session) {
  RunRequest request = make_request(arguments);
  if (request.plan.scale == kDemonstrationScale && !arguments.scale) {
    session.notice(fmt::format("scale {}: --scale 1 runs the sets in full", kDemonstrationScale));
  }
  if (!arguments.json.empty() && arguments.json != "-") AtomicFile probe(arguments.json);
  request.power = enter_mount_namespace();  // before there are threads
  const SignalWatch signals;
  request.stop = signals.token();
  observe_run(
      session, arguments.json,
      [&](RunObserver& observer, Result& result) { return run_plan(request, observer, result); },
      format_result);
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("run", "Measure a plan on fresh volumes and print the table");
  const auto arguments = std::make_shared<RunArguments>();
  command->add_option("PLAN", arguments->plan, "A plan of the catalogue or a YAML file")
      ->capture_default_str();
  command->add_option("--near", arguments->near,
                      "Volume to work on: a directory, image:FILE[,size=4G] or a block device");
  command->add_option("--far", arguments->far, "Volume to copy to");
  command->add_option("--fs", arguments->file_systems, "File systems to format, such as ext4,ntfs")
      ->delimiter(',');
  command->add_option("--set", arguments->sets, "File sets: catalogue names or files")
      ->delimiter(',');
  command
      ->add_option("--operations", arguments->operations,
                   "Any of create,read,copy-near,copy-far,delete")
      ->delimiter(',');
  command->add_option("--runs", arguments->runs, "Repetitions, each on a fresh volume")
      ->check(CLI::Range(1U, Plan::kMostRuns));
  command->add_option("--scale", arguments->scale,
                      "Shrink (or grow) the sets, keeping their shape");
  command->add_option("--block-size", arguments->block_size, "Bytes per read and write (128 KiB)");
  command->add_option("--copy-method", arguments->copy_method,
                      "readwrite, copy_file_range, reflink or sendfile");
  command->add_option("--threads", arguments->threads, "Threads that share the files (1)")
      ->check(CLI::Range(1U, 1024U));
  command->add_flag("--warm", arguments->warm, "Leave the caches as they are, on purpose");
  command->add_flag("--keep", arguments->keep, "Leave the files and images as they are at the end");
  command->add_option("--destroy", arguments->destroy,
                      "Block device that may be formatted; all on it is lost");
  command->add_option("--json", arguments->json, "Write the result here; - for standard output");
  command->footer(
      "Examples:\n  filereel run\n"
      "  filereel run --near image:a.img --far image:b.img --fs ext4 --set programs\n"
      "  filereel run --near /dev/sdb1 --far /dev/sdb2 --destroy /dev/sdb1 "
      "--destroy /dev/sdb2 --json drive.json");
  command->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace filereel

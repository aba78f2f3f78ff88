// filereel replay: does a reel again on a volume and says what it took and what differed.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/filesystem/operations.hpp>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/results/failures.h"
#include "replay/run/reel_run.h"
#include "replay/run/workload_reel.h"
#include "tools/clean.h"
#include "tools/commands.h"
#include "tools/observed_run.h"
#include "tools/reel_output.h"
#include "tools/replay_table.h"
#include "tools/runs_options.h"
#include "tools/signals.h"
#include "traces/reel/reel_reader.h"

namespace filereel {
namespace {

struct ReplayArguments {
  std::string reel, target, file_system;
  std::string pace = "asap", order = "resource", verify = "results", engine = "auto";
  std::vector<std::string> destroy;
  RunsArguments runs;
  std::uint32_t depth = 0, clients = 1;
  bool warm = false, keep = true, owners = false, stop_on_divergence = false;
  bool block_baseline = false;
  ResultOptions output;
};

ReelRunRequest make_request(const ReplayArguments& arguments) {
  ReelRunRequest request;
  if (!arguments.target.empty()) request.target = parse_target(arguments.target);
  if (!arguments.file_system.empty()) {
    request.file_system = parse_file_system(arguments.file_system);
  }
  if (arguments.engine != "auto") request.engine = parse_engine(arguments.engine);
  request.order = parse_order(arguments.order);
  request.pace = parse_pace(arguments.pace);
  request.verify = parse_reel_verify(arguments.verify);
  request.depth = arguments.depth;
  apply_runs(arguments.runs, request.runs, request.auto_runs);
  request.clients = arguments.clients;
  request.warm = arguments.warm;
  request.keep = arguments.keep;
  request.change_owners = arguments.owners;
  request.stop_on_divergence = arguments.stop_on_divergence;
  request.block_baseline = arguments.block_baseline;
  request.destroy = arguments.destroy;
  return request;
}

void replay_reel(const ReplayArguments& arguments, Session& session) {
  ReelRunRequest request = make_request(arguments);
  // A file goes before the catalogue's reel of that name.
  boost::system::error_code ignored;
  const bool is_file = boost::filesystem::exists(arguments.reel, ignored);
  const std::unique_ptr<ReelReader> opened =
      is_file ? std::make_unique<ReelReader>(arguments.reel) : open_reel(arguments.reel);
  check_outputs(arguments.output, {arguments.target});
  clear_leftovers(session);
  if (request.target && request.target->kind != TargetKind::directory) {
    request.power = enter_mount_namespace();  // before there are threads
  }
  SignalWatch signals;
  request.stop = signals.token();
  const NamedTrace input{base_name(arguments.reel), *opened};
  const Result result = observe_run(
      session, signals, arguments.output, false,
      [&](RunObserver& observer, Result& grows, Result*) {
        return run_reel(request, input, observer, grows);
      },
      format_replay);
  if (session.exit_code == Session::kInterrupted) return;
  if (const std::string differs = failures_of(result); !differs.empty()) {
    throw Error(
        ErrorKind::failed,
        fmt::format("the replay is not what the trace was: {}; docs/reel-tools.md says what "
                    "the classes mean",
                    differs));
  }
}

}  // namespace

void add_replay_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("replay", "Do a reel again on a volume, with a stopwatch");
  const auto arguments = std::make_shared<ReplayArguments>();
  command->add_option("REEL", arguments->reel, "The .reel file, or one of the catalogue")
      ->required();
  command->add_option(
      "VOLUME", arguments->target,
      "A directory, image:FILE[,size=4G] or a block device; --engine null needs none");
  command->add_option("--pace", arguments->pace, "asap, natural, think, or a factor such as 2x")
      ->capture_default_str();
  command->add_option("--order", arguments->order, "Orders that are kept: strict, resource, thread")
      ->capture_default_str();
  command->add_option("--verify", arguments->verify, "results, content or tree")
      ->capture_default_str();
  command->add_option("--engine", arguments->engine, "auto, blocking, io_uring or null")
      ->capture_default_str();
  command
      ->add_option("--depth", arguments->depth,
                   "Requests in flight per thread with io_uring (as recorded)")
      ->check(CLI::Range(1U, 4096U));
  command
      ->add_option("--clients", arguments->clients,
                   "So many copies at the same time, each in a directory of its own")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  add_runs_options(*command, arguments->runs, "Repetitions, each on a fresh tree (1)");
  command->add_option("--fs", arguments->file_system,
                      "File system to make on an image or a device (ext4)");
  command->add_option("--destroy", arguments->destroy,
                      "Block device that may be formatted; all on it is lost");
  command->add_flag("--warm", arguments->warm, "Leave the caches as they are, on purpose");
  command->add_flag("--keep,!--remove", arguments->keep,
                    "Leave the files of the last repetition (the default), or remove them");
  command->add_flag("--owners", arguments->owners, "Change owners as recorded; needs root");
  command->add_flag("--stop-on-divergence", arguments->stop_on_divergence,
                    "End at the first true mismatch");
  command->add_flag("--with-block-baseline", arguments->block_baseline,
                    "Measure what fio reaches on the volume first, below the file system");
  add_result_options(*command, arguments->output);
  command->footer(
      "Examples:\n  filereel replay app.reel /mnt/new-disk/test --verify tree\n"
      "  filereel replay app.reel image:test.img --fs xfs --pace natural --json app.json\n"
      "  filereel replay app.reel --engine null");
  command->callback([arguments, &session] { replay_reel(*arguments, session); });
}

}  // namespace filereel

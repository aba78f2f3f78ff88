#include "replay/run/reel_run.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/engine/replayer.h"
#include "replay/run/baseline_run.h"
#include "replay/run/fio.h"
#include "replay/run/overhead.h"
#include "replay/run/preparation.h"
#include "replay/run/prepared_volume.h"
#include "replay/run/reel_fit.h"
#include "replay/run/reel_sample.h"
#include "replay/run/reel_shape.h"
#include "replay/run/repetitions.h"
#include "replay/run/sampling.h"
#include "replay/run/step_watch.h"
#include "replay/run/tree_check.h"
#include "traces/edit/copies.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kVerifies = {"results", "content", "tree"};
constexpr std::string_view kRoomAdviceOfReels = "use a larger volume";

// A volume that a trace is replayed on, with the result it fills.
class ReelSide {
 public:
  ReelSide(const ReelRunRequest& request, const std::optional<Target>& target,
           const NamedTrace& input, RunObserver& observer, Result& result)
      : request_(request), target_(target), input_(input), observer_(observer), result_(result) {
    if (request_.clients > 1) {
      copies_ = std::make_unique<TraceCopies>(input.trace, request_.clients);
    }
  }

  // Before anything else. False when the stop was requested.
  bool begin() {
    choose_engine();
    warn_of_trace();
    measure_overhead();
    if (request_.stop.stop_requested()) return false;
    if (!null()) open();
    return true;
  }

  // Once all sides have begun, before the first repetition. False when the stop was requested.
  bool measure_block_level() {
    if (null() || !request_.block_baseline) return true;
    constexpr std::size_t kSizes = 3;
    rewind();
    const auto shapes = access_shapes(source(), request_.depth, kSizes);
    if (shapes.empty()) return true;
    auto measured = measure_baselines(*volume_, shapes, observer_, request_.stop, result_);
    if (!measured) return false;
    baselines_ = std::move(*measured);
    shape_ = shapes.front();
    return true;
  }

  // False when the stop was requested.
  bool repeat(const Repetitions& repetitions, const Stretch& stretch);

  void finish() {
    if (volume_) volume_->finish(request_.keep);
  }

  // At a divergence, as was asked for: there is no other repetition then.
  bool ended_early() const { return ended_early_; }

 private:
  RecordedTrace& source() const { return copies_ ? *copies_ : input_.trace; }
  const TraceTables& tables() const { return source().tables(); }
  const TraceInfo& info() const { return source().info(); }
  const TraceTrees& trees() const { return source().trees(); }
  void rewind() { source().rewind(); }
  bool null() const { return engine_ == EngineKind::null; }

  void choose_engine() {
    if (request_.depth > 0 && request_.engine.value_or(EngineKind::uring) != EngineKind::uring) {
      throw Error(ErrorKind::usage,
                  fmt::format("--depth is for requests in flight, and the engine {} has none: use "
                              "--engine io_uring",
                              engine_name(*request_.engine)));
    }
    const bool reaps = info().by_kind[static_cast<std::size_t>(OperationKind::reap)] > 0;
    const bool queues = reaps || request_.depth > 0;
    engine_ = request_.engine.value_or(queues ? EngineKind::uring : EngineKind::blocking);
    if (const auto why =
            request_.depth == 0 && !request_.engine && queues ? why_no_uring() : std::nullopt) {
      engine_ = EngineKind::blocking;
      result_.warn({"io-uring-unavailable", *why,
                    "what the trace had in flight together is done one after the other"});
    }
    if (!null() && !target_) {
      throw Error(ErrorKind::usage,
                  "name a volume to replay on: a directory, image:FILE or a block device");
    }
    if (engine_ != EngineKind::uring) return;
    if (const auto why = why_no_uring()) throw Error(ErrorKind::failed, *why);
  }

  void warn_of_trace() {
    const auto warn = [&](const char* code, std::string_view what, const std::string& reason,
                          std::uint64_t number, const char* next_step) {
      result_.warn({code, fmt::format("{}: {} ({})", what, printable(reason), number), next_step});
    };
    for (const auto& [reason, number] : info().lost) {
      if (reason.starts_with(kEventsLost)) {
        warn("trace-events-lost", "not in the trace", reason, number,
             "record again, less of it (--under) or while the machine is less busy");
      } else if (reason.starts_with(kEventsBeyondMemory)) {
        warn("trace-events-lost", "not in the trace", reason, number,
             "record again with more --memory");
      } else {
        warn("trace-lost", "not in the trace", reason, number,
             "the replay does less than the program did");
      }
    }
    for (const auto& [reason, number] : info().approximated) {
      warn("trace-approximated", "only nearly in the trace", reason, number,
           "docs/import.md says how calls become operations");
    }
    if (!info().complete) {
      result_.warn({"trace-torn",
                    fmt::format("{} is torn: its first {} operations are replayed", input_.name,
                                info().operations),
                    "record or import it again to have all"});
    }
    if (!info().timed && request_.pace.kind != Pace::Kind::asap) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} has no times to keep: use --pace asap", input_.name));
    }
  }

  // Where the whole trace lies ready before the clock starts. Short ones too, so that what is
  // damaged is known before anything is touched.
  void measure_overhead() {
    constexpr std::uint64_t kMost = 128 << 10;
    if (info().operations == 0 || info().operations > kMost) return;
    std::optional<Schedule> schedule;
    const auto make = [&] {
      rewind();
      schedule.emplace(source(), tables(), info(), ScheduleOptions{.order = Order::thread});
      return ReadyTrace{schedule->trace(), &schedule->board()};
    };
    result_.overhead_ns = measure_overhead_ns(make, request_.stop);
    if (schedule) schedule->check();
  }

  void open() {
    Target target = *target_;
    if (target.kind == TargetKind::directory) {
      if (request_.file_system) {
        throw Error(ErrorKind::usage,
                    "--fs chooses what to format, and a directory is used as it is: leave out "
                    "--fs, or name an image or a device");
      }
    } else {
      const FileSystemKind kind = request_.file_system.value_or(FileSystemKind::ext4);
      file_system_ = usable_file_systems({kind}, request_.power, true, result_).front();
      if (target.kind == TargetKind::image && target.size == 0) target.size = image_for(kind);
    }
    volume_ = open_volume(target, {.role = Role::near,
                                   .power = request_.power,
                                   .destroy = request_.destroy,
                                   .keep = request_.keep});
    if (request_.against) add_label(*volume_, result_);
  }

  // All that is ever written may lie there at once, for all that is known.
  std::uint64_t image_for(FileSystemKind kind) const {
    const FileSystemLimits& limits = file_system_info(kind).limits;
    const std::uint64_t per_file = std::max(limits.bytes_per_inode, limits.cluster);
    const auto size_for = [&](const FileSet& set) { return image_size({&set, 1}, {kind}, 1); };
    const std::uint64_t most =
        std::max(size_for(trees().initial), size_for(trees().final)) + info().files * per_file;
    return (most + info().bytes_written + info().bytes_written / 4 + kMiB - 1) / kMiB * kMiB;
  }

  // The volume as the trace wants it, with cold caches.
  bool prepare(std::uint32_t run, Sample& sample) {
    volume_->prepare(file_system_);
    if (run == 1) {
      fitted_ = fit_trace(tables(), trees(), volume_->limits());
      const VolumeDescription volume = volume_->describe();
      add_measurement(volume.file_system, volume.driver);
      add_volume(*volume_, result_);
      add_fitting(fitted_, volume.file_system, input_.name, result_);
    }
    if (!fill_volume(*volume_, fitted_.initial, fitted_.initial, kRoomAdviceOfReels,
                     request_.stop)) {
      return false;
    }
    set_caches(*volume_, fitted_.initial, request_.warm, sample);
    return true;
  }

  void add_measurement(const std::string& file_system, const std::string& driver) {
    Measurement& measurement = result_.measurements.emplace_back();
    measurement.workload = request_.workload;
    measurement.parameters = request_.parameters;
    measurement.set = input_.name;
    measurement.operation = "replay";
    measurement.file_system = file_system;
    measurement.driver = driver;
    measurement.reel = {.order = std::string(order_name(request_.order)),
                        .pace = pace_name(request_.pace),
                        .engine = std::string(engine_name(engine_)),
                        .verify = std::string(reel_verify_name(request_.verify)),
                        .depth = request_.depth,
                        .clients = request_.clients,
                        .warm = request_.warm};
    add_baselines(baselines_, file_system, result_);
    if (!baselines_.empty()) measurement.access = shape_;
  }

  // False when the stop was requested before the end.
  bool measure(Sample& sample, ReplayProgress& progress) {
    const TraceTables& names = fitted_.tables ? *fitted_.tables : tables();
    rewind();
    Schedule schedule(source(), names, info(), {.order = request_.order, .pace = request_.pace});
    DivergenceJudge judge(names.paths);
    const std::vector<Volume*> used =
        volume_ ? std::vector<Volume*>{volume_.get()} : std::vector<Volume*>{};
    const std::array<int, kRoles> roots = {volume_ ? volume_->root() : 0, -1};
    begin_sample(sample, used, request_.began_ns);
    const Outside before = look_outside(used);
    const ReplayOutcome outcome = replay(
        schedule.trace(), roots,
        {.engine = engine_,
         .queue_depth = request_.depth,
         .verify = request_.verify == ReelVerify::content ? Verify::content : Verify::results,
         .change_owners = request_.change_owners,
         .stop_on_divergence = request_.stop_on_divergence,
         .board = &schedule.board(),
         .judge = &judge,
         .stop = request_.stop,
         .progress = &progress});
    if (request_.stop.stop_requested() && !outcome.complete) return false;
    if (volume_) {
      wait_until_durable(sample, outcome, used);
      volume_->check_present();
    }
    schedule.check();
    fill_reel_sample(sample, outcome, names.paths);
    sample.reel->waits = schedule.waits();
    ended_early_ = sample.reel->ended_early = !outcome.complete;
    if (!volume_) {
      sample.durable_s = sample.elapsed_s;
      return true;
    }
    add_outside(sample, before, look_outside(used), used);
    if (request_.verify == ReelVerify::tree) {
      sample.reel->tree =
          compare_tree(volume_->root(), fitted_.final, volume_->limits(), request_.stop);
      interrupted_ = request_.stop.stop_requested();
      if (interrupted_) sample.reel->tree.reset();
    }
    return true;
  }

  const ReelRunRequest& request_;
  const std::optional<Target>& target_;
  const NamedTrace& input_;
  RunObserver& observer_;
  Result& result_;
  std::unique_ptr<TraceCopies> copies_;
  EngineKind engine_ = EngineKind::blocking;
  std::optional<FileSystemKind> file_system_;
  FittedTrace fitted_;
  std::unique_ptr<Volume> volume_;
  std::vector<BlockBaseline> baselines_;
  AccessShape shape_;
  bool interrupted_ = false;  // while the tree was compared
  bool ended_early_ = false;
};

bool ReelSide::repeat(const Repetitions& repetitions, const Stretch& stretch) {
  if (request_.stop.stop_requested()) return false;
  const std::uint32_t run = repetitions.run();
  ReplayProgress progress;
  const StepInfo step{.file_system = null() ? "" : target_->text(),
                      .set = input_.name,
                      .operation = "replay",
                      .run = run,
                      .runs = repetitions.runs(),
                      .bytes = 0,
                      .files = info().operations,
                      .done = stretch.begin,
                      .share = stretch.length};
  const StepWatch watch(observer_, step, progress);
  Sample sample;
  sample.run = run;
  if (!null() && !prepare(run, sample)) return false;
  if (null() && run == 1) add_measurement("none", "none");
  if (!measure(sample, progress)) return false;
  result_.add(result_.measurements.back(), std::move(sample));
  observer_.result_grew(result_);
  return !interrupted_;
}

}  // namespace

std::string_view reel_verify_name(ReelVerify verify) {
  return kVerifies[static_cast<std::size_t>(verify)];
}

ReelVerify parse_reel_verify(std::string_view name) {
  const auto found = std::ranges::find(kVerifies, name);
  if (found != kVerifies.end()) return static_cast<ReelVerify>(found - kVerifies.begin());
  throw Error(ErrorKind::usage,
              fmt::format("there is no verification '{}': use results, content or tree", name));
}

bool run_reel(const ReelRunRequest& request, const NamedTrace& input, RunObserver& observer,
              Result& result) {
  begin_result(result);
  result.plan.name = "replay";
  result.plan.workload = kReelWorkload;
  result.plan.sets = {input.name};
  result.plan.runs = request.auto_runs ? 1 : request.runs;
  result.plan.auto_runs = request.auto_runs;
  result.plan.warm = request.warm;
  if (request.file_system) result.plan.file_systems = {*request.file_system};
  if (request.block_baseline) check_fio();
  Result* const results[] = {&result};
  if (!measure_reel(request, input, observer, results)) return false;
  const auto whole = [](const Sample& sample) { return !sample.reel->ended_early; };
  result.complete = std::ranges::all_of(result.measurements.back().samples, whole);
  observer.result_grew(result);
  return true;
}

bool measure_reel(const ReelRunRequest& request, const NamedTrace& input, RunObserver& observer,
                  std::span<Result* const> results) {
  std::vector<std::unique_ptr<ReelSide>> sides;
  for (Result* result : results) {
    sides.push_back(std::make_unique<ReelSide>(
        request, sides.empty() ? request.target : request.against, input, observer, *result));
  }
  for (const auto& side : sides) {
    if (!side->begin()) return false;
  }
  for (const auto& side : sides) {
    if (!side->measure_block_level()) return false;
  }
  Repetitions repetitions(request.runs, request.auto_runs);
  const NewMeasurements added(results);
  bool ended = false;
  while (!ended && repetitions.next(added.list())) {
    for (const Turn& turn : turns_of(repetitions.run(), sides.size(), repetitions.stretch())) {
      ReelSide& side = *sides[turn.volume];
      if (!side.repeat(repetitions, turn.stretch)) return false;
      ended = ended || side.ended_early();
    }
  }
  for (const auto& side : sides) side->finish();
  return true;
}

}  // namespace filereel

#include "replay/runner/reel_run.h"

#include <algorithm>
#include <array>
#include <memory>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string.h>

#include "filesets/descriptor.h"
#include "filesets/error.h"
#include "filesets/printable.h"
#include "filesets/scan/populate.h"
#include "filesets/units.h"
#include "replay/engine/replayer.h"
#include "replay/measure/clock.h"
#include "replay/runner/preparation.h"
#include "replay/runner/reel_fit.h"
#include "replay/runner/sampling.h"
#include "replay/runner/step_watch.h"
#include "traces/edit/copies.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kVerifies = {"results", "content", "tree"};

// Throws unless the directory holds nothing but what belongs to the volume. (What was just made is
// empty; but some FUSE drivers list the volume's label as a file.)
void check_nothing_else(int root, const std::string& volume) {
  const int copy = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : fdopendir(copy), closedir);
  if (!stream) {
    throw Error(ErrorKind::failed,
                fmt::format("cannot read {}: {}; choose another volume", volume, strerror(errno)));
  }
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || NameFitter::is_reserved(name)) continue;
    throw Error(ErrorKind::failed,
                fmt::format("{} holds {}, which filereel did not make: move it away or name "
                            "another directory",
                            volume, printable(name)));
  }
}

std::vector<std::string> file_paths(const FileSet& set) {
  std::vector<std::string> paths;
  for (const Entry& entry : set.entries) {
    if (entry.kind == EntryKind::file) paths.push_back(entry.path);
  }
  return paths;
}

std::vector<SeriesPoint> points_of(const TimeSeries& series) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const TimeSeries::Interval& one = series[i];
    if (one.operations == 0) continue;
    points.push_back(
        {.t_s = static_cast<double>(i * series.width_ns()) * 1e-9,
         .operations = one.operations,
         .bytes = one.bytes,
         .mean_us = static_cast<double>(one.total_ns) * 1e-3 / static_cast<double>(one.operations),
         .max_us = static_cast<double>(one.max_ns) * 1e-3});
  }
  return points;
}

void fill_reel_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths) {
  fill_sample(sample, outcome, paths);
  const ReplayStatistics& statistics = outcome.statistics;
  for (std::size_t i = 0; i < statistics.examples.size(); ++i) {
    sample.examples[i].kind_of = divergence_class_name(statistics.examples[i].kind_of);
  }
  ReelSample& reel = sample.reel.emplace();
  reel.bytes_read = statistics.of(OperationKind::read).bytes;
  reel.bytes_written = statistics.of(OperationKind::write).bytes;
  reel.bytes_copied = statistics.of(OperationKind::copy_range).bytes;
  sample.bytes = reel.bytes_read + reel.bytes_written + reel.bytes_copied;
  for (std::size_t i = 0; i < kDivergenceClasses; ++i) {
    if (statistics.by_class[i] == 0) continue;
    const auto name = divergence_class_name(static_cast<DivergenceClass>(i));
    reel.divergences.emplace(std::string(name), statistics.by_class[i]);
  }
  reel.unverified = statistics.unverified;
  reel.refused = statistics.refused;
  if (statistics.lateness.count() > 0) reel.lateness = summarise(statistics.lateness);
  reel.series = points_of(statistics.series);
}

class ReelRun {
 public:
  ReelRun(const ReelRunRequest& request, const ReelInput& input, RunObserver& observer,
          Result& result)
      : request_(request), input_(input), observer_(observer), result_(result) {
    if (request_.clients > 1) {
      copies_ = std::make_unique<TraceCopies>(input.source, input.tables, input.info, input.trees,
                                              request_.clients);
    }
  }

  bool execute() {
    choose_engine();
    warn_of_trace();
    measure_overhead();
    if (!null()) open();
    for (std::uint32_t run = 1; run <= request_.runs && !ended_early_; ++run) {
      if (!repeat(run)) return false;
    }
    if (volume_) volume_->finish(request_.keep);
    result_.complete = !ended_early_;
    observer_.result_grew(result_);
    return true;
  }

 private:
  RecordedSource& source() { return copies_ ? *copies_ : input_.source; }
  const TraceTables& tables() const { return copies_ ? copies_->tables() : input_.tables; }
  const TraceInfo& info() const { return copies_ ? copies_->info() : input_.info; }
  const TraceTrees& trees() const { return copies_ ? copies_->trees() : input_.trees; }
  void rewind() {
    input_.rewind();
    if (copies_) copies_->rewind();
  }
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
    if (!null() && !request_.target) {
      throw Error(ErrorKind::usage,
                  "name a volume to replay on: a directory, image:FILE or a block device");
    }
    if (engine_ != EngineKind::uring) return;
    if (const auto why = why_no_uring()) throw Error(ErrorKind::failed, *why);
  }

  void warn_of_trace() {
    const auto count = [&](const std::map<std::string, std::uint64_t>& counts, const char* code,
                           std::string_view what, const char* next_step) {
      for (const auto& [reason, number] : counts) {
        result_.warn(
            {code, fmt::format("{}: {} ({})", what, printable(reason), number), next_step});
      }
    };
    count(info().lost, "trace-lost", "not in the trace",
          "the replay does less than the program did");
    count(info().approximated, "trace-approximated", "only nearly in the trace",
          "docs/import.md says how calls become operations");
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

  // filereel's own time per operation, where the whole trace lies ready before the clock starts.
  void measure_overhead() {
    const ScheduleOptions options{.order = Order::thread, .pace = {}};
    constexpr std::uint64_t kFewest = 1000, kEnough = 100'000, kMost = 128 << 10;
    if (info().operations == 0 || info().operations > kMost) return;
    // Of fewer, what threads cost to begin and end is most. They are only read, so that what is
    // damaged is known before anything is touched.
    const std::uint64_t repetitions =
        info().operations < kFewest ? 0
                                    : std::clamp<std::uint64_t>(kEnough / info().operations, 3, 25);
    std::vector<double> costs;
    for (std::uint64_t i = 0; i <= repetitions; ++i) {
      if (request_.stop.stop_requested()) return;
      rewind();
      Schedule schedule(source(), tables(), info(), options);
      const ReplayOutcome outcome = replay(
          schedule.trace(), {0, 0},
          {.engine = EngineKind::null, .stop_on_divergence = false, .board = &schedule.board()});
      schedule.check();
      const auto operations = static_cast<double>(outcome.statistics.operations);
      if (i == 0 || operations == 0) continue;  // the first one warms up
      costs.push_back((outcome.cpu_user_s + outcome.cpu_system_s) * 1e9 / operations);
    }
    std::ranges::sort(costs);
    if (!costs.empty()) result_.overhead_ns = costs[costs.size() / 2];
  }

  void open() {
    Target target = *request_.target;
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
    volume_ = open_volume(
        target, {.role = Role::near,
                 .power = request_.power,
                 .destroy = request_.destroy,
                 .keep = request_.keep,
                 .makes = [this](const FileSystemLimits& limits) { return names_made(limits); }});
  }

  std::vector<std::string> names_made(const FileSystemLimits& limits) const {
    const FittedTrace fitted = fit_trace(tables(), trees(), limits);
    const auto names = names_in_root(fitted.tables ? *fitted.tables : tables(), fitted.initial);
    return {names.begin(), names.end()};
  }

  // All that is ever written may lie there at once, for all that is known.
  std::uint64_t image_for(FileSystemKind kind) const {
    const FileSystemLimits& limits = file_system_info(kind).limits;
    const std::uint64_t per_file = std::max(limits.bytes_per_inode, limits.cluster);
    const std::uint64_t most =
        image_size({trees().initial, trees().final}, {kind}, 1) + info().files * per_file;
    constexpr std::uint64_t kMiB = 1 << 20;
    return (most + info().bytes_written + info().bytes_written / 4 + kMiB - 1) / kMiB * kMiB;
  }

  // False when the stop was requested.
  bool repeat(std::uint32_t run) {
    if (request_.stop.stop_requested()) return false;
    ReplayProgress progress;
    const StepInfo step{.file_system = null() ? "" : volume_name(),
                        .set = input_.name,
                        .operation = "replay",
                        .run = run,
                        .runs = request_.runs,
                        .bytes = 0,
                        .files = info().operations,
                        .done = static_cast<double>(run - 1) / request_.runs,
                        .share = 1.0 / request_.runs};
    const StepWatch watch(observer_, step, progress);
    Sample sample;
    sample.run = run;
    if (!null() && !prepare(run, sample)) return false;
    if (null() && run == 1) add_measurement("none", "none");
    if (!measure(sample, progress)) return false;
    result_.measurements.back().samples.push_back(std::move(sample));
    observer_.result_grew(result_);
    return !interrupted_;
  }

  std::string volume_name() const { return request_.target->text(); }

  // The volume as the trace wants it, with cold caches.
  bool prepare(std::uint32_t run, Sample& sample) {
    volume_->prepare(file_system_);
    if (run == 1) {
      fitted_ = fit_trace(tables(), trees(), volume_->limits());
      describe();
    }
    if (!file_system_) check_nothing_else(volume_->root(), volume_name());
    if (const std::optional<std::uint64_t> free = volume_->free_bytes()) {
      check_room(fitted_.initial, volume_->limits(), 1, *free, volume_name());
    }
    const PopulateTotals made = populate_below(volume_->root(), fitted_.initial, volume_name(),
                                               {.keep_set_id = false, .stop = request_.stop}, {});
    if (made.interrupted) return false;
    if (request_.warm) {
      volume_->check_present();
      sample.cold_method = "warm";
      return true;
    }
    const std::vector<std::string> paths = file_paths(fitted_.initial);
    const Coldness coldness = volume_->make_cold(paths, made.set.bytes);
    sample.cold_method = coldness.method;
    if (made.set.bytes > 0) sample.cached_before = coldness.cached;
    return true;
  }

  void describe() {
    const VolumeDescription volume = volume_->describe();
    add_measurement(volume.file_system, volume.driver);
    if (volume.driver != "kernel") {
      result_.warn({"fuse-driver",
                    fmt::format("{} was served by {}, a FUSE driver: its speed is that of the "
                                "driver, not of the device",
                                volume.file_system, volume.driver),
                    "use a kernel that has the file system's own driver to compare devices"});
    }
    if (fitted_.names_changed > 0) {
      const EscapedPath& first = fitted_.escaped.front();
      result_.warn({"names-escaped",
                    fmt::format("{} names are escaped on {}: {} -> {}{}", fitted_.names_changed,
                                volume.file_system, printable(first.original), first.escaped,
                                fitted_.names_changed > 1 ? ", …" : ""),
                    "the result file lists them"});
      result_.escaped_names.push_back({volume.file_system, input_.name, fitted_.escaped});
    }
    const auto downgrade = [&](std::uint64_t number, std::string_view what) {
      if (number == 0) return;
      result_.warn(
          {"downgraded",
           fmt::format("{} has none: {} {} of the initial tree", volume.file_system, number, what),
           "what the trace does with them fails there, and is counted as a limit"});
    };
    downgrade(fitted_.symlinks_left_out, "symbolic links are left out");
    downgrade(fitted_.hard_links_left_out, "hard links are left out");
    downgrade(fitted_.holes_filled, "files with holes are written out in full");
    result_.volumes.push_back(volume);
  }

  void add_measurement(const std::string& file_system, const std::string& driver) {
    Measurement& measurement = result_.measurements.emplace_back();
    measurement.workload = kReelWorkload;
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
    schedule.check();
    if (volume_) volume_->check_present();
    fill_reel_sample(sample, outcome, names.paths);
    sample.reel->waits = schedule.waits();
    ended_early_ = sample.reel->ended_early = !outcome.complete;
    if (!volume_) {
      sample.durable_s = sample.elapsed_s;
      return true;
    }
    volume_->sync();
    sample.durable_s = outcome.elapsed_s + static_cast<double>(now_ns() - outcome.end_ns) * 1e-9;
    add_outside(sample, before, look_outside(used));
    if (request_.verify == ReelVerify::tree) {
      sample.reel->tree =
          compare_tree(volume_->root(), fitted_.final, volume_->limits(), request_.stop);
      interrupted_ = request_.stop.stop_requested();
      if (interrupted_) sample.reel->tree.reset();
    }
    return true;
  }

  const ReelRunRequest& request_;
  const ReelInput& input_;
  RunObserver& observer_;
  Result& result_;
  std::unique_ptr<TraceCopies> copies_;
  EngineKind engine_ = EngineKind::blocking;
  std::optional<FileSystemKind> file_system_;
  FittedTrace fitted_;
  std::unique_ptr<Volume> volume_;
  bool interrupted_ = false;  // while the tree was compared
  bool ended_early_ = false;  // at a divergence, as was asked for
};

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

bool run_reel(const ReelRunRequest& request, const ReelInput& input, RunObserver& observer,
              Result& result) {
  result.version = FILEREEL_VERSION;
  result.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time(nullptr)));
  result.host = describe_host();
  result.plan.name = "replay";
  result.plan.workload = kReelWorkload;
  result.plan.sets = {input.name};
  result.plan.runs = request.runs;
  result.plan.warm = request.warm;
  if (request.file_system) result.plan.file_systems = {*request.file_system};
  return ReelRun(request, input, observer, result).execute();
}

}  // namespace filereel

// A recorded trace as a job: a reel, or a trace simulated by a workload without phases.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"
#include "replay/engine/divergence_classifier.h"
#include "replay/jobs/access_shapes.h"
#include "replay/jobs/fitting.h"
#include "replay/jobs/job_makers.h"
#include "replay/jobs/limit_checks.h"
#include "replay/jobs/room.h"
#include "replay/jobs/trace_outcome.h"
#include "replay/jobs/work_digest.h"
#include "replay/volumes/mount.h"
#include "traces/edit/edit.h"
#include "traces/mysql/mysql_mix.h"
#include "traces/recorded_trace.h"
#include "traces/reel/catalogue_reels.h"
#include "traces/workload/recipe_text.h"

namespace filereel {
namespace {

// Requests in flight need io_uring.
bool wants_uring(const TraceInfo& info, const JobOptions& options) {
  return options.depth > 0 || info.by_kind[static_cast<std::size_t>(OperationKind::reap)] > 0;
}

EngineKind engine_for(const TraceInfo& info, const JobOptions& options) {
  if (options.engine) return *options.engine;
  const bool uring =
      wants_uring(info, options) && (options.depth > 0 || !uring_unavailable_reason());
  return uring ? EngineKind::uring : EngineKind::blocking;
}

// Throws Error if the requested engine is unavailable; warns if only the trace asked for it.
void check_engine(const TraceInfo& info, const JobOptions& options, Result& result) {
  const EngineKind engine = engine_for(info, options);
  if (options.depth > 0 && engine != EngineKind::uring) {
    throw Error(ErrorKind::usage,
                fmt::format("--depth is not supported by the {} engine: use --engine io_uring",
                            engine_name(engine)));
  }
  const std::optional<std::string> why = uring_unavailable_reason();
  if (!why) return;
  if (engine == EngineKind::uring) throw Error(ErrorKind::failed, *why);
  if (!options.engine && wants_uring(info, options)) {
    result.warn({"io-uring-unavailable", *why,
                 "concurrent requests of the trace are executed in sequence"});
  }
}

class TraceReplay final : public StepReplay {
 public:
  // `transactions`: of a database server, if the trace is of one.
  TraceReplay(RecordedTrace& source, const TraceTables& names, const JobOptions& job,
              EngineKind engine, Order order, std::optional<std::uint64_t> transactions)
      : transactions_(transactions),
        schedule_(rewound(source), names, source.info(), {.order = order, .pace = job.pace}),
        judge_(names.paths) {
    trace = schedule_.trace();
    options.engine = engine;
    options.queue_depth = job.depth;
    options.change_owners = job.change_owners;
    options.stop_on_divergence = job.stop_on_divergence;
    options.board = &schedule_.board();
    options.judge = &judge_;
  }

  void check() const override { schedule_.check(); }

  void count(const ReplayOutcome& outcome, const Volumes&, Sample& sample) const override {
    add_trace_figures(sample, outcome);
    sample.reel->waits = schedule_.waits();
    sample.reel->ended_early = !outcome.complete;
    if (outcome.complete) sample.transactions = transactions_;
  }

 private:
  static RecordedTrace& rewound(RecordedTrace& source) {
    source.rewind();
    return source;
  }

  std::optional<std::uint64_t> transactions_;
  Schedule schedule_;
  DivergenceClassifier judge_;
};

// Fits `trace`, which is `original` or consists of copies of it. Throws Error(failed) if the
// volumes cannot hold what its operations make.
FittedTrace fit_within(const RecordedTrace& original, const TraceDemands& demands,
                       const RecordedTrace& trace, const std::vector<FileSystemLimits>& limits) {
  constexpr std::string_view kAdvice = "choose another file system";
  FittedTrace fitted = fit_trace(trace.tables(), trace.trees(), limits);
  const TextTable& texts = fitted.tables ? fitted.tables->texts : trace.tables().texts;
  check_demands(demands, original.tables().paths, texts, strictest(limits), kAdvice);
  return fitted;
}

std::uint32_t copies_of(const JobOptions& options) {
  return options.clients.value_or(1);
}

class FittedReplay final : public FittedJob {
 public:
  FittedReplay(RecordedTrace& original, const TraceDemands& demands,
               std::optional<std::uint64_t> transactions, const JobOptions& options,
               const std::vector<FileSystemLimits>& limits, const ClientRank& client)
      : options_(options),
        copies_(copies_of(options) > 1 ? std::make_unique<TraceCopies>(original, copies_of(options))
                                       : nullptr),
        trace_(copies_ ? *copies_ : original),
        fitted_(fit_within(original, demands, trace_, limits)) {
    fitted_.initial.seed = client.seed_of(fitted_.initial.seed);
    if (transactions) transactions_ = *transactions * copies_of(options);
    const EntryList& files = fitted_.initial.entries;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::span<const Hole> holes = files.holes(i);
      if (holes.empty()) continue;
      holes_[static_cast<FileId>(files.content(i).key)] = {holes.begin(), holes.end()};
    }
    steps_.push_back({.operation = "replay",
                      .operations = trace_.info().operations,
                      .expected = expected_time(trace_.info(), options)});
  }

  static ExpectedTime expected_time(const TraceInfo& info, const JobOptions& options) {
    constexpr double kPerOperation = 10e-6;
    const double work = static_cast<double>(info.operations) * kPerOperation +
                        static_cast<double>(info.bytes_read + info.bytes_written) / kAssumedRate;
    if (options.pace.kind == Pace::Kind::asap) return {.work_s = work};
    const double waits = static_cast<double>(info.duration_ns) * 1e-9 / options.pace.speed;
    return {.work_s = std::max(0.0, work - waits), .waits_s = waits};
  }

  const std::vector<Step>& steps() const override { return steps_; }
  const Fitting& fitting() const { return fitted_; }

  Contents contents(Role role) const override {
    if (role != Role::near) return {};
    return {&fitted_.initial, &fitted_.initial, 1};
  }
  FileList read_by(std::size_t, Role) const override { return FileList(fitted_.initial.entries); }

  std::unique_ptr<StepReplay> make_replay(std::size_t) const override {
    return replay_in(options_.order);
  }

  // Only a trace that fits into the schedule's first window: no reading during the replay, and no
  // waits.
  std::unique_ptr<StepReplay> make_overhead_replay(std::size_t) const override {
    constexpr std::uint64_t kMost = 128 << 10;
    const std::uint64_t operations = trace_.info().operations;
    if (operations == 0 || operations > kMost) return nullptr;
    return replay_in(Order::thread);
  }

  std::optional<std::vector<ExpectedTree>> tree_after(std::size_t, Role role) const override {
    if (role != Role::near) return {};
    return std::vector{ExpectedTree{"", fitted_.final.entries}};
  }

 private:
  std::unique_ptr<StepReplay> replay_in(Order order) const {
    const TraceTables& names = fitted_.tables ? *fitted_.tables : trace_.tables();
    auto replay = std::make_unique<TraceReplay>(
        trace_, names, options_, engine_for(trace_.info(), options_), order, transactions_);
    replay->trace.content_seed = fitted_.initial.seed;
    replay->trace.holes = &holes_;
    return replay;
  }

  JobOptions options_;
  std::optional<std::uint64_t> transactions_;  // of all clients
  std::unique_ptr<TraceCopies> copies_;
  RecordedTrace& trace_;
  FittedTrace fitted_;
  HolesByFile holes_;
  std::vector<Step> steps_;
};

// The traces of a job by point: the recorded one, or those that a workload simulates.
class Traces {
 public:
  explicit Traces(std::unique_ptr<RecordedTrace> recorded) : recorded_(std::move(recorded)) {}
  Traces(Workload workload, double scale) : workload_(std::move(workload)), scale_(scale) {
    const std::string reel = workload_->recipe(0).reel;
    if (!reel.empty()) recorded_ = open_reel(reel);
  }

  const std::optional<Workload>& workload() const { return workload_; }
  bool is_recorded() const { return recorded_ != nullptr; }
  std::uint64_t points() const { return workload_ ? workload_->points() : 1; }
  std::vector<SweepAxis> axes() const {
    return workload_ ? workload_->axes() : std::vector<SweepAxis>();
  }
  Parameters parameters(std::uint64_t point) const {
    return workload_ ? workload_->parameters(point) : Parameters();
  }

  // Total of all connections; nothing for a recorded trace.
  std::optional<std::uint64_t> transactions(std::uint64_t point) const {
    if (recorded_) return std::nullopt;
    return workload_->recipe(point, scale_).mysql->transactions;
  }

  // Read once, as reading takes time. Of a simulated trace nothing is known before.
  const TraceDemands& demands() {
    if (!demands_) {
      demands_.emplace();
      if (recorded_) {
        recorded_->rewind();
        demands_ = demands_of(*recorded_, recorded_->tables().texts);
      }
    }
    return *demands_;
  }

  // Simulation takes time, so simulated traces are cached.
  RecordedTrace& at(std::uint64_t point) {
    constexpr std::size_t kMostKept = 16;
    if (recorded_) return *recorded_;
    std::unique_ptr<MysqlMix>& mix = simulated_[point];
    if (!mix) mix = std::make_unique<MysqlMix>(*workload_->recipe(point, scale_).mysql);
    RecordedTrace& trace = *mix;
    if (simulated_.size() > kMostKept) {
      simulated_.erase(simulated_.begin()->first == point ? std::prev(simulated_.end())
                                                          : simulated_.begin());
    }
    return trace;
  }

 private:
  std::optional<Workload> workload_;
  double scale_ = 1;
  std::unique_ptr<RecordedTrace> recorded_;
  std::map<std::uint64_t, std::unique_ptr<MysqlMix>> simulated_;
  std::optional<TraceDemands> demands_;
};

class TraceJob final : public PlainJob {
 public:
  // `sweep`: the swept parameters of traces among the options; the others are the workload's.
  TraceJob(std::string name, Traces traces, const JobOptions& options, const SweepOverrides& sweep)
      : name_(std::move(name)),
        traces_(std::make_unique<Traces>(std::move(traces))),
        sweep_(JobKind::trace, options, sweep) {
    for (std::uint64_t point = 0; point < points(); ++point) {
      if (this->options(point).pace.kind == Pace::Kind::asap) continue;
      if (trace_at(point).info().timed) continue;
      const std::string text = fmt::format("{} has no recorded times: use --pace asap", name_);
      if (sweep.contains("pace")) throw SweepError(SweepError::Fault::values, "pace", text);
      throw Error(ErrorKind::usage, text);
    }
  }

  JobRecord record() const override {
    const JobOptions options = sweep_.at(0);
    JobRecord record = common_record(JobKind::trace, name_, options);
    if (options.change_owners) record.settings.emplace_back("owners", "true");
    record.axes = traces_->axes();
    std::ranges::copy(sweep_.axes(), std::back_inserter(record.axes));
    return record;
  }

  WorkRecord work() const override {
    WorkRecord work{.job = name_, .file = sweep_.at(0).file};
    if (const auto& workload = traces_->workload()) work.description = workload->description;
    work.add(traces_->is_recorded()
                 ? std::vector{describe_trace(trace_at(0).info())}
                 : recipe_lines(traces_->workload()->recipe(0, sweep_.at(0).scale)));
    return work;
  }
  std::string work_digest(std::uint64_t point) const override {
    if (!traces_->is_recorded()) {
      return recipe_digest(traces_->workload()->recipe(point / sweep_.points()));
    }
    const std::uint64_t digest = trace_at(point).info().digest;
    return digest == 0 ? "" : digest_text(digest);
  }

  // The workload's points vary slowest.
  std::uint64_t points() const override { return traces_->points() * sweep_.points(); }
  Parameters parameters(std::uint64_t point) const override {
    Parameters list = traces_->parameters(point / sweep_.points());
    std::ranges::move(sweep_.parameters(point % sweep_.points()), std::back_inserter(list));
    return list;
  }
  JobOptions options(std::uint64_t point) const override {
    return sweep_.at(point % sweep_.points());
  }

  std::vector<FileSystemKind> file_systems() const override {
    if (!traces_->workload()) return {FileSystemKind::ext4};
    return parse_file_systems(traces_->workload()->file_systems);
  }
  std::optional<std::uint32_t> runs() const override {
    return traces_->workload() ? std::optional(traces_->workload()->runs) : std::nullopt;
  }
  std::string_view room_advice() const override { return "use a larger volume"; }
  bool may_diverge() const override { return true; }
  bool scales() const override { return !traces_->is_recorded(); }

  std::optional<ReplayParameters> replay_parameters(std::uint64_t point) const override {
    const JobOptions options = this->options(point);
    const TraceInfo& info = trace_at(point).info();
    return ReplayParameters{
        .order = std::string(order_name(options.order)),
        .pace = pace_name(options.pace),
        .engine = std::string(engine_name(engine_for(info, options))),
        .verify = std::string(verification_name(options.verify)),
        .depth = options.depth,
        .clients = copies_of(options),
        .recorded_s = info.timed ? static_cast<double>(info.duration_ns) * 1e-9 : 0};
  }

  void check(const PlannedVolumes& volumes) const override {
    const TraceDemands& demands = traces_->demands();  // throws Error if the trace is corrupt
    for (std::uint64_t point = 0; point < points(); ++point) {
      const JobOptions options = this->options(point);
      RecordedTrace& trace = trace_at(point);
      Result unused;
      check_engine(trace.info(), options, unused);
      std::unique_ptr<FittedReplay> fitted;
      for (const auto& limits : volumes.limits()) {
        fitted = std::make_unique<FittedReplay>(trace, demands, std::nullopt, options, limits,
                                                volumes.client);
      }
      if (!fitted) continue;
      const std::unique_ptr<StepReplay> replay = fitted->make_replay(0);
      check_resources(replay->trace, replay->options.engine);
    }
  }

  // Images assume that all data ever written exists at the same time. What the trace creates may
  // fit although it does not look so: its files may have holes.
  JobNeeds needs(const PlannedVolumes& volumes) const override {
    JobNeeds needs;
    constexpr auto kNear = static_cast<std::size_t>(Role::near);
    const std::vector<FileSystemKind> kinds = volumes.kinds();
    VolumeNeeds& near = needs.volumes[kNear];
    near.what = name_;
    for (std::uint64_t point = 0; point < points(); ++point) {
      const RecordedTrace& trace = trace_at(point);
      const TraceInfo& info = trace.info();
      const JobOptions options = this->options(point);
      std::uint64_t per_file = 0;
      for (const auto& [kind, limits] : volumes.formatted) {
        per_file = std::max({per_file, limits.bytes_per_inode, limits.cluster});
      }
      const std::uint64_t trees =
          std::max(image_size({&trace.trees().initial, 1}, kinds, copies_of(options)),
                   image_size({&trace.trees().final, 1}, kinds, copies_of(options)));
      const std::uint64_t more =
          info.files * per_file + info.bytes_written + info.bytes_written / 4;
      const std::uint64_t image = trees + copies_of(options) * more;
      near.image = std::max(near.image, (image + kMiB - 1) / kMiB * kMiB);
      add_needs(trace.trees().initial, kinds, copies_of(options), near, volumes.directory(kNear));
      const auto [work_s, waits_s] = FittedReplay::expected_time(info, options);
      needs.seconds += work_s + waits_s;
      needs.waits_s += waits_s;
      needs.fill_s += creation_seconds(trace.trees().initial.totals()) * copies_of(options);
    }
    return needs;
  }

  std::vector<AccessShape> shapes() const override {
    constexpr std::size_t kSizes = 3;
    RecordedTrace& trace = trace_at(0);
    trace.rewind();
    return access_shapes(trace, options(0).depth, kSizes);
  }

  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    const JobOptions options = this->options(point);
    RecordedTrace& trace = trace_at(point);
    check_engine(trace.info(), options, place.result);
    warn_of_trace(trace.info(), name_, place.result);
    auto fitted = std::make_unique<FittedReplay>(trace, traces_->demands(),
                                                 traces_->transactions(point / sweep_.points()),
                                                 options, place.volumes.limits(), place.client);
    if (place.volumes.near) {
      warn_of_demands(traces_->demands(), strictest(place.volumes.limits()),
                      place.volumes.near->describe().file_system, place.result);
      add_fitting(fitted->fitting(), place.volumes.near->describe().file_system, name_,
                  place.result);
    }
    return fitted;
  }

 private:
  RecordedTrace& trace_at(std::uint64_t point) const {
    return traces_->at(point / sweep_.points());
  }

  std::string name_;
  std::unique_ptr<Traces> traces_;  // read and rewound by every replay
  OptionSweep sweep_;
};

}  // namespace

std::unique_ptr<Job> make_trace_job(std::string name, std::unique_ptr<RecordedTrace> trace,
                                    const JobOptions& options) {
  if (!options.name.empty()) name = options.name;
  return std::make_unique<TraceJob>(std::move(name), Traces(std::move(trace)), options,
                                    options.sweep);
}

std::unique_ptr<Job> make_trace_job(Workload workload, const JobOptions& options) {
  SweepOverrides own, others;
  for (const auto& [key, values] : options.sweep) {
    const JobParameter* parameter = find_job_parameter(key);
    const bool ours = workload.keys().empty() || (parameter && parameter->swept);
    (ours ? own : others).emplace(key, values);
  }
  if (!others.empty()) workload.set_values(others);
  std::string name = options.name.empty() ? workload.name : options.name;
  return std::make_unique<TraceJob>(std::move(name), Traces(std::move(workload), options.scale),
                                    options, own);
}

}  // namespace filereel

// The order within a step is the measurement:
// - caches are set, and the share of the files that is still cached is measured
// - with other clients: all wait until everybody has done so
// - the replay is created, since reading a trace and its memory must not be in the time
// - begin_sample() looks at the machine at rest, last
// - the gate: all threads of the replay exist; with clients, the common start
// - counters of volumes and processors are read when the measured time begins (on_measured_start),
//   as late as possible, because others use them, too
// - the replay; `elapsed` ends with its last call
// - wait_until_durable(), immediately: its clock still runs, and whatever came before it would
//   count as time to durability
// - the control groups, before filereel computes figures, which may be throttled
// - only then what takes time: samples, counters, the comparison of trees, which reads the volume
//
// What was not done has no time. After a divergence that fails the step, nothing is flushed, and
// the sample tells only the reason. A stop during the replay yields no sample at all. A step of a
// program (copy_command.h) is timed in the same frame; its trace is not the work, but reads the
// copy afterwards to verify it.
//
// Volumes measured apart (Step::apart) have one clock for the work, since it is one replay, but
// flushes and counters of their own. What a shared device or driver did cannot be divided and is
// counted for neither.
#include "replay/run/measure.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "replay/jobs/tree_check.h"
#include "replay/measure/clock.h"
#include "replay/run/rate_sampler.h"
#include "replay/run/sampling.h"
#include "replay/volumes/page_cache.h"

namespace filereel {
namespace {

void set_caches(const FittedJob& job, std::size_t step, const Volumes& volumes,
                const MeasureOptions& options, Sample& sample) {
  const std::vector<Role>& roles = job.steps()[step].volumes;
  const std::vector<Volume*> used = volumes.list(roles);
  if (used.empty()) return;
  const Caches caches = job.steps()[step].caches;
  if (caches == Caches::keep || (options.warm && caches == Caches::cold)) {
    for (const Volume* volume : used) volume->check_present();
    sample.cold_method = "warm";
    return;
  }
  double cached = 0, bytes = 0;  // of the files with a known share
  for (const Role role : roles) {
    Volume* volume = volumes.of(role);
    if (!volume) continue;
    const FileList files = job.read_by(step, role);
    CacheState coldness{"read", {}};
    if (caches == Caches::warm) {
      volume->check_present();
      coldness.cached = warm_files(volume->root(), files, options.stop);
    } else {
      coldness = volume->make_cold(files);
    }
    if (sample.cold_method.empty()) sample.cold_method = coldness.method;
    if (files.bytes() == 0 || !coldness.cached) continue;
    cached += *coldness.cached * static_cast<double>(files.bytes());
    bytes += static_cast<double>(files.bytes());
  }
  if (bytes > 0) sample.cached_before = cached / bytes;
}

// The trees of all volumes together.
TreeComparison check_trees(const FittedJob& job, std::size_t step, const Volumes& volumes,
                           const std::stop_token& stop) {
  TreeComparison all;
  for (std::size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    const Volume* volume = volumes.of(role);
    if (!volume) continue;
    const std::optional<std::vector<ExpectedTree>> expected = job.tree_after(step, role);
    if (!expected) continue;
    TreeComparison tree = compare_tree(volume->root(), *expected, volume->limits(), stop);
    all.entries += tree.entries;
    all.differences += tree.differences;
    all.left_out += tree.left_out;
    const std::size_t room = TreeComparison::kExamples - all.examples.size();
    tree.examples.resize(std::min(tree.examples.size(), room));
    std::ranges::move(tree.examples, std::back_inserter(all.examples));
  }
  return all;
}

// By Role. The null engine has no volumes and gets the same root for all.
std::array<int, kRoles> roots_of(const Volumes& volumes, const std::vector<Role>& roles) {
  std::array<int, kRoles> roots;
  roots.fill(volumes.near ? -1 : 0);
  for (const Role role : roles) {
    if (const Volume* volume = volumes.of(role)) {
      roots[static_cast<std::size_t>(role)] = volume->root();
    }
  }
  return roots;
}

// Whether a program has copied everything: the names, kinds and sizes, and the content. Throws
// Error(failed) otherwise. Returns nothing if the stop was requested.
std::optional<TreeComparison> verify_copy(const FittedJob& job, std::size_t step,
                                          const Volumes& volumes, Trace reads,
                                          const MeasureOptions& options, std::string_view what) {
  const auto fail = [&](std::string_view path, std::string_view text) {
    throw Error(ErrorKind::failed, fmt::format("{}: the copy differs from the original: {} {}; "
                                               "check the command",
                                               what, path, text));
  };
  TreeComparison tree = check_trees(job, step, volumes, options.stop);
  if (options.stop.stop_requested()) return std::nullopt;
  if (!tree.examples.empty()) fail(tree.examples.front().path, tree.examples.front().text);
  const PathTable& paths = *reads.paths;
  const ReplayOutcome outcome =
      replay(std::move(reads), roots_of(volumes, job.steps()[step].volumes),
             {.verify = Verify::content, .stop = options.stop});
  if (!outcome.statistics.examples.empty()) {
    const Divergence& first = outcome.statistics.examples.front();
    fail(printable(paths.relative(first.path)),
         first.result < 0 ? strerror(static_cast<int>(-first.result)) : "has other content");
  }
  if (!outcome.complete) return std::nullopt;
  return tree;
}

// Observes all volumes together, then each. What a device or a FUSE driver shared by two volumes
// does is counted for neither.
std::vector<SystemCounters> read_all_counters(const std::vector<Volume*>& used, bool apart) {
  std::vector<SystemCounters> looks = {read_system_counters(used)};
  if (!apart) return looks;
  std::map<dev_t, std::size_t> volumes;
  std::map<pid_t, std::size_t> served;  // by FUSE driver
  for (Volume* volume : used) {
    looks.push_back(read_system_counters({volume}));
    if (looks.back().device) ++volumes[looks.back().device->device];
    if (const std::optional<pid_t> driver = volume->driver()) ++served[*driver];
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    SystemCounters& look = looks[i + 1];
    if (look.device && volumes[look.device->device] > 1) look.device.reset();
    const std::optional<pid_t> driver = used[i]->driver();
    if (driver && served[*driver] > 1) look.driver_cpu_s = 0;
  }
  return looks;
}

// The work done on each of the step's volumes. `before`, `after`: of read_all_counters. `flushes`:
// of each volume, in seconds. All are empty without volumes. Conditions of the machine are in the
// sample of all.
std::vector<Sample> samples_by_volume(const Step& step, const ReplayOutcome& outcome,
                                      const std::function<Sample(const ReplayOutcome&)>& sample_of,
                                      const Volumes& volumes,
                                      std::span<const SystemCounters> before,
                                      std::span<const SystemCounters> after,
                                      std::span<const double> flushes) {
  const ReplayOutcome nothing;
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < step.volumes.size(); ++i) {
    const auto role = static_cast<std::size_t>(step.volumes[i]);
    const bool worked = role < outcome.by_volume.size();
    Sample& sample = samples.emplace_back(sample_of(worked ? outcome.by_volume[role] : nothing));
    sample.durable_s = sample.elapsed_s;
    Volume* volume = volumes.of(step.volumes[i]);
    if (!volume) continue;
    sample.durable_s += flushes[i];
    add_volume_work(sample, before[i + 1], after[i + 1], {volume});
  }
  return samples;
}

}  // namespace

std::optional<StepSamples> measure_step(const FittedJob& job, std::size_t step,
                                        const Volumes& volumes, const MeasureOptions& options) {
  const Step& what = job.steps()[step];
  const std::vector<Volume*> used = volumes.list(what.volumes);
  StepSamples samples;
  Sample& sample = samples.all;
  set_caches(job, step, volumes, options, sample);
  if (options.meet) options.meet();
  const std::unique_ptr<StepReplay> replayed = job.make_replay(step);

  std::vector<SystemCounters> before;
  const std::vector<ControlGroup> groups = processor_groups();  // before the clock starts
  GroupLook groups_before, groups_after;
  Stops stops_before;
  ReplayOptions replay_options = replayed->options;
  if (options.verify == Verification::content) replay_options.verify = Verify::content;
  if (!options.may_diverge) replay_options.stop_on_divergence = true;
  replay_options.stop = options.stop;
  replay_options.progress = options.progress;
  std::uint64_t released_ns = 0;
  replay_options.gate = [&](const std::function<void()>& begin) {
    options.gate ? options.gate(begin) : begin();
    released_ns = now_ns();
  };
  replay_options.on_measured_start = [&] {
    groups_before = look_at_groups(groups);
    stops_before = look_at_stops(options.continued);
    before = read_all_counters(used, what.apart);
  };
  const PathTable& paths = *replayed->trace.paths;
  std::optional<RateSampler> rates;
  if (what.rates && options.progress) rates.emplace(*options.progress);
  begin_sample(sample, used, options.run_began_ns);
  const std::array<int, kRoles> roots = roots_of(volumes, what.volumes);
  const std::string named =
      replayed->program ? fmt::format("{} on {} by '{}'", what.operation, volumes.file_system(),
                                      printable(replayed->program->command))
                        : "";
  const ReplayOutcome outcome =
      replayed->program ? run_copy_program(*replayed->program, roots, replay_options, named)
                        : replay(std::move(replayed->trace), roots, replay_options);

  const auto released_until_end =
      static_cast<std::int64_t>(outcome.end_ns - released_ns - replay_options.warm_up_ns);
  samples.begin_s = static_cast<double>(released_until_end) * 1e-9 - outcome.elapsed_s;

  const bool failed = !options.may_diverge && outcome.statistics.divergences > 0;
  if (!outcome.complete && !failed && options.stop.stop_requested()) return std::nullopt;
  std::vector<double> flushes;  // seconds, of each used volume
  if (!failed) {
    flushes = wait_until_durable(sample, outcome, used);
    if (options.progress) options.progress->durable();
    groups_after = look_at_groups();  // before filereel computes figures, which may be throttled
    for (const Volume* volume : used) volume->check_present();
  }
  if (options.meet_at_end) options.meet();
  replayed->check();
  fill_sample(sample, outcome, paths);
  replayed->count(outcome, volumes, sample);
  if (failed) return samples;
  if (rates) sample.rates = rates->series();
  const std::vector<SystemCounters> after = read_all_counters(used, what.apart);
  add_system_counters(sample, before.front(), after.front(), used);
  add_group_use(groups_before, groups_after, sample.conditions);
  add_stops(stops_before, look_at_stops(options.continued), sample.conditions);
  if (what.apart) {
    const auto sample_of = [&](const ReplayOutcome& of_one) {
      Sample one;
      one.started_s = sample.started_s;
      one.cold_method = sample.cold_method;
      one.conditions.stops = sample.conditions.stops;
      fill_sample(one, of_one, paths);
      replayed->count(of_one, volumes, one);
      return one;
    };
    samples.by_volume =
        samples_by_volume(what, outcome, sample_of, volumes, before, after, flushes);
  }
  if (replayed->program) {
    auto tree = verify_copy(job, step, volumes, std::move(replayed->trace), options, named);
    if (!tree) return std::nullopt;
    sample.tree = std::move(tree);
  } else if (options.verify == Verification::tree && !used.empty()) {
    sample.tree = check_trees(job, step, volumes, options.stop);
    if (options.stop.stop_requested()) sample.tree.reset();  // it is incomplete
  }
  return samples;
}

}  // namespace filereel

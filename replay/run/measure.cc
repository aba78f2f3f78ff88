#include "replay/run/measure.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "replay/run/sampling.h"
#include "replay/run/tree_check.h"
#include "replay/volumes/residency.h"

namespace filereel {
namespace {

void set_caches(const FittedJob& job, std::size_t step, const std::vector<Volume*>& used,
                const MeasureOptions& options, Sample& sample) {
  if (used.empty()) return;
  const Caches caches = job.steps()[step].caches;
  if (caches == Caches::warm) {
    used.front()->check_present();
    sample.cold_method = "read";
    sample.cached_before = warm_files(used.front()->root(), job.read_by(step).paths, options.stop);
    return;
  }
  if (options.warm || caches == Caches::keep) {
    for (const Volume* volume : used) volume->check_present();
    sample.cold_method = "warm";
    return;
  }
  const FilesRead files = job.read_by(step);
  const Coldness coldness = used.front()->make_cold(files.paths, files.bytes);
  sample.cold_method = coldness.method;
  if (files.bytes > 0) sample.cached_before = coldness.cached;
  for (std::size_t i = 1; i < used.size(); ++i) used[i]->make_cold({}, 0);
}

// The trees of all volumes together.
TreeComparison check_trees(const FittedJob& job, std::size_t step, const Volumes& volumes,
                           const std::stop_token& stop) {
  TreeComparison all;
  for (const Role role : {Role::near, Role::far}) {
    const Volume* volume = volumes.of(role);
    if (!volume) continue;
    const std::optional<FileSet> expected = job.tree_after(step, role);
    if (!expected) continue;
    TreeComparison one = compare_tree(volume->root(), *expected, volume->limits(), stop);
    all.entries += one.entries;
    all.differences += one.differences;
    all.left_out += one.left_out;
    const std::size_t room = TreeComparison::kExamples - all.examples.size();
    one.examples.resize(std::min(one.examples.size(), room));
    std::ranges::move(one.examples, std::back_inserter(all.examples));
  }
  return all;
}

}  // namespace

std::optional<Sample> measure_step(const FittedJob& job, std::size_t step, const Volumes& volumes,
                                   const MeasureOptions& options) {
  const std::vector<Volume*> used = volumes.list(job.steps()[step].far);
  Sample sample;
  set_caches(job, step, used, options, sample);
  const std::unique_ptr<StepReplay> replayed = job.make_replay(step);
  std::array<int, kRoles> roots = {used.empty() ? 0 : -1, used.empty() ? 0 : -1};
  for (std::size_t i = 0; i < used.size(); ++i) roots[i] = used[i]->root();

  Outside before;
  ReplayOptions replay_options = replayed->options;
  if (options.verify == Verification::content) replay_options.verify = Verify::content;
  if (!options.may_diverge) replay_options.stop_on_divergence = true;
  replay_options.stop = options.stop;
  replay_options.progress = options.progress;
  replay_options.on_measured_start = [&] { before = look_outside(used); };
  const PathTable& paths = *replayed->trace.paths;
  begin_sample(sample, used, options.run_began_ns);
  const ReplayOutcome outcome = replay(std::move(replayed->trace), roots, replay_options);

  const bool failed = !options.may_diverge && outcome.statistics.divergences > 0;
  if (!outcome.complete && !failed && options.stop.stop_requested()) return std::nullopt;
  if (!failed) {
    wait_until_durable(sample, outcome, used);
    if (options.progress) options.progress->durable();
    for (const Volume* volume : used) volume->check_present();
  }
  replayed->check();
  fill_sample(sample, outcome, paths);
  replayed->count(outcome, volumes, sample);
  if (failed) return sample;
  add_outside(sample, before, look_outside(used), used);
  if (options.verify == Verification::tree && !used.empty()) {
    sample.tree = check_trees(job, step, volumes, options.stop);
    if (options.stop.stop_requested()) sample.tree.reset();  // it is not complete
  }
  return sample;
}

}  // namespace filereel

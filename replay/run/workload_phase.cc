#include "replay/run/workload_phase.h"

#include <algorithm>
#include <vector>

#include "replay/run/prepared_volume.h"
#include "replay/run/sampling.h"
#include "replay/run/workload_needs.h"

namespace filereel {
namespace {

// What the figures of a phase are made of. Where threads read and write at positions those are the
// operations, and all their bytes count; where files are gone through, content counts once (of a
// copy what was written), and every call is an operation.
void count_work(Sample& sample, const ReplayStatistics& statistics, const RecipePhase& phase) {
  if (!has_accesses(phase)) return;
  const KindStatistics& reads = statistics.of(OperationKind::read);
  const KindStatistics& writes = statistics.of(OperationKind::write);
  sample.bytes = reads.bytes + writes.bytes;
  sample.operations = reads.latency.count() + writes.latency.count();
}

}  // namespace

PhaseOutcome measure_phase(const PreparedRecipe& prepared, std::size_t phase,
                           const PhaseOptions& options) {
  const RecipePhase& what = prepared.recipe.phases[phase];
  Volume& volume = prepared.volume;
  PhaseOutcome result;
  Sample& sample = result.sample;
  set_caches(volume, phase == 0 ? prepared.initial : prepared.largest, options.warm || !what.cold,
             sample);
  Trace trace = prepared.synthesis.trace(phase);
  trace.paths = &prepared.paths;
  const std::vector<Volume*> used = {&volume};
  begin_sample(sample, used, options.run_began_ns);
  Outside before;
  const ReplayOutcome outcome =
      replay(std::move(trace), {volume.root(), -1},
             {.engine = prepared.synthesis.queues(phase) ? EngineKind::uring : EngineKind::blocking,
              .poll = options.poll && what.poll,
              .stop = options.stop,
              .progress = options.progress,
              .warm_up_ns = what.warm_up_ns,
              .run_for_ns = what.stop.time_ns,
              .on_measured_start = [&] { before = look_outside(used); }});
  result.complete = outcome.complete && outcome.statistics.divergences == 0;
  if (result.complete) wait_until_durable(sample, outcome, used);
  fill_sample(sample, outcome, prepared.paths);
  count_work(sample, outcome.statistics, what);
  if (result.complete) add_outside(sample, before, look_outside(used), used);
  return result;
}

double expected_seconds(const Recipe& recipe, const Synthesis& synthesis, std::size_t phase) {
  constexpr double kBytesPerSecond = 200e6, kLeast = 0.05;
  const RecipePhase& what = recipe.phases[phase];
  const double content = static_cast<double>(synthesis.bytes(phase)) / kBytesPerSecond;
  const double time = static_cast<double>(what.stop.time_ns) * 1e-9;
  const double ends = time > 0 && content > 0 ? std::min(time, content) : std::max(time, content);
  return std::max(kLeast, ends) + static_cast<double>(what.warm_up_ns) * 1e-9;
}

}  // namespace filereel

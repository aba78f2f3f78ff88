// How fast a workload's operations are made: it is the engine's time that they are made in.
#include <benchmark/benchmark.h>

#include "traces/workload/synthesis.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

void draw_accesses(benchmark::State& state, const char* access) {
  const Workload workload = Workload::from_yaml(
      std::string("files: {count: 16, size: 64 MiB}\nstop: {time: 1 h}\naccess: ") + access,
      "bench");
  const Recipe recipe = workload.recipe(0);
  const Synthesis synthesis(recipe, {});
  const Trace trace = synthesis.trace(0);
  std::vector<Operation> batch(64);
  std::size_t operations = 0;
  for (auto _ : state) {
    operations += trace.threads[0]->next(batch);
    benchmark::DoNotOptimize(batch.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(operations));
}
BENCHMARK_CAPTURE(draw_accesses, sequential, "{size: 4 KiB}");
BENCHMARK_CAPTURE(draw_accesses, random, "{size: 4 KiB, random: 100 %}");
BENCHMARK_CAPTURE(draw_accesses, mixed,
                  "{sizes: [{size: 512 B, share: 20 %}, {size: 4 KiB, share: 80 %}], random: 80 %, "
                  "reads: 67 %}");
BENCHMARK_CAPTURE(draw_accesses, zipf, "{size: 4 KiB, random: 100 %, hot: zipf 0.99}");

}  // namespace
}  // namespace filereel

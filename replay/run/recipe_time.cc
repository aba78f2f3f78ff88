#include "replay/run/recipe_time.h"

#include <algorithm>
#include <cstdint>

namespace filereel {
namespace {

double mean_size(const AccessMix& mix) {
  double sum = 0, shares = 0;
  for (const SizeShare& one : mix.sizes) {
    sum += static_cast<double>(one.size) * one.share;
    shares += one.share;
  }
  return sum / shares;
}

// The accesses (or files) of a thread of the group; 0 if only time ends the phase.
double turns_of_thread(const Recipe& recipe, const RecipePhase& phase, const RecipeThreads& threads,
                       std::uint64_t bytes, const Synthesis& synthesis) {
  double all = 0;
  for (const RecipeThreads& one : phase.threads) all += one.count;
  all *= static_cast<double>(std::max<std::size_t>(1, volumes_of(recipe, phase).size()));
  if (phase.stop.operations > 0) return static_cast<double>(phase.stop.operations) / all;
  if (threads.access) return static_cast<double>(bytes) / mean_size(*threads.access) / all;
  if (phase.stop.time_ns > 0) return 0;
  const auto passes = static_cast<double>(std::max<std::uint64_t>(1, phase.stop.passes));
  return passes * static_cast<double>(synthesis.files(threads.files)) / threads.count;
}

// The share of its files that the threads create.
double created(const RecipeThreads& threads) {
  double share = 0;
  for (const StepChoice& choice : threads.choices) {
    const bool creates = std::ranges::any_of(choice.steps, [](const FileStep& step) {
      return step.kind == StepKind::create || step.kind == StepKind::replace ||
             step.kind == StepKind::copy;
    });
    if (creates) share += choice.share / 100'000.0;
  }
  return share;
}

// Without pauses. A file that is created costs something, whatever its size.
double work_seconds(const Recipe& recipe, const RecipePhase& phase, std::uint64_t bytes,
                    const Synthesis& synthesis) {
  double moved = static_cast<double>(bytes), files = 0;
  for (const RecipeThreads& threads : phase.threads) {
    const std::size_t volumes = recipe.files[threads.files].volumes.size();
    const double turns = turns_of_thread(recipe, phase, threads, bytes, synthesis) * threads.count *
                         static_cast<double>(std::max<std::size_t>(1, volumes));
    if (!threads.access) {
      files += turns * created(threads);
    } else if (bytes == 0) {  // a number of accesses ends the phase
      moved += turns * mean_size(*threads.access);
    }
  }
  return creation_seconds(
      {.files = static_cast<std::uint64_t>(files), .bytes = static_cast<std::uint64_t>(moved)});
}

// The pauses of the slowest thread, in seconds. A rate takes precedence over a pause.
double paced_seconds(const Recipe& recipe, const RecipePhase& phase, std::uint64_t bytes,
                     const Synthesis& synthesis) {
  double longest = 0;
  for (const RecipeThreads& threads : phase.threads) {
    const double pause =
        threads.rate > 0 ? 1 / threads.rate : static_cast<double>(threads.think_ns) * 1e-9;
    if (pause == 0) continue;
    const double turns = turns_of_thread(recipe, phase, threads, bytes, synthesis);
    longest = std::max(longest, std::max(0.0, turns - 1) * pause);
  }
  return longest;
}

}  // namespace

ExpectedTime expected_time(const Recipe& recipe, std::size_t phase, const Synthesis& synthesis) {
  constexpr double kLeast = 0.05;
  const RecipePhase& what = recipe.phases[phase];
  const std::uint64_t bytes = synthesis.bytes(phase);
  const double content = work_seconds(recipe, what, bytes, synthesis);
  const double paced = paced_seconds(recipe, what, bytes, synthesis);
  const double most = static_cast<double>(what.stop.time_ns) * 1e-9;
  const double warm_up = static_cast<double>(what.warm_up_ns) * 1e-9;
  const bool only_time = most > 0 && content == 0 && paced == 0;
  if (only_time || (most > 0 && paced >= most)) return {.waits_s = most + warm_up};
  const double ends = std::max({kLeast, content, paced});
  if (most > 0 && ends >= most) return {.work_s = most - paced, .waits_s = paced + warm_up};
  // With a rate, the work is done in the meantime; with pauses, it comes in addition.
  const bool rated = std::ranges::any_of(
      what.threads, [](const RecipeThreads& threads) { return threads.rate > 0; });
  const double work = std::max(kLeast, content);
  return {.work_s = rated ? std::max(0.0, work - paced) : work, .waits_s = paced + warm_up};
}

double fill_seconds(const Recipe& recipe, const Synthesis& synthesis) {
  double seconds = 0;
  for (const Role role : volumes_of(recipe)) {
    seconds += creation_seconds(synthesis.initial(role).totals());
  }
  return seconds;
}

}  // namespace filereel

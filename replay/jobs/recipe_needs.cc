#include "replay/jobs/recipe_needs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "replay/jobs/access_shapes.h"
#include "replay/results/block_baseline.h"

namespace filereel {
namespace {

double mean_size(const AccessMix& mix) {
  double sum = 0, shares = 0;
  for (const SizeShare& share : mix.sizes) {
    sum += static_cast<double>(share.size) * share.share;
    shares += share.share;
  }
  return sum / shares;
}

// The accesses (or files) of a thread of the group; 0 if only time ends the phase.
double turns_of_thread(const Recipe& recipe, const RecipePhase& phase, const RecipeThreads& threads,
                       std::uint64_t bytes, const Synthesis& synthesis) {
  double all = 0;
  for (const RecipeThreads& group : phase.threads) all += group.count;
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
  const double before = static_cast<double>(what.idle_ns + what.warm_up_ns) * 1e-9;
  const bool only_time = most > 0 && content == 0 && paced == 0;
  if (only_time || (most > 0 && paced >= most)) return {.waits_s = most + before};
  const double ends = std::max({kLeast, content, paced});
  if (most > 0 && ends >= most) return {.work_s = most - paced, .waits_s = paced + before};
  // With a rate, the work is done in the meantime; with pauses, it comes in addition.
  const bool rated = std::ranges::any_of(
      what.threads, [](const RecipeThreads& threads) { return threads.rate > 0; });
  const double work = std::max(kLeast, content);
  return {.work_s = rated ? std::max(0.0, work - paced) : work, .waits_s = paced + before};
}

double fill_seconds(const Recipe& recipe, const Synthesis& synthesis) {
  double seconds = 0;
  for (const Role role : volumes_of(recipe)) {
    seconds += creation_seconds(synthesis.initial(role).totals());
  }
  return seconds;
}

namespace {

// `cut`: the phase may end in the middle of the step.
bool changes_files(const FileStep& step, bool cut) {
  switch (step.kind) {
    case StepKind::create:
    case StepKind::append:
    case StepKind::rename:
    case StepKind::copy:
    case StepKind::remove:
      return true;
    case StepKind::read:
    case StepKind::overwrite:
    case StepKind::replace:
    case StepKind::stat:
    case StepKind::list:
      return false;
    case StepKind::rewrite:
      return cut;
  }
  return true;
}

bool changes_files(const RecipeThreads& threads, bool cut) {
  if (threads.access && threads.access->truncate) return true;
  return std::ranges::any_of(threads.choices, [cut](const StepChoice& choice) {
    return std::ranges::any_of(choice.steps,
                               [cut](const FileStep& step) { return changes_files(step, cut); });
  });
}

// Whether a later phase uses files that this phase creates or resizes.
bool must_complete(const Recipe& recipe, std::size_t phase) {
  for (const RecipeThreads& threads : recipe.phases[phase].threads) {
    if (!changes_files(threads, true)) continue;
    for (std::size_t later = phase + 1; later < recipe.phases.size(); ++later) {
      for (const RecipeThreads& other : recipe.phases[later].threads) {
        if (other.files == threads.files) return true;
      }
    }
  }
  return false;
}

// With a time limit alone a phase would repeat: a phase that ended after one pass keeps this end.
void end_after_one_pass(RecipePhase& phase) {
  StopRule& stop = phase.stop;
  if (stop.operations == 0 && stop.bytes == 0 && stop.passes == 0) stop.passes = 1;
}

void take_smaller(std::optional<DirectAccess>& least, DirectAccess access) {
  if (!least) {
    least = access;
    return;
  }
  least->size = std::min(least->size, access.size);
  least->align = std::min(least->align, access.align);
}

// Whether the threads do the same as fio at block level: a single kind of access.
bool is_like_fio(const RecipeThreads& threads) {
  const AccessMix& mix = *threads.access;
  const auto pure = [](std::uint32_t share) { return share == 0 || share == 100'000; };
  const bool alike = mix.sizes.size() == 1 && pure(mix.reads) && mix.ratio == 0 &&
                     pure(mix.random) && mix.hot.kind == HotSpots::Kind::uniform;
  const bool one_stream = mix.random > 0 || threads.count == 1;
  const bool alone = !threads.write_through && threads.sync.every == 0 && threads.think_ns == 0 &&
                     threads.rate == 0 && !mix.truncate;
  return threads.direct && alike && one_stream && alone &&
         baseline_block_size(mix.sizes.front().size) == mix.sizes.front().size;
}

AccessShape shape_of(const RecipeThreads& threads) {
  const AccessMix& mix = *threads.access;
  AccessShape shape;
  shape.random = mix.random >= 50'000;
  shape.block_size = std::ranges::max_element(mix.sizes, {}, &SizeShare::share)->size;
  const bool reads = mix.reads > 0 || mix.ratio > 0;
  // Random reads have one request in flight per waiting thread.
  const bool waits = threads.direct || threads.write_through || (shape.random && reads);
  shape.depth = waits ? std::max(1U, threads.count * threads.depth) : kCachedDepth;
  return shape;
}

}  // namespace

std::vector<std::string> set_time(Recipe& recipe, std::uint64_t time_ns) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < recipe.phases.size(); ++i) {
    RecipePhase& phase = recipe.phases[i];
    if (phase.stop.time_ns == 0 && must_complete(recipe, i)) {
      kept.push_back(phase.name);
      continue;
    }
    if (time_ns < phase.stop.time_ns) {
      const double share = static_cast<double>(time_ns) / static_cast<double>(phase.stop.time_ns);
      phase.warm_up_ns = static_cast<std::uint64_t>(static_cast<double>(phase.warm_up_ns) * share);
    }
    if (phase.stop.time_ns == 0) end_after_one_pass(phase);
    phase.stop.time_ns = time_ns;
  }
  return kept;
}

bool start_from_same_files(const Recipe& a, const Recipe& b) {
  const auto same = [](const RecipeFiles& files, const RecipeFiles& other) {
    return files.name == other.name && files.set == other.set && files.count == other.count &&
           files.size == other.size && files.fill == other.fill &&
           files.compressed_permille == other.compressed_permille &&
           files.per_directory == other.per_directory && files.exist == other.exist &&
           files.volumes == other.volumes;
  };
  return a.seed == b.seed && a.scale == b.scale && std::ranges::equal(a.files, b.files, same);
}

bool changes_files(const Recipe& recipe) {
  return std::ranges::any_of(recipe.phases, [](const RecipePhase& phase) {
    const bool cut = phase.stop.time_ns > 0;
    return std::ranges::any_of(
        phase.threads, [cut](const RecipeThreads& threads) { return changes_files(threads, cut); });
  });
}

bool only_reads(const RecipePhase& phase) {
  const auto reads = [](const FileStep& step) {
    return step.kind == StepKind::read || step.kind == StepKind::stat ||
           step.kind == StepKind::list;
  };
  return std::ranges::none_of(phase.threads, [&](const RecipeThreads& threads) {
    if (threads.access) return writes(*threads.access) || threads.access->truncate;
    return std::ranges::any_of(threads.choices, [&](const StepChoice& choice) {
      return !std::ranges::all_of(choice.steps, reads);
    });
  });
}

std::optional<DirectAccess> smallest_direct_access(const Recipe& recipe) {
  std::optional<DirectAccess> least;
  for (const RecipePhase& phase : recipe.phases) {
    for (const RecipeThreads& threads : phase.threads) {
      if (!threads.direct) continue;
      if (threads.access) {
        for (const SizeShare& share : threads.access->sizes) {
          const std::uint64_t align =
              threads.access->align > 0 ? threads.access->align : share.size;
          take_smaller(least, {share.size, std::min(align, share.size)});
        }
      }
      for (const StepChoice& choice : threads.choices) {
        for (const FileStep& step : choice.steps) take_smaller(least, {step.block, step.block});
      }
    }
  }
  return least;
}

bool fills_volume(const Recipe& recipe) {
  return std::ranges::any_of(recipe.files, [](const RecipeFiles& files) { return files.fill > 0; });
}

bool wants_uring(const Recipe& recipe) {
  return std::ranges::any_of(recipe.phases, [](const RecipePhase& phase) {
    if (phase.engine == RequestEngine::blocking) return false;
    return phase.engine == RequestEngine::io_uring || phase.poll ||
           std::ranges::any_of(phase.threads,
                               [](const RecipeThreads& threads) { return threads.depth > 1; });
  });
}

bool wants_polling(const Recipe& recipe) {
  return std::ranges::any_of(recipe.phases, &RecipePhase::poll);
}

std::optional<AccessShape> access_shape(const RecipePhase& phase) {
  for (const RecipeThreads& threads : phase.threads) {
    if (threads.access) {
      AccessShape shape = shape_of(threads);
      shape.latency_comparable = phase.threads.size() == 1 && is_like_fio(threads);
      return shape;
    }
    for (const StepChoice& choice : threads.choices) {
      for (const FileStep& step : choice.steps) {
        if (moves_content(step.kind)) return AccessShape{false, step.block, kCachedDepth};
      }
    }
  }
  return std::nullopt;
}

bool has_accesses(const RecipePhase& phase) {
  return std::ranges::any_of(
      phase.threads, [](const RecipeThreads& threads) { return threads.access.has_value(); });
}

}  // namespace filereel

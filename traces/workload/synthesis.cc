#include "traces/workload/synthesis.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <initializer_list>
#include <map>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/random.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "traces/workload/group_layout.h"

namespace filereel {
namespace {

// Files of one group held open by each thread of an access mix.
constexpr std::size_t kMostOpen = 16 * 1024;
// For all threads of a phase: four times the kernel's default per process.
constexpr std::uint64_t kMostOpenTogether = 1 << 22;

bool has_step(const RecipeThreads& threads, StepKind kind) {
  return std::ranges::any_of(threads.choices, [kind](const StepChoice& choice) {
    return contains(choice.steps, kind, &FileStep::kind);
  });
}

// The bytes that the threads read and write in one pass over the files, as moved_bytes() counts
// them: on average if they choose between steps.
std::uint64_t bytes_of_steps(const RecipeThreads& threads, const GroupLayout& files) {
  constexpr double kAll = 100'000;
  double bytes = 0;
  for (const StepChoice& choice : threads.choices) {
    for (const FileStep& step : choice.steps) {
      if (!moves_content(step.kind)) continue;
      const std::uint64_t moved =
          step.kind == StepKind::append ? step.size * files.files() : files.bytes();
      bytes += static_cast<double>(moved) * choice.share / kAll;
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

// Whether the predicate holds for some threads of the group.
bool any_threads(const Recipe& recipe, std::size_t group, const auto& is_true) {
  return std::ranges::any_of(recipe.phases, [&](const RecipePhase& phase) {
    return std::ranges::any_of(phase.threads, [&](const RecipeThreads& threads) {
      return threads.files == group && is_true(threads);
    });
  });
}

bool has_step(const Recipe& recipe, std::size_t group, StepKind kind) {
  return any_threads(recipe, group, [kind](const auto& one) { return has_step(one, kind); });
}

GroupUse use_of(const Recipe& recipe, std::size_t group) {
  return {
      .accesses = any_threads(recipe, group, [](const auto& one) { return !!one.access; }),
      .steps = any_threads(recipe, group, [](const auto& one) { return !one.access; }),
      .copies = has_step(recipe, group, StepKind::copy),
      .renames = has_step(recipe, group, StepKind::rename),
      .replaces = has_step(recipe, group, StepKind::replace),
  };
}

// Whether accesses of the phase create the group's files, which creates no directories.
bool is_made_by_access(const Recipe& recipe, std::size_t group) {
  return any_threads(recipe, group, [](const RecipeThreads& threads) {
    return threads.access && threads.access->truncate;
  });
}

// Part `number` of `count` almost equal parts.
std::uint64_t part_of(std::uint64_t whole, std::uint64_t number, std::uint64_t count) {
  return whole / count + (number < whole % count ? 1 : 0);
}

// The kinds of operations used by threads of a workload.
std::bitset<kOperationKinds> kinds_of(const RecipePhase& phase) {
  std::bitset<kOperationKinds> kinds;
  const auto add = [&kinds](std::initializer_list<OperationKind> some) {
    for (const OperationKind kind : some) kinds.set(static_cast<std::size_t>(kind));
  };
  using enum OperationKind;
  add({open, close, read, write, sync, sync_data});
  for (const RecipeThreads& threads : phase.threads) {
    if (threads.think_ns > 0 || threads.rate > 0) add({pace});
    if (!threads.access) add({barrier, make_directory, unlink, rename, stat, list});
  }
  return kinds;
}

}  // namespace

void share_recipe(Recipe& recipe, std::uint32_t parts) {
  for (RecipePhase& phase : recipe.phases) {
    phase.stop.operations *= parts;
    phase.stop.bytes *= parts;
    for (RecipeThreads& threads : phase.threads) {
      threads.count *= parts;
      if (!threads.access) continue;
      if (threads.access->truncate) {
        throw Error(ErrorKind::usage,
                    fmt::format("files cannot be shared: phase '{}' truncates them as it opens "
                                "them; omit --share",
                                printable(phase.name)));
      }
      threads.access->disjoint = threads.access->disjoint || writes(*threads.access);
    }
  }
}

struct Synthesis::State {
  // The state of one volume.
  struct VolumeState {
    std::map<std::size_t, GroupLayout> groups;  // by number in the recipe
    FileSet initial, largest;
  };

  const Recipe& recipe;
  SynthesisOptions options;
  PathTable paths;
  TextTable texts;
  FileSet all = empty_set();  // of all volumes, in sequence
  std::array<VolumeState, kRoles> volumes;

  State(const Recipe& what, const SynthesisOptions& how) : recipe(what), options(how) {
    for (std::size_t role = 0; role < kRoles; ++role) {
      volumes[role].initial = volumes[role].largest = empty_set();
      add_volume(static_cast<Role>(role), volumes[role]);
    }
  }

  FileSet empty_set() const {
    FileSet set;
    set.name = "workload";
    set.seed = recipe.seed;
    return set;
  }

  void add_volume(Role role, VolumeState& volume) {
    const std::size_t first = all.entries.size();
    bool all_exist = true;
    for (std::size_t i = 0; i < recipe.files.size(); ++i) {
      const RecipeFiles& files = recipe.files[i];
      if (!contains(files.volumes, role)) continue;
      const auto added = volume.groups.emplace(
          i, GroupLayout(files, recipe, use_of(recipe, i), options.free_bytes, all, paths));
      const GroupLayout& group = added.first->second;
      check_open_files(i, group);
      all_exist = all_exist && group.exists();
    }
    if (volume.groups.empty()) return;
    volume.largest.entries = entries_from(first);
    if (all_exist) {
      volume.initial.entries = volume.largest.entries;
    } else {
      for (const auto& [number, group] : volume.groups) {
        group.add_initial(all, is_made_by_access(recipe, number) || options.shared, volume.initial);
      }
    }
    for (const auto& [number, group] : volume.groups) add_largest(number, group, first, volume);
  }

  // The last entries of all volumes.
  EntryList entries_from(std::size_t first) const {
    if (first == 0) return all.entries;  // shared
    EntryList entries;
    for (std::size_t i = first; i < all.entries.size(); ++i) entries.push_back(all.entries[i]);
    return entries;
  }

  // The layout of a group is the same on all its volumes.
  const GroupLayout& layout(std::size_t group) const {
    return layout(group, recipe.files[group].volumes.front());
  }
  const GroupLayout& layout(std::size_t group, Role volume) const {
    return volumes[static_cast<std::size_t>(volume)].groups.at(group);
  }
  std::uint64_t volumes_of(const RecipeThreads& threads) const {
    return recipe.files[threads.files].volumes.size();
  }

  void check_open_files(std::size_t group, const GroupLayout& layout) const {
    const std::size_t files = layout.access_files().size();
    const bool opened =
        any_threads(recipe, group, [](const auto& threads) { return threads.access.has_value(); });
    if (!opened || files <= kMostOpen) return;
    throw Error(
        ErrorKind::unusable_input,
        fmt::format("access to '{}' would keep {} open, but at most {} are allowed: use "
                    "fewer and larger files",
                    printable(recipe.files[group].name), counted(files, "file"), kMostOpen));
  }

  // The maximum that the phases can append to one file of the group, as far as their limits
  // determine it.
  std::uint64_t appended(std::size_t group, std::uint64_t files) const {
    constexpr std::uint64_t kMost = 1ull << 50;
    double bytes = 0;
    for (const RecipePhase& phase : recipe.phases) {
      const std::uint64_t turns =
          phase.stop.operations > 0 ? phase.stop.operations / files + 1 : phase.stop.passes;
      const auto times = static_cast<double>(std::max<std::uint64_t>(1, turns));
      for (const RecipeThreads& threads : phase.threads) {
        if (threads.files != group) continue;
        for (const StepChoice& choice : threads.choices) {
          for (const FileStep& step : choice.steps) bytes += static_cast<double>(step.size) * times;
        }
      }
    }
    return static_cast<std::uint64_t>(std::min(bytes, static_cast<double>(kMost)));
  }

  // Adds copies, files to be renamed over others, and appended data. `first`: the number of the
  // volume's first entry.
  void add_largest(std::size_t group, const GroupLayout& layout, std::size_t first,
                   VolumeState& volume) const {
    EntryList& entries = volume.largest.entries;
    const std::uint64_t more = appended(group, layout.files());
    for (const StepFile& file : layout.step_files()) {
      if (more > 0) entries.set_size(file.entry - first, file.size + more);
    }
    const GroupUse use = use_of(recipe, group);
    for (const StepFile& file : layout.step_files()) {
      const auto add = [&](PathId path) {
        Entry entry = entries.without_path(file.entry - first);
        entry.path = paths.relative(path);
        entries.push_back(entry);
      };
      if (use.copies) add(file.copy);
      if (use.replaces) add(file.beside);
    }
  }

  // Threads of the group with work, per volume: threads that process files are limited by the
  // number of files.
  std::uint32_t working(const RecipeThreads& threads) const {
    if (threads.access) return threads.count;
    const std::uint64_t files = layout(threads.files).files();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(threads.count, files));
  }

  void check_zones() const {
    for (const RecipePhase& phase : recipe.phases) {
      for (const RecipeThreads& threads : phase.threads) {
        if (threads.access) check_zone(*threads.access, space_of(threads).bytes(), threads.count);
      }
    }
  }

  // Without support by the volume, accesses go through the page cache at the same positions.
  const FileSpace& space_of(const RecipeThreads& threads) const {
    return layout(threads.files).space(threads.direct);
  }

  // Whether the phase is the first to create the group's files, and therefore creates directories,
  // too.
  bool makes_directories(std::size_t phase, const RecipeThreads& threads) const {
    if (options.shared) return false;  // clients do not wait for each other in a phase
    if (recipe.files[threads.files].exist || !has_step(threads, StepKind::create)) return false;
    for (std::size_t before = 0; before < phase; ++before) {
      for (const RecipeThreads& other : recipe.phases[before].threads) {
        if (other.files == threads.files && has_step(other, StepKind::create)) return false;
      }
    }
    return true;
  }

  // Requests in flight may have become threads.
  void check_threads(const RecipePhase& phase) const {
    std::uint64_t threads = 0, files = 0;
    for (const RecipeThreads& group : phase.threads) {
      threads +=
          group.count / options.parts * volumes_of(group) * (blocks(phase) ? group.depth : 1);
      if (group.access) files = std::max<std::uint64_t>(files, space_of(group).files());
    }
    if (threads > kMostPhaseThreads) {
      throw Error(
          ErrorKind::unusable_input,
          fmt::format("phase '{}' needs {} for its queue depth without io_uring, "
                      "but at most {} are allowed: use fewer threads or a lower depth",
                      printable(phase.name), counted(threads, "thread"), kMostPhaseThreads));
    }
    if (threads * files <= kMostOpenTogether) return;
    throw Error(ErrorKind::unusable_input,
                fmt::format("phase '{}' would keep {} open in each of {}, but at most {} "
                            "are allowed in total: use fewer threads or larger files",
                            printable(phase.name), counted(files, "file"),
                            counted(threads, "thread"), kMostOpenTogether));
  }

  // Barriers require all threads of the phase.
  void check_barriers(std::size_t phase) const {
    const RecipePhase& what = recipe.phases[phase];
    for (const RecipeThreads& threads : what.threads) {
      if (what.threads.size() < 2 || !makes_directories(phase, threads)) continue;
      if (layout(threads.files).directories().empty()) continue;
      throw Error(ErrorKind::unusable_input,
                  fmt::format("phase '{}' creates directories while other threads do something "
                              "else: create the files in a separate phase",
                              printable(what.name)));
    }
  }

  // Whether the thread belongs to this part.
  bool is_own(const RecipeThreads& threads, std::uint32_t thread) const {
    return thread / (threads.count / options.parts) == options.part;
  }

  // Whether each request in flight is a blocking thread.
  bool blocks(const RecipePhase& phase) const {
    return options.depth_as_threads || phase.engine == RequestEngine::blocking;
  }

  void add_access(Trace& trace, const RecipePhase& phase, const RecipeThreads& threads, Role volume,
                  std::uint32_t thread, const StopRule& stop, std::uint64_t seed) const {
    const GroupLayout& group = layout(threads.files, volume);
    // A single thread creates files that are truncated.
    const bool many = blocks(phase) && !threads.access->truncate;
    const std::uint32_t turns = many ? threads.depth : 1;
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      trace.threads.push_back(make_access_source({.threads = threads,
                                                  .files = group.access_files(),
                                                  .space = space_of(threads),
                                                  .direct = threads.direct && options.direct,
                                                  .thread = thread,
                                                  .seed = seed,
                                                  .spots_seed = recipe.seed,
                                                  .turn = turn,
                                                  .turns = turns,
                                                  .operations = stop.operations,
                                                  .bytes = stop.bytes,
                                                  .passes = stop.passes}));
      trace.depths.push_back(blocks(phase) ? 1 : threads.depth);
      trace.volumes.push_back(volume);
    }
  }

  void add_steps(Trace& trace, const RecipeThreads& threads, Role volume, std::uint32_t thread,
                 const StopRule& stop, std::uint64_t seed, bool directories) const {
    const GroupLayout& group = layout(threads.files, volume);
    StepJob job{.threads = threads,
                .files = group.step_files(),
                .directories = {},
                .thread = thread,
                .threads_of_group = working(threads),
                .seed = seed,
                .operations = stop.operations,
                .bytes = stop.bytes,
                .passes = stop.passes};
    if (directories) job.directories = group.directories();
    trace.threads.push_back(make_step_source(job));
    trace.depths.push_back(1);
    trace.volumes.push_back(volume);
  }
};

Synthesis::Synthesis(const Recipe& recipe, const SynthesisOptions& options)
    : state_(std::make_unique<State>(recipe, options)) {
  state_->check_zones();
  for (std::size_t phase = 0; phase < recipe.phases.size(); ++phase) {
    state_->check_threads(recipe.phases[phase]);
    state_->check_barriers(phase);
  }
}
Synthesis::~Synthesis() = default;

const FileSet& Synthesis::initial(Role volume) const {
  return state_->volumes[static_cast<std::size_t>(volume)].initial;
}

const FileSet& Synthesis::largest(Role volume) const {
  return state_->volumes[static_cast<std::size_t>(volume)].largest;
}

const PathTable& Synthesis::paths() const {
  return state_->paths;
}

Trace Synthesis::trace(std::size_t phase) const {
  const RecipePhase& what = state_->recipe.phases[phase];
  Trace trace;
  trace.paths = &state_->paths;
  trace.texts = &state_->texts;
  trace.files = &state_->all;
  trace.slots = kStepSlots;
  trace.overlapping = true;
  trace.kinds = kinds_of(what);
  std::uint64_t threads_of_all = 0, number = 0;
  for (const RecipeThreads& threads : what.threads) {
    threads_of_all += state_->working(threads) * state_->volumes_of(threads);
  }
  for (const RecipeThreads& threads : what.threads) {
    const bool directories = state_->makes_directories(phase, threads);
    if (threads.access) {
      const auto files = state_->layout(threads.files).access_files().size();
      trace.slots = std::max(trace.slots, static_cast<FileSlot>(files));
      for (const SizeShare& share : threads.access->sizes) {
        trace.largest_io = std::max(trace.largest_io, share.size);
      }
    } else {
      trace.largest_io = std::max(trace.largest_io, largest_block(threads));
    }
    const auto add = [&](Role volume, std::uint32_t thread) {
      if (!state_->is_own(threads, thread)) return;
      StopRule stop = what.stop;
      stop.operations = part_of(stop.operations, number, threads_of_all);
      stop.bytes = part_of(stop.bytes, number, threads_of_all);
      // A thread with an empty part does nothing.
      if (what.stop.operations > 0 && stop.operations == 0) return;
      if (what.stop.bytes > 0 && stop.bytes == 0) return;
      const bool limited = stop.time_ns > 0 || stop.operations > 0 || stop.bytes > 0;
      if (!limited && stop.passes == 0) stop.passes = 1;
      const std::uint64_t seed = mix_seed(mix_seed(state_->recipe.seed, phase), number);
      if (threads.access) {
        state_->add_access(trace, what, threads, volume, thread, stop, seed);
      } else {
        state_->add_steps(trace, threads, volume, thread, stop, seed, directories);
      }
    };
    for (const Role volume : state_->recipe.files[threads.files].volumes) {
      for (std::uint32_t thread = 0; thread < state_->working(threads); ++thread, ++number) {
        add(volume, thread);
      }
    }
  }
  if (volumes_of(state_->recipe, what) == std::vector{Role::near}) trace.volumes.clear();
  return trace;
}

bool Synthesis::queues(std::size_t phase) const {
  const RecipePhase& what = state_->recipe.phases[phase];
  if (state_->blocks(what)) return false;
  const bool deep = std::ranges::any_of(
      what.threads, [](const RecipeThreads& threads) { return threads.depth > 1; });
  return deep || what.poll || what.engine == RequestEngine::io_uring;
}

std::uint64_t Synthesis::bytes(std::size_t phase) const {
  const RecipePhase& what = state_->recipe.phases[phase];
  const std::uint32_t parts = state_->options.parts;
  if (what.stop.bytes > 0) return what.stop.bytes / parts;
  const bool by_time = what.stop.time_ns > 0 && what.stop.passes == 0;
  if (by_time || what.stop.operations > 0) return 0;
  std::uint64_t bytes = 0;
  for (const RecipeThreads& threads : what.threads) {
    bytes += state_->volumes_of(threads) *
             (threads.access
                  ? bytes_of_pass(*threads.access, state_->space_of(threads).bytes(), threads.count)
                  : bytes_of_steps(threads, state_->layout(threads.files)));
  }
  return bytes / parts * std::max<std::uint64_t>(1, what.stop.passes);
}

std::uint64_t Synthesis::files(std::size_t group) const {
  return state_->layout(group).files();
}

}  // namespace filereel

#include "traces/workload/threads_reader.h"

#include <algorithm>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "traces/workload/access_pattern.h"
#include "traces/workload/access_reader.h"

namespace filereel {
namespace {

using Choices = std::vector<StepChoice>;

constexpr std::size_t kMostItems = 1000;
constexpr std::uint64_t kMostThreads = 1024, kMostDepth = 256;
constexpr std::uint64_t kMostBlock = 1 << 30, kMostAppended = 1ull << 44;

constexpr std::array<Words<StepKind>, 11> kSteps = {{{"create", StepKind::create},
                                                     {"read", StepKind::read},
                                                     {"overwrite", StepKind::overwrite},
                                                     {"rewrite", StepKind::rewrite},
                                                     {"append", StepKind::append},
                                                     {"replace", StepKind::replace},
                                                     {"rename", StepKind::rename},
                                                     {"copy", StepKind::copy},
                                                     {"stat", StepKind::stat},
                                                     {"list", StepKind::list},
                                                     {"remove", StepKind::remove}}};
constexpr std::array<Words<FileOrder>, 3> kOrders = {{{"given", FileOrder::given},
                                                      {"shuffled", FileOrder::shuffled},
                                                      {"random", FileOrder::random}}};

// Follows one file through the steps.
class FileFate {
 public:
  explicit FileFate(GroupState state) : state_(state) {}

  void take(const FileStep& step, const YamlValue& where) {
    // Interrupted, these leave a smaller file.
    cut_matters_ = cut_matters_ || step.kind == StepKind::rewrite ||
                   step.kind == StepKind::create || step.kind == StepKind::remove;
    if (step.kind == StepKind::create) {
      if (state_ != GroupState::absent)
        where.fail("creates files that already exist: remove them first");
      state_ = GroupState::present;
      return;
    }
    if (state_ == GroupState::absent)
      where.fail("needs files that do not exist: create them first");
    switch (step.kind) {
      case StepKind::append:
      case StepKind::rename:
        state_ = GroupState::changed;
        break;
      case StepKind::remove:
        state_ = GroupState::absent;
        break;
      default:
        break;
    }
  }

  // Applies an alternative choice, which must leave the file in the same state.
  void take_choice(const FileFate& other) {
    if (other.state_ == GroupState::changed) state_ = GroupState::changed;
    cut_matters_ = cut_matters_ || other.cut_matters_;
  }

  GroupState state() const { return state_; }
  bool cut_matters() const { return cut_matters_; }

 private:
  GroupState state_;
  bool cut_matters_ = false;
};

FileStep read_step(const YamlValue& value, Sweep& sweep) {
  FileStep step;
  if (!value.is_map()) {
    step.kind = meaning_of(value, kSteps);
  } else {
    const SweptMap map(value.map({"step", "block", "size", "sync"}), sweep);
    step.kind = meaning_of(map.whole("step") ? *map.one("step") : value, kSteps);
    map.read_size("block", step.block);
    if (step.block > kMostBlock) map.one("block")->fail("must be at most 1 GiB");
    if (map.has("block") && !moves_content(step.kind)) {
      map.one("block")->fail("applies only to steps that read or write");
    }
    map.read_size("size", step.size);
    if (step.size > kMostAppended) map.one("size")->fail("must be at most 16 TiB");
    map.read("sync", step.sync, read_step_sync);
    if (map.has("sync") && (!moves_content(step.kind) || step.kind == StepKind::read)) {
      map.one("sync")->fail("applies only to steps that write");
    }
    if (step.kind != StepKind::append && step.size > 0)
      value.fail("has a size, which applies only to append");
  }
  if (step.kind == StepKind::append && step.size == 0) {
    value.fail("needs a size: {step: append, size: 4 KiB}");
  }
  return step;
}

std::vector<FileStep> read_steps(const YamlValue& list, Sweep& sweep, FileFate& fate) {
  std::vector<FileStep> steps;
  for (const YamlValue& item : list.list(kMostItems)) {
    steps.push_back(read_step(item, sweep));
    fate.take(steps.back(), item);
  }
  if (steps.empty()) list.fail("is empty: add at least one step");
  return steps;
}

// The steps of the threads, and the state in which they leave the files.
Choices read_choices(const SweptMap& map, GroupState before, FileFate& fate) {
  if (const YamlValue* const list = map.whole("do")) {
    return {{.steps = read_steps(*list, map.sweep(), fate)}};
  }
  const YamlValue& list = *map.whole("choose");
  Choices choices;
  for (const YamlValue& item : list.list(kMostItems)) {
    const SweptMap one(item.map({"share", "do"}), map.sweep());
    StepChoice choice;
    one.read_share("share", choice.share);
    FileFate own(before);
    if (!one.whole("do")) item.fail("lacks the key 'do'");
    choice.steps = read_steps(*one.whole("do"), map.sweep(), own);
    if ((own.state() == GroupState::absent) != (before == GroupState::absent)) {
      item.fail(
          "creates or removes files, which a choice cannot do: the other choices expect the same "
          "files");
    }
    fate.take_choice(own);
    choices.push_back(std::move(choice));
  }
  if (choices.empty()) list.fail("is empty: add at least one choice");
  check_shares(list, choices);
  return choices;
}

double read_rate(const YamlValue& value) {
  const std::string text = value.text();
  std::string_view rest = text;
  double rate = 0;
  if (!take_number(rest, rate) || (rest != "/s" && rest != " /s") || !(rate > 0 && rate <= 1e9)) {
    value.fail(fmt::format("must be a rate such as 100/s, not '{}'", printable(text)));
  }
  return rate;
}

// The group named by `map`; default: the first one.
std::uint32_t group_of(const SweptMap& map, const Recipe& recipe) {
  const std::optional<YamlValue> name = map.one("files");
  if (!name) return 0;
  const auto found = std::ranges::find(recipe.files, name->text(), &RecipeFiles::name);
  if (found != recipe.files.end()) return static_cast<std::uint32_t>(found - recipe.files.begin());
  name->fail(fmt::format("is not a group of files: unknown group '{}'", printable(name->text())));
}

constexpr std::string_view kChanged =
    "uses files that an earlier phase extended or renamed, or rewrote until its time ended: run "
    "the "
    "phases in the other order, or give each a group of its own under 'files'";

void read_do(const SweptMap& map, const RecipePhase& phase, RecipeThreads& threads,
             GroupState& state) {
  if (state == GroupState::changed) {
    map.self().fail(kChanged);
  }
  FileFate fate(state);
  threads.choices = read_choices(map, state, fate);
  if (threads.depth > 1) {
    map.one("depth")->fail("applies to access: the steps of a file run in sequence");
  }
  const StopRule& stop = phase.stop;
  const bool cut = stop.time_ns > 0 || stop.operations > 0 || stop.bytes > 0;
  const bool repeats = stop.passes > 1 || cut || threads.order == FileOrder::random;
  const bool makes =
      state != fate.state() && (state == GroupState::absent || fate.state() == GroupState::absent);
  if (makes && repeats) {
    map.self().fail(
        "creates or removes files: it needs a single pass in an order that takes each file once, "
        "without a limit of time, operations or bytes");
  }
  // The other limits end between two files.
  state = stop.time_ns > 0 && fate.cut_matters() ? GroupState::changed : fate.state();
}

// For groups with a known size; others are checked later.
void check_room(const YamlValue& access, const RecipeThreads& threads, const RecipeFiles& files) {
  if (files.size == 0) return;
  const std::uint64_t bytes = FileSpace::used(files.size, threads.direct) * files.count;
  try {
    check_zone(*threads.access, bytes, threads.count);
  } catch (const Error& error) {
    access.fail(fmt::format("is too large: {}", error.what()));
  }
}

void read_access_of(const SweptMap& map, const RecipePhase& phase, RecipeThreads& threads,
                    GroupState& state, const RecipeFiles& files) {
  threads.access = read_access(*map.whole("access"), map.sweep(), files, threads.direct);
  if (threads.access->truncate) {
    const StopRule& stop = phase.stop;
    const bool whole = stop.time_ns == 0 && stop.operations == 0 && stop.bytes == 0 &&
                       phase.warm_up_ns == 0 && threads.count == 1;
    if (!whole) {
      map.whole("access")->fail(
          "truncates the files: it needs one thread and whole passes without another limit");
    }
    state = GroupState::present;
  } else if (state != GroupState::present) {
    map.self().fail(state == GroupState::absent
                        ? "uses files that do not exist: create them in an earlier phase"
                        : kChanged);
  }
  check_room(*map.whole("access"), threads, files);
  if (map.has("order")) map.one("order")->fail("applies to steps: access defines its own order");
}

}  // namespace

std::string_view step_word(StepKind kind) {
  return std::ranges::find(kSteps, kind, &Words<StepKind>::second)->first;
}

bool disturbs_others(const RecipeThreads& threads) {
  if (threads.access) return threads.access->truncate;
  return std::ranges::any_of(threads.choices, [](const StepChoice& choice) {
    return std::ranges::any_of(choice.steps, [](const FileStep& step) {
      return step.kind != StepKind::read && step.kind != StepKind::overwrite &&
             step.kind != StepKind::stat && step.kind != StepKind::list;
    });
  });
}

RecipeThreads read_threads(const SweptMap& map, const Recipe& recipe, const RecipePhase& phase,
                           std::vector<GroupState>& states) {
  RecipeThreads threads;
  map.read_number("count", threads.count, 1, kMostThreads);
  map.read_number("depth", threads.depth, 1, kMostDepth);
  map.read_truth("direct", threads.direct);
  map.read_truth("write_through", threads.write_through);
  map.read_duration("think", threads.think_ns);
  map.read("rate", threads.rate, read_rate);
  if (map.has("rate") && map.has("think")) {
    map.one("think")->fail("cannot be combined with 'rate', which sets when accesses start");
  }
  if (threads.think_ns > 0 && threads.depth > 1) {
    map.one("think")->fail(
        "needs a depth of 1: there are no pauses with several requests in flight");
  }
  map.read("order", threads.order,
           [](const YamlValue& value) { return meaning_of(value, kOrders); });
  threads.files = group_of(map, recipe);
  if (const YamlValue* const sync = map.whole("sync")) {
    threads.sync = read_sync(*sync, map.sweep());
  }
  const int kinds = (map.whole("access") != nullptr) + (map.whole("do") != nullptr) +
                    (map.whole("choose") != nullptr);
  if (kinds != 1) map.self().fail("needs exactly one of 'access', 'do' and 'choose'");
  GroupState& state = states[threads.files];
  if (map.whole("access")) {
    read_access_of(map, phase, threads, state, recipe.files[threads.files]);
  } else {
    read_do(map, phase, threads, state);
    if (threads.direct) map.one("direct")->fail("applies to access: steps use the page cache");
    if (threads.write_through)
      map.one("write_through")->fail("applies to access: use the sync of a step instead");
    if (map.whole("sync"))
      map.whole("sync")->fail("applies to access: use the sync of a step instead");
  }
  return threads;
}

}  // namespace filereel

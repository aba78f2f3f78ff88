#include "traces/workload/threads_reader.h"

#include <algorithm>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "traces/workload/access_pattern.h"

namespace filereel {
namespace {

constexpr std::size_t kMostSizes = 1000;
constexpr std::uint64_t kMostSize = 1 << 30;

constexpr std::array<Words<SyncKind>, 2> kSyncs = {
    {{"fsync", SyncKind::sync}, {"fdatasync", SyncKind::sync_data}}};
constexpr std::array<Words<SyncKind>, 3> kStepSyncs = {
    {{"none", SyncKind::none}, {"fsync", SyncKind::sync}, {"fdatasync", SyncKind::sync_data}}};

std::uint64_t read_size_of(const YamlValue& value, const RecipeFiles& files, bool direct) {
  const std::uint64_t size = value.size();
  if (size == 0 || size > kMostSize) value.fail("must be from 1 B to 1 GiB");
  if (direct && size % kSector != 0) {
    value.fail("must be a multiple of 512 B for direct I/O");
  }
  if (files.size > 0 && size > files.size) {
    value.fail(fmt::format("exceeds the file size of '{}'", printable(files.name)));
  }
  return size;
}

// Removes "zipf" from "zipf 0.99" and returns the rest without blanks; nullopt for another word.
std::optional<std::string_view> after_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

HotSpots read_hot(const YamlValue& value) {
  const std::string text = value.text();
  if (text == "uniform") return {};
  if (const auto rest = after_word(text, "zipf")) {
    const auto exponent = parse_number_in<double>(*rest, 0, 5);
    if (exponent && *exponent > 0) return {HotSpots::Kind::zipf, *exponent};
  } else if (const auto share = after_word(text, "normal"); share && share->ends_with('%')) {
    const double deviation = value.with_text(std::string(*share)).share() / 100'000.0;
    if (deviation > 0) return {HotSpots::Kind::normal, deviation};
  }
  value.fail(
      fmt::format("must be uniform, zipf with an exponent of at most 5 (zipf 0.99) or normal with "
                  "a standard deviation (normal 10 %), not '{}'",
                  printable(text)));
}

// "20 % to 40 %".
void read_zone(const YamlValue& value, AccessMix& mix) {
  const std::string text = value.text();
  const std::size_t middle = text.find(" to ");
  if (middle == std::string::npos) value.fail("must be a range such as 20 % to 40 %");
  mix.zone_begin = value.with_text(text.substr(0, middle)).share() / 100'000.0;
  mix.zone_end = value.with_text(text.substr(middle + 4)).share() / 100'000.0;
  if (mix.zone_end <= mix.zone_begin) value.fail("has an end that is not after its start");
}

void read_sizes(const SweptMap& map, AccessMix& mix, const RecipeFiles& files, bool direct) {
  const YamlValue* const sizes = map.whole("sizes");
  if ((sizes != nullptr) == (map.whole("size") != nullptr)) {
    map.self().fail("needs either 'size' or 'sizes'");
  }
  if (!sizes) {
    mix.sizes = {{read_size_of(*map.one("size"), files, direct), 100'000}};
    return;
  }
  for (const YamlValue& item : sizes->list(kMostSizes)) {
    const SweptMap one(item.map({"size", "share"}), map.sweep());
    if (!one.whole("size")) item.fail("lacks the key 'size'");
    if (!one.whole("share")) item.fail("lacks the key 'share'");
    mix.sizes.push_back({read_size_of(*one.one("size"), files, direct), one.one("share")->share()});
  }
  if (mix.sizes.empty()) sizes->fail("is empty: add at least one size");
  check_shares(*sizes, mix.sizes);
}

}  // namespace

SyncKind read_step_sync(const YamlValue& value) {
  return meaning_of(value, kStepSyncs);
}

SyncPolicy read_sync(const YamlValue& value, Sweep& sweep) {
  const SweptMap map(value.map({"every", "kind", "files", "at_end"}), sweep);
  SyncPolicy sync;
  map.read_number("every", sync.every, 0, UINT32_MAX);
  map.read("kind", sync.kind, [](const YamlValue& one) { return meaning_of(one, kSyncs); });
  constexpr std::array<Words<bool>, 2> kFiles = {{{"all", true}, {"written", false}}};
  map.read("files", sync.all_files, [&](const YamlValue& one) { return meaning_of(one, kFiles); });
  map.read_truth("at_end", sync.at_end);
  return sync;
}

AccessMix read_access(const YamlValue& value, Sweep& sweep, const RecipeFiles& files, bool direct) {
  const SweptMap map(value.map({"size", "sizes", "reads", "ratio", "random", "align", "zone",
                                "disjoint", "hot", "truncate"}),
                     sweep);
  AccessMix mix;
  read_sizes(map, mix, files, direct);
  map.read_share("reads", mix.reads);
  map.read("ratio", mix.ratio, [](const YamlValue& one) { return one.number(1e-6, 1e6); });
  if (mix.ratio > 0 && map.has("reads"))
    value.fail("has both 'reads' and 'ratio': remove one of them");
  map.read_share("random", mix.random);
  map.read_size("align", mix.align);
  if (direct && mix.align % kSector != 0) map.one("align")->fail("must be a multiple of 512 B");
  if (const auto zone = map.one("zone")) read_zone(*zone, mix);
  map.read_truth("disjoint", mix.disjoint);
  map.read("hot", mix.hot, read_hot);
  map.read_truth("truncate", mix.truncate);
  if (mix.truncate && (mix.reads != 0 || mix.ratio > 0 || mix.random != 0)) {
    value.fail(
        "truncates the files, so it must write sequentially: set reads: 0 % and remove 'random' "
        "and 'ratio'");
  }
  if (mix.truncate && (map.has("zone") || mix.disjoint)) {
    value.fail("truncates all files: remove 'zone' and 'disjoint'");
  }
  return mix;
}

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

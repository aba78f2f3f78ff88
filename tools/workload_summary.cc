#include "tools/workload_summary.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/json.h"
#include "traces/workload/recipe.h"
#include "traces/workload/threads_reader.h"

namespace filereel {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(words, between));
}

double part(std::uint32_t thousandths) {
  return thousandths / 100'000.0;
}
std::string percent_of(double share) {
  return fmt::format("{:.6g} %", share * 100);
}
double seconds_of(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}
std::string time_of(std::uint64_t ns) {
  return format_duration(seconds_of(ns));
}
std::string_view sync_word(SyncKind kind) {
  constexpr std::array<std::string_view, 3> kWords = {"none", "fsync", "fdatasync"};
  return kWords[static_cast<std::size_t>(kind)];
}
std::string_view order_word(FileOrder order) {
  constexpr std::array<std::string_view, 3> kWords = {"given", "shuffled", "random"};
  return kWords[static_cast<std::size_t>(order)];
}
std::string_view engine_word(RequestEngine engine) {
  constexpr std::array<std::string_view, 3> kWords = {"auto", "blocking", "io_uring"};
  return kWords[static_cast<std::size_t>(engine)];
}
std::string_view caches_word(Caches caches) {
  constexpr std::array<std::string_view, 3> kWords = {"cold", "keep", "warm"};
  return kWords[static_cast<std::size_t>(caches)];
}
std::string hot_words(const HotSpots& hot) {
  if (hot.kind == HotSpots::Kind::uniform) return "uniform";
  if (hot.kind == HotSpots::Kind::zipf) return fmt::format("zipf {:.6g}", hot.parameter);
  return "normal " + percent_of(hot.parameter);
}

Words volume_names(const std::vector<Role>& volumes) {
  Words names;
  for (const Role volume : volumes) names.emplace_back(role_name(volume));
  return names;
}

std::string describe_files(const RecipeFiles& files) {
  Words words;
  if (!files.set.empty()) {
    words.push_back("file set " + printable(files.set));
  } else {
    words.push_back(counted(files.count, "file", "files") +
                    (files.fill > 0 ? fmt::format(", {} of the free space", percent_of(files.fill))
                                    : " of " + format_binary_size(files.size)));
    if (files.compressed_permille < 1000) {
      words.push_back(fmt::format("compresses to {:.6g} %", files.compressed_permille / 10.0));
    }
    if (files.per_directory > 0)
      words.push_back(fmt::format("{} per directory", files.per_directory));
  }
  if (!files.exist) words.emplace_back("created by a phase");
  if (files.volumes != std::vector{Role::near}) {
    words.push_back("on " + (files.volumes.empty() ? "all volumes"
                                                   : joined(volume_names(files.volumes), " and ")));
  }
  return joined(words);
}

std::string describe_access(const AccessMix& mix) {
  Words sizes;
  for (const SizeShare& one : mix.sizes) {
    const std::string share = mix.sizes.size() > 1 ? percent_of(part(one.share)) + " " : "";
    sizes.push_back(share + format_binary_size(one.size));
  }
  const auto mixed = [](std::uint32_t share, std::string_view all, std::string_view none,
                        std::string_view some) {
    if (share == 100'000) return std::string(all);
    return share == 0 ? std::string(none) : fmt::format("{} {}", percent_of(part(share)), some);
  };
  const std::string kind = mix.ratio > 0 ? fmt::format("{:.6g} {} per write", mix.ratio,
                                                       mix.ratio == 1 ? "read" : "reads")
                                         : mixed(mix.reads, "reads", "writes", "reads");
  Words words = {fmt::format("{} of {}", kind, joined(sizes, " + ")),
                 mixed(mix.random, "random", "sequential", "random")};
  if (mix.align > 0) words.push_back("aligned to " + format_binary_size(mix.align));
  if (mix.zone_begin > 0 || mix.zone_end < 1) {
    words.push_back(
        fmt::format("zone {} to {}", percent_of(mix.zone_begin), percent_of(mix.zone_end)));
  }
  if (mix.disjoint) words.emplace_back("a separate range per thread");
  if (mix.hot.kind != HotSpots::Kind::uniform) words.push_back(hot_words(mix.hot));
  if (mix.truncate) words.emplace_back("files recreated");
  return joined(words);
}

std::string describe_step_of(const FileStep& step) {
  std::string text(step_word(step.kind));
  if (step.size > 0) text += " " + format_binary_size(step.size);
  if (moves_content(step.kind)) text += " by " + format_binary_size(step.block);
  if (step.sync != SyncKind::none) text += fmt::format(" with {}", sync_word(step.sync));
  return text;
}

std::string describe_choices(const std::vector<StepChoice>& choices) {
  Words all;
  for (const StepChoice& choice : choices) {
    Words steps;
    for (const FileStep& step : choice.steps) steps.push_back(describe_step_of(step));
    const std::string share = choices.size() > 1 ? percent_of(part(choice.share)) + " " : "";
    all.push_back(share + joined(steps));
  }
  return joined(all, "; ");
}

std::string describe_sync(const SyncPolicy& sync) {
  Words when;
  if (sync.every > 0)
    when.push_back(sync.every == 1 ? "every access" : fmt::format("every {} accesses", sync.every));
  if (sync.at_end) when.emplace_back("at the end");
  return fmt::format("{} {}{}", sync_word(sync.kind), joined(when, " and "),
                     sync.all_files ? " of all files" : "");
}

std::string describe_threads(const RecipeThreads& threads, const Recipe& recipe) {
  Words words = {threads.access ? describe_access(*threads.access)
                                : describe_choices(threads.choices)};
  if (threads.order != FileOrder::given) {
    words.push_back(fmt::format("order {}", order_word(threads.order)));
  }
  if (threads.depth > 1) words.push_back(fmt::format("depth {}", threads.depth));
  if (threads.direct) words.emplace_back("direct");
  if (threads.write_through) words.emplace_back("write-through");
  if (threads.sync.every > 0 || threads.sync.at_end) words.push_back(describe_sync(threads.sync));
  if (threads.think_ns > 0) words.push_back("think " + time_of(threads.think_ns));
  if (threads.rate > 0) words.push_back(fmt::format("rate {}/s", threads.rate));
  const RecipeFiles& files = recipe.files[threads.files];
  return fmt::format("{} on {}{}: {}", counted(threads.count, "thread", "threads"),
                     printable(files.name), files.volumes.size() == 1 ? "" : " of each volume",
                     joined(words));
}

std::string describe_phase(const RecipePhase& phase) {
  Words ends;
  if (phase.stop.time_ns > 0) ends.push_back(time_of(phase.stop.time_ns));
  if (phase.stop.operations > 0) {
    ends.push_back(counted(phase.stop.operations, "operation", "operations"));
  }
  if (phase.stop.bytes > 0) ends.push_back(format_binary_size(phase.stop.bytes));
  if (phase.stop.passes > 0) ends.push_back(counted(phase.stop.passes, "pass", "passes"));
  Words words = {"ends after " + (ends.empty() ? "1 pass" : joined(ends, " or "))};
  if (phase.warm_up_ns > 0) words.push_back("warm-up of " + time_of(phase.warm_up_ns));
  if (!phase.measured) words.emplace_back("not measured");
  if (phase.caches != Caches::cold) {
    words.push_back(fmt::format("caches {}", phase.caches == Caches::keep ? "kept" : "warm"));
  }
  if (phase.engine != RequestEngine::automatic) {
    words.push_back(fmt::format("engine {}", engine_word(phase.engine)));
  }
  if (phase.poll) words.emplace_back("polling");
  return fmt::format("{}: {}", printable(phase.name), joined(words));
}

std::string describe_keys(const Workload& workload, const Bold& bold) {
  std::vector<std::vector<std::string>> rows;
  std::size_t width = 0;
  for (const SweepKey& key : workload.keys()) {
    if (!key.values.empty()) width = std::max(width, key.name.size());
  }
  std::string text;
  for (const SweepKey& key : workload.keys()) {
    if (key.values.empty()) continue;
    text += wrapped(
        fmt::format("  {:<{}}  {}", printable(key.name), width, printable_line(joined(key.values))),
        width + 4);
  }
  return text.empty() ? "" : bold("Keys for --sweep") + "\n" + text;
}

Json to_json(const RecipeFiles& files) {
  Json json = {{"name", files.name}};
  if (!files.set.empty()) {
    json["set"] = files.set;
  } else {
    json["count"] = files.count;
    files.fill > 0 ? json["fill_share"] = files.fill : json["bytes"] = files.size;
    json["compressed_share"] = files.compressed_permille / 1000.0;
    if (files.per_directory > 0) json["per_directory"] = files.per_directory;
  }
  json["exist"] = files.exist;
  json["volumes"] = files.volumes.empty() ? Json("all") : Json(volume_names(files.volumes));
  return json;
}

Json to_json(const AccessMix& mix) {
  Json json = {{"sizes", Json::array()}};
  for (const SizeShare& one : mix.sizes) {
    json["sizes"].push_back({{"bytes", one.size}, {"share", part(one.share)}});
  }
  mix.ratio > 0 ? json["reads_per_write"] = mix.ratio : json["reads_share"] = part(mix.reads);
  json["random_share"] = part(mix.random);
  if (mix.align > 0) json["align_bytes"] = mix.align;
  json["zone"] = {mix.zone_begin, mix.zone_end};
  json["disjoint"] = mix.disjoint;
  json["hot"] = hot_words(mix.hot);
  json["truncate"] = mix.truncate;
  return json;
}

Json to_json(const FileStep& step) {
  Json json = {{"step", step_word(step.kind)}};
  if (moves_content(step.kind)) json["block_bytes"] = step.block;
  if (step.size > 0) json["bytes"] = step.size;
  if (step.sync != SyncKind::none) json["sync"] = sync_word(step.sync);
  return json;
}

Json to_json(const RecipeThreads& threads, const Recipe& recipe) {
  Json json = {{"count", threads.count}, {"files", recipe.files[threads.files].name}};
  if (threads.access) json["access"] = to_json(*threads.access);
  for (const StepChoice& choice : threads.choices) {
    Json steps = Json::array();
    for (const FileStep& step : choice.steps) steps.push_back(to_json(step));
    json["choices"].push_back({{"share", part(choice.share)}, {"steps", std::move(steps)}});
  }
  json["order"] = order_word(threads.order);
  json["depth"] = threads.depth;
  json["direct"] = threads.direct;
  json["write_through"] = threads.write_through;
  if (threads.sync.every > 0 || threads.sync.at_end) {
    json["sync"] = {{"kind", sync_word(threads.sync.kind)},
                    {"every", threads.sync.every},
                    {"all_files", threads.sync.all_files},
                    {"at_end", threads.sync.at_end}};
  }
  if (threads.think_ns > 0) json["think_s"] = seconds_of(threads.think_ns);
  if (threads.rate > 0) json["rate_per_s"] = threads.rate;
  return json;
}

Json to_json(const RecipePhase& phase, const Recipe& recipe) {
  Json json = {{"name", phase.name},
               {"measured", phase.measured},
               {"caches", caches_word(phase.caches)},
               {"engine", engine_word(phase.engine)},
               {"poll", phase.poll},
               {"warm_up_s", seconds_of(phase.warm_up_ns)},
               {"stop", Json::object()},
               {"threads", Json::array()}};
  Json& stop = json["stop"];
  if (phase.stop.time_ns > 0) stop["time_s"] = seconds_of(phase.stop.time_ns);
  if (phase.stop.operations > 0) stop["operations"] = phase.stop.operations;
  if (phase.stop.bytes > 0) stop["bytes"] = phase.stop.bytes;
  if (phase.stop.passes > 0) stop["passes"] = phase.stop.passes;
  for (const RecipeThreads& threads : phase.threads) {
    json["threads"].push_back(to_json(threads, recipe));
  }
  return json;
}

}  // namespace

std::string describe_origin(const Workload& workload, const Bold& bold) {
  std::string text = bold(printable_line(workload.name)) + "\n";
  if (!workload.description.empty()) text += wrapped(workload.description, 0);
  if (!workload.source.empty()) text += wrapped("source: " + workload.source, 2);
  if (!workload.notes.empty()) text += wrapped("notes: " + workload.notes, 2);
  return text;
}

std::string describe_recipe(const Workload& workload, const Bold& bold) {
  constexpr std::size_t kIndent = 6;
  const Recipe recipe = workload.recipe(0);
  if (!recipe.reel.empty()) return "";
  std::string text;
  if (!recipe.mysql) {
    text += bold("Files") + "\n";
    for (const RecipeFiles& files : recipe.files) {
      text += wrapped(fmt::format("  {}: {}", files.name, describe_files(files)), kIndent);
    }
    text += "\n" + bold(workload.points() > 1 ? "Phases at the first point" : "Phases") + "\n";
    for (const RecipePhase& phase : recipe.phases) {
      text += wrapped("  " + describe_phase(phase), kIndent);
      for (const RecipeThreads& threads : phase.threads) {
        text += wrapped("    " + describe_threads(threads, recipe), kIndent);
      }
    }
    text += "\n";
  }
  return text + describe_keys(workload, bold);
}

Json workload_to_json(const Workload& workload) {
  const Recipe recipe = workload.recipe(0);
  Json json = {{"kind", "workload"},
               {"name", workload.name},
               {"description", workload.description},
               {"source", workload.source},
               {"notes", workload.notes}};
  if (!recipe.reel.empty()) return json;
  json["points"] = workload.points();
  json["keys"] = Json::object();
  for (const SweepKey& key : workload.keys()) {
    if (!key.values.empty()) json["keys"][key.name] = key.values;
  }
  if (recipe.mysql) return json;
  for (const RecipeFiles& files : recipe.files) json["files"].push_back(to_json(files));
  for (const RecipePhase& phase : recipe.phases) {
    json["phases"].push_back(to_json(phase, recipe));
  }
  return json;
}

}  // namespace filereel

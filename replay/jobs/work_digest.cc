#include "replay/jobs/work_digest.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

#include "filesets/catalogue/catalogue.h"
#include "replay/json.h"
#include "traces/workload/recipe_text.h"
#include "traces/workload/threads_reader.h"

namespace filereel {
namespace {

double seconds_of(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

std::string_view caches_word(Caches caches) {
  constexpr std::array<std::string_view, 3> kWords = {"cold", "keep", "warm"};
  return kWords[static_cast<std::size_t>(caches)];
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
  for (const SizeShare& share : mix.sizes) {
    json["sizes"].push_back({{"bytes", share.size}, {"share", as_share(share.share)}});
  }
  mix.ratio > 0 ? json["reads_per_write"] = mix.ratio : json["reads_share"] = as_share(mix.reads);
  json["random_share"] = as_share(mix.random);
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
    json["choices"].push_back({{"share", as_share(choice.share)}, {"steps", std::move(steps)}});
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
  if (phase.idle_ns > 0) json["idle_s"] = seconds_of(phase.idle_ns);
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

Json files_to_json(const Recipe& recipe) {
  Json list = Json::array();
  for (const RecipeFiles& files : recipe.files) list.push_back(to_json(files));
  return list;
}

Json phases_to_json(const Recipe& recipe) {
  Json list = Json::array();
  for (const RecipePhase& phase : recipe.phases) list.push_back(to_json(phase, recipe));
  return list;
}

namespace {

Json server_to_json(const MysqlMixOptions& server) {
  return {{"connections", server.connections},
          {"transactions", server.transactions},
          {"rows", server.rows},
          {"row_bytes", server.row_bytes},
          {"buffer_pool", server.buffer_pool},
          {"statements", server.shares},
          {"flush_log_at_commit", server.flush_log_at_commit},
          {"sync_binlog", server.sync_binlog},
          {"doublewrite", server.doublewrite},
          {"native_aio", server.native_aio},
          {"fulltext", server.fulltext},
          {"block", server.block}};
}

// A hash over a sequence of numbers and texts.
class Sequence {
 public:
  void add(std::span<const std::uint64_t> numbers) {
    hash_ = XXH3_64bits_withSeed(numbers.data(), numbers.size_bytes(), hash_);
  }
  void add(std::string_view text) { hash_ = XXH3_64bits_withSeed(text.data(), text.size(), hash_); }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

}  // namespace

std::string digest_text(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

std::string digest_of(std::string_view text) {
  return digest_text(XXH3_64bits(text.data(), text.size()));
}

std::string text_of_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string recipe_digest(const Recipe& recipe) {
  Json json = Json::object();
  if (recipe.mysql) {
    json["mysql"] = server_to_json(*recipe.mysql);
  } else {
    json["files"] = files_to_json(recipe);
    for (std::size_t i = 0; i < recipe.files.size(); ++i) {
      const std::string& set = recipe.files[i].set;
      if (!set.empty()) json["files"][i]["set"] = file_set_digest(load_file_set(set, recipe.scale));
    }
    json["phases"] = phases_to_json(recipe);
  }
  json["seed"] = recipe.seed;
  if (!recipe.fresh) json["fresh"] = false;
  return digest_of(text_of_json(json));
}

std::string file_set_digest(const FileSet& set) {
  Sequence all;
  const EntryList& entries = set.entries;
  all.add(std::array<std::uint64_t, 1>{set.seed});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Content content = entries.content(i);
    const std::span<const Hole> holes = entries.holes(i);
    all.add(std::array<std::uint64_t, 8>{
        entries.directory(i), static_cast<std::uint64_t>(entries.kind(i)), entries.mode(i),
        entries.file_size(i), content.key, content.compressed_permille, content.duplicate_permille,
        holes.size()});
    all.add(entries.name(i));
    all.add(entries.target(i));
    for (const Hole& hole : holes) all.add(std::array{hole.offset, hole.length});
  }
  return digest_text(all.hash());
}

}  // namespace filereel

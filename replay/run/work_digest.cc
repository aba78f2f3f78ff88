#include "replay/run/work_digest.h"

#include <array>
#include <cstddef>
#include <span>

#include <fmt/format.h>
#include <xxhash.h>

#include "filesets/catalog/catalog.h"
#include "replay/json.h"
#include "replay/run/recipe_json.h"

namespace filereel {
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

#include "tools/workload_summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "replay/json.h"
#include "replay/run/recipe_json.h"
#include "traces/workload/recipe.h"
#include "traces/workload/recipe_text.h"

namespace filereel {
namespace {

std::string describe_keys(const Workload& workload, const Bold& bold) {
  std::vector<std::vector<std::string>> rows;
  std::size_t width = 0;
  for (const SweepKey& key : workload.keys()) {
    if (!key.values.empty()) width = std::max(width, key.name.size());
  }
  std::string text;
  for (const SweepKey& key : workload.keys()) {
    if (key.values.empty()) continue;
    text += wrapped(fmt::format("  {:<{}}  {}", printable(key.name), width,
                                printable_line(fmt::format("{}", fmt::join(key.values, ", ")))),
                    width + 4);
  }
  return text.empty() ? "" : bold("Keys for --sweep") + "\n" + text;
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
    for (const std::string& line : file_lines(recipe)) text += wrapped("  " + line, kIndent);
    text += "\n" + bold(workload.points() > 1 ? "Phases at the first point" : "Phases") + "\n";
    for (const std::string& line : phase_lines(recipe)) text += wrapped("  " + line, kIndent);
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
  json["files"] = files_to_json(recipe);
  json["phases"] = phases_to_json(recipe);
  return json;
}

}  // namespace filereel

#include "tools/cli/catalogue_summary.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/content/content.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/jobs/work_digest.h"
#include "replay/json.h"
#include "traces/workload/recipe.h"
#include "traces/workload/recipe_text.h"

namespace filereel {
namespace {

// Statistics of a file set.
struct Shape {
  FileSetTotals totals;
  std::size_t depth = 0;  // of directories
  std::uint64_t median = 0;
  std::uint64_t holes = 0;  // bytes
  double compressed = 1;    // compressed size / size, over all bytes
  std::map<int, std::pair<std::uint64_t, std::uint64_t>> sizes;  // by power of 8: files, bytes
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> extensions;
};

int power_of_8(std::uint64_t size) {
  int power = 0;
  for (; size > 0; size /= 8) ++power;
  return power;
}

Shape shape_of(const FileSet& set) {
  Shape shape;
  shape.totals = set.totals();
  std::vector<std::uint64_t> sizes;
  double compressed = 0;
  for (const Entry& entry : set.entries) {
    if (entry.kind == EntryKind::directory) {
      shape.depth =
          std::max(shape.depth, static_cast<std::size_t>(1 + std::ranges::count(entry.path, '/')));
    }
    if (entry.kind != EntryKind::file) continue;
    sizes.push_back(entry.size);
    compressed += static_cast<double>(entry.size) * entry.content.compressed_permille / 1000.0;
    for (const Hole& hole : entry.holes) shape.holes += hole.length;
    const auto count = [&](auto& slot) {
      ++slot.first;
      slot.second += entry.size;
    };
    count(shape.sizes[power_of_8(entry.size)]);
    count(shape.extensions[std::string(extension_of(entry.path))]);
  }
  if (!sizes.empty()) {
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::ranges::nth_element(sizes, middle);
    shape.median = *middle;
  }
  if (shape.totals.bytes > 0) compressed /= static_cast<double>(shape.totals.bytes);
  shape.compressed = shape.totals.bytes > 0 ? compressed : 1;
  return shape;
}

// Indents all lines but the first, so that none looks like another part of the table.
std::string paragraph(std::string_view text) {
  std::string indented;
  for (const auto line :
       std::views::split(text.substr(0, text.find_last_not_of(" \n") + 1), '\n')) {
    indented += wrapped((indented.empty() ? "" : "  ") + std::string(line.begin(), line.end()), 2);
  }
  return indented;
}

}  // namespace

std::string describe_file_set(const FileSet& set, const Bold& bold) {
  const Shape shape = shape_of(set);
  const FileSetTotals& totals = shape.totals;
  std::string text = bold(printable_line(set.name)) + "\n";
  if (!set.description.empty()) text += paragraph(set.description);
  if (!set.source.empty()) text += wrapped("source: " + set.source, 2);
  text += fmt::format("\n{}, {} ({}), {}, depth {}\n", counted(totals.files, "file"),
                      counted(totals.bytes, "byte"), format_size(totals.bytes),
                      counted(totals.directories, "directory", "directories"), shape.depth);
  if (totals.symlinks + totals.hard_links > 0) {
    text += fmt::format("{}, {}\n", counted(totals.symlinks, "symbolic link"),
                        counted(totals.hard_links, "hard link"));
  }
  text += fmt::format("median {}, largest {}; compresses to {:.0f} %; holes {}\n\n",
                      format_size(shape.median), format_size(totals.largest),
                      shape.compressed * 100, format_size(shape.holes));
  Rows rows = {{"size", "files", "bytes"}};
  for (const auto& [power, counted] : shape.sizes) {
    const std::string below = power == 0 ? "empty" : "< " + format_size(1ULL << (3 * power));
    rows.push_back({below, fmt::format("{}", counted.first), format_size(counted.second)});
  }
  text += format_columns(rows) + "\n";
  Rows by_extension = {{"extension", "files", "bytes"}};
  std::vector<std::pair<std::string, std::pair<std::uint64_t, std::uint64_t>>> extensions(
      shape.extensions.begin(), shape.extensions.end());
  std::ranges::sort(extensions, std::greater{}, [](const auto& one) { return one.second.second; });
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(kShown, extensions.size()); ++i) {
    const auto& [name, counted] = extensions[i];
    by_extension.push_back({name.empty() ? "(none)" : name, fmt::format("{}", counted.first),
                            format_size(counted.second)});
  }
  return text + format_columns(by_extension);
}

Json file_set_to_json(const FileSet& set) {
  const Shape shape = shape_of(set);
  const FileSetTotals& totals = shape.totals;
  return {{"kind", "file set"},
          {"name", set.name},
          {"description", set.description},
          {"source", set.source},
          {"files", totals.files},
          {"bytes", totals.bytes},
          {"directories", totals.directories},
          {"symlinks", totals.symlinks},
          {"hard_links", totals.hard_links},
          {"depth", shape.depth},
          {"median_bytes", shape.median},
          {"largest_bytes", totals.largest},
          {"hole_bytes", shape.holes},
          {"compressed_share", shape.compressed}};
}

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

#include "replay/plan/catalogue.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filesets/catalogue_file.h"
#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/wording.h"
#include "traces/catalogue_reel.h"
#include "traces/reel/catalogue_reels.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

struct CatalogueSection {
  CatalogueItem::Kind kind;
  std::span<const CatalogueFile> (*files)();
  std::string_view what;
};

constexpr std::array<CatalogueSection, 3> kSections = {{
    {CatalogueItem::Kind::plan, plan_catalogue, "plan"},
    {CatalogueItem::Kind::workload, workload_catalogue, "workload"},
    {CatalogueItem::Kind::file_set, file_set_catalogue, "file set"},
}};

std::optional<CatalogueItem> find_in_catalogue(const std::string& name) {
  for (const CatalogueSection& shelf : kSections) {
    for (const CatalogueFile& file : shelf.files()) {
      if (file.name != name) continue;
      return CatalogueItem{shelf.kind, name, parse_yaml(file.text, file.name, shelf.what), true};
    }
  }
  if (!is_catalogue_reel(name) || path_exists(name)) return {};
  return CatalogueItem{CatalogueItem::Kind::reel, name, {}, true};
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const CatalogueSection& shelf : kSections) {
    for (const CatalogueFile& file : shelf.files()) names.push_back(file.name);
  }
  return names;
}

bool has_any(const YamlValue& document, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return document.has_key(key); });
}

bool is_list_of_files(std::string_view path) {
  constexpr std::array<std::string_view, 3> kExtensions = {".fileset", ".fls", ".ptn"};
  std::string lower(path);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(kExtensions,
                             [&](std::string_view one) { return lower.ends_with(one); });
}

CatalogueItem read_file_named(const std::string& path) {
  constexpr std::string_view kReel = ".reel";
  const bool exists = path_exists(path);
  const bool can_be_looked_at = is_regular_file(path);  // no pipe
  if ((can_be_looked_at && is_reel_file(path)) || (exists && path.ends_with(kReel))) {
    return {CatalogueItem::Kind::reel, path};
  }
  if (exists && is_list_of_files(path)) return {CatalogueItem::Kind::file_set, path};
  const std::optional<std::string> text = read_yaml_file(path, "a plan or a workload");
  if (!text) {
    const std::vector<std::string_view> names = all_names();
    std::string_view name = path;
    if (name.ends_with(kReel)) name.remove_suffix(kReel.size());
    const std::string near = did_you_mean(name, names);
    throw Error(
        ErrorKind::usage,
        fmt::format("unknown plan, workload, file set or reel '{}': not in the catalogue and "
                    "not a file{}",
                    printable(path),
                    near.empty() ? "; run `filereel list` to see the catalogue" : near));
  }
  constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
  if (text->starts_with(kZstdMagic)) return {CatalogueItem::Kind::file_set, path};
  const YamlValue document = parse_yaml(*text, path, "the document");
  if (!document.is_map()) {
    document.fail(
        "is not a plan, workload, file set or reel; to convert another program's trace, use "
        "filereel import");
  }
  const CatalogueItem::Kind kind = has_any(document, {"jobs", "workload", "sets"})
                                       ? CatalogueItem::Kind::plan
                                   : document.has_key("groups") ? CatalogueItem::Kind::file_set
                                                                : CatalogueItem::Kind::workload;
  const auto shelf = std::ranges::find(kSections, kind, &CatalogueSection::kind);
  return {.kind = kind, .name = path, .document = document.called(std::string(shelf->what))};
}

}  // namespace

std::string CatalogueItem::file() const {
  return in_catalogue ? "" : base_name(name);
}

CatalogueItem find_named(const std::string& name_or_path) {
  return within_memory(fmt::format("'{}'", printable(name_or_path)), [&] {
    if (auto found = find_in_catalogue(name_or_path)) return *std::move(found);
    return read_file_named(name_or_path);
  });
}

std::unique_ptr<ReelReader> open_reel(const CatalogueItem& item) {
  if (item.kind == CatalogueItem::Kind::reel) {
    if (item.in_catalogue) return open_reel(item.name);
    return std::make_unique<ReelReader>(item.name);
  }
  if (item.kind == CatalogueItem::Kind::workload) {
    const std::string reel = Workload::from_document(*item.document, item.name).recipe(0).reel;
    if (!reel.empty()) return open_reel(reel);
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("'{}' is not a reel: name one created by filereel record or filereel import, "
                  "or a recorded program from `filereel list`",
                  printable(item.name)));
}

std::unique_ptr<ReelReader> open_named_reel(const std::string& name_or_path) {
  if (!path_exists(name_or_path) || find_in_catalogue(name_or_path))
    return open_reel(find_named(name_or_path));
  refuse_special_file(name_or_path);
  return std::make_unique<ReelReader>(name_or_path);
}

std::vector<CataloguePlan> list_catalogue_plans() {
  std::vector<CataloguePlan> plans;
  for (const CatalogueFile& file : plan_catalogue()) {
    const YamlValue document = parse_yaml(file.text, file.name, "plan");
    for (const auto& [key, value] : document.items()) {
      if (key == "description") plans.push_back({std::string(file.name), value.text()});
    }
  }
  return plans;
}

}  // namespace filereel

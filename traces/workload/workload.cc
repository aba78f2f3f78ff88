#include "traces/workload/workload.h"

#include <algorithm>

#include <fmt/format.h>

#include "filesets/catalogue_file.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "traces/workload/recipe.h"
#include "traces/workload/recipe_reader.h"

namespace filereel {

namespace {

// Each phase is measured at every point, and each of its parts is read there.
constexpr std::uint64_t kMostMeasured = 100'000, kMostParts = 4'000'000;

std::uint64_t parts_of(const Recipe& recipe) {
  std::uint64_t parts = recipe.files.size() + recipe.phases.size();
  for (const RecipePhase& phase : recipe.phases) {
    for (const RecipeThreads& threads : phase.threads) {
      parts += 1 + (threads.access ? threads.access->sizes.size() : 0);
      for (const StepChoice& choice : threads.choices) parts += 1 + choice.steps.size();
    }
  }
  return parts;
}

// What is not measured, not direct or on files that exist would use a part of the write cache
// unseen, or another one.
std::string read_analysis(const YamlValue& value, const Recipe& recipe) {
  if (value.text() != kWriteCacheAnalysis) {
    value.fail(fmt::format("must be {}, not '{}'", kWriteCacheAnalysis, printable(value.text())));
  }
  if (recipe.phases.empty()) value.fail("needs phases that write");
  for (const RecipeFiles& files : recipe.files) {
    if (files.exist) {
      value.fail(fmt::format("needs files that the first phase creates: add exist: false to '{}'",
                             printable(files.name)));
    }
    if (files.volumes != std::vector{Role::near}) {
      value.fail(fmt::format("needs files on near alone: remove 'volumes' from '{}'",
                             printable(files.name)));
    }
  }
  const auto writes_directly = [](const RecipeThreads& threads) {
    return threads.access && threads.direct && threads.access->reads == 0 &&
           threads.access->ratio == 0;
  };
  for (const RecipePhase& phase : recipe.phases) {
    const bool writes = std::ranges::all_of(phase.threads, writes_directly);
    if (phase.measured && writes && phase.warm_up_ns == 0) continue;
    value.fail(fmt::format(
        "needs measured phases of direct writes without a warm-up; phase '{}' is not one",
        printable(phase.name)));
  }
  return std::string(kWriteCacheAnalysis);
}

}  // namespace

void Workload::read(Sweep sweep) {
  const YamlMap map = workload_keys(document_);
  const auto text = [&map](std::string_view key, std::string& out) {
    if (const YamlValue* value = map.find(key)) out = value->text();
  };
  text("description", description);
  text("source", source);
  text("notes", notes);
  file_systems = {"ext4"};
  if (const YamlValue* value = map.find("file_systems")) {
    file_systems.clear();
    constexpr std::size_t kMost = 100;
    for (const YamlValue& item : value->list(kMost)) file_systems.push_back(item.text());
    if (file_systems.empty()) value->fail("is empty: add at least one file system");
  }
  if (const YamlValue* value = map.find("runs")) {
    runs = static_cast<std::uint32_t>(value->whole_number(1, kMostRuns));
  }
  const Recipe recipe = read_recipe(document_, sweep);
  const auto check_analysis = [&](const Recipe& one) {
    if (const YamlValue* value = map.find("analysis")) analysis = read_analysis(*value, one);
  };
  check_analysis(recipe);
  sweep.settle();
  const auto at_most = [&](std::uint64_t number, std::uint64_t most, std::string_view what) {
    if (number <= most / sweep.points()) return;
    document_.fail(fmt::format("has {} {} at each of {}: at most {} are allowed in total", number,
                               what, counted(sweep.points(), "point"), most));
  };
  at_most(recipe.phases.size(), kMostMeasured, "phases");
  at_most(parts_of(recipe), kMostParts, "phases, threads and steps");
  for (std::uint64_t point = 1; point < sweep.points(); ++point) {
    sweep.go_to(point);
    check_analysis(read_recipe(document_, sweep));
  }
  sweep_ = std::move(sweep);
}

Workload Workload::from_yaml(std::string_view text, std::string_view file_name) {
  return from_document(parse_yaml(text, file_name, "workload"), file_name);
}

Workload Workload::from_document(YamlValue document, std::string_view name) {
  Workload workload(std::move(document));
  workload.name = name;
  workload.read({});
  return workload;
}

void Workload::set_values(const SweepOverrides& values) {
  read(Sweep(sweep_, values));
}

Recipe Workload::recipe(std::uint64_t point, double scale) const {
  Sweep sweep = sweep_;
  sweep.go_to(point);
  return scaled(read_recipe(document_, sweep), scale);
}

std::vector<std::pair<std::string, std::string>> Workload::parameters(std::uint64_t point) const {
  const std::vector<std::size_t> numbers = sweep_.at(point);
  std::vector<std::pair<std::string, std::string>> parameters;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    parameters.emplace_back(axes()[i].name, axes()[i].values[numbers[i]]);
  }
  return parameters;
}

std::vector<CatalogueWorkload> list_catalogue_workloads() {
  std::vector<CatalogueWorkload> workloads;
  for (const CatalogueFile& file : workload_catalogue()) {
    const Workload workload = Workload::from_yaml(file.text, file.name);
    const bool recorded = !workload.recipe(0).reel.empty();
    workloads.push_back({workload.name, workload.description, recorded});
  }
  return workloads;
}

bool is_catalogue_workload(std::string_view name) {
  return contains(workload_catalogue(), name, &CatalogueFile::name);
}

Workload catalogue_workload(std::string_view name) {
  if (const auto* found = find_or_null(workload_catalogue(), name, &CatalogueFile::name)) {
    return Workload::from_yaml(found->text, found->name);
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("unknown workload '{}': run `filereel list` for the catalogue", printable(name)));
}

}  // namespace filereel

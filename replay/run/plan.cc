#include "replay/run/plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "filesets/catalog_file.h"
#include "filesets/specification/scaling.h"
#include "filesets/specification/yaml_file.h"
#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"

namespace filereel {
namespace {

constexpr std::size_t kMostItems = 100;
constexpr std::uint64_t kMostBlock = 1 << 30;
constexpr std::uint64_t kMostThreads = 1024;

// Reads every item of the list at `key` with `parse`, which throws Error for a bad word.
template <class Item, class Parse>
void read_list(const YamlMap& map, std::string_view key, std::vector<Item>& items, Parse parse) {
  const YamlValue* value = map.find(key);
  if (!value) return;
  for (const YamlValue& item : value->list(kMostItems)) {
    try {
      items.push_back(parse(item.text()));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::unusable_input) throw;
      item.fail(error.what());
    }
  }
  if (items.empty()) value->fail("is empty");
}

// `runs`, and what belongs to automatic ones.
void read_runs(const YamlMap& map, Plan& plan) {
  const YamlValue* runs = map.find("runs");
  if (runs && runs->text() == "auto") {
    plan.auto_runs.emplace();
  } else if (runs) {
    plan.runs = static_cast<std::uint32_t>(runs->whole_number(1, Plan::kMostRuns));
  }
  const auto with_auto = [&](std::string_view key) {
    const YamlValue* value = map.find(key);
    if (value && !plan.auto_runs) value->fail("is for runs: auto");
    return value;
  };
  if (const YamlValue* value = with_auto("precision")) {
    constexpr double kWhole = 100'000;  // of YamlValue::share
    plan.auto_runs->width = value->share() / kWhole;
    if (plan.auto_runs->width == 0) value->fail("must be more than 0");
  }
  if (const YamlValue* value = with_auto("budget")) {
    plan.auto_runs->budget_s = static_cast<double>(value->duration()) * 1e-9;
    if (plan.auto_runs->budget_s <= 0) value->fail("must be more than 0");
  }
  const auto count = [&](std::string_view key, std::uint32_t& number) {
    const YamlValue* value = with_auto(key);
    if (value) number = static_cast<std::uint32_t>(value->whole_number(1, Plan::kMostRuns));
  };
  count("least_runs", plan.auto_runs ? plan.auto_runs->least : plan.runs);
  count("most_runs", plan.auto_runs ? plan.auto_runs->most : plan.runs);
  if (plan.auto_runs && plan.auto_runs->most < plan.auto_runs->least) {
    map.self().fail(fmt::format("has fewer most_runs ({}) than least_runs ({})",
                                plan.auto_runs->most, plan.auto_runs->least));
  }
}

}  // namespace

std::vector<FcStep> ordered_operations(std::vector<FcStep> operations) {
  std::ranges::sort(operations);
  const auto doubles = std::ranges::unique(operations);
  operations.erase(doubles.begin(), doubles.end());
  if (operations.empty() || operations.front() != FcStep::create) {
    throw Error(ErrorKind::usage,
                "the operations must begin with create: the others need what it makes");
  }
  return operations;
}

void check_block_size(std::uint64_t bytes) {
  if (bytes == 0 || bytes > kMostBlock) {
    throw Error(ErrorKind::usage, "the block size must be 1 byte to 1 GiB");
  }
}

Plan plan_from_yaml(std::string_view text, std::string_view file_name) {
  const YamlValue document = parse_yaml(text, file_name, "plan");
  const YamlMap map = document.map({"description", "workload", "file_systems", "sets", "operations",
                                    "runs", "precision", "budget", "least_runs", "most_runs",
                                    "scale", "block_size", "copy_method", "threads", "warm"});
  Plan plan;
  plan.name = file_name;
  if (const YamlValue* value = map.find("description")) plan.description = value->text();
  if (const YamlValue* value = map.find("workload")) {
    plan.workload = value->text();
    if (plan.workload != "fc-test") value->fail("must be fc-test: there is no other workload yet");
  }
  read_list(map, "file_systems", plan.file_systems,
            [](const std::string& word) { return parse_file_system(word); });
  map.require("sets");
  read_list(map, "sets", plan.sets, [](const std::string& word) { return word; });
  read_list(map, "operations", plan.operations,
            [](const std::string& word) { return parse_fc_step(word); });
  if (plan.operations.empty()) {
    for (std::size_t i = 0; i < kFcSteps; ++i) plan.operations.push_back(static_cast<FcStep>(i));
  }
  try {
    plan.operations = ordered_operations(std::move(plan.operations));
  } catch (const Error& error) {
    map.require("operations").fail(error.what());
  }
  read_runs(map, plan);
  if (const YamlValue* value = map.find("scale")) plan.scale = value->number(1e-9, kMaxScale);
  if (const YamlValue* value = map.find("block_size")) {
    plan.fc_test.block_size = value->size();
    if (plan.fc_test.block_size == 0 || plan.fc_test.block_size > kMostBlock) {
      value->fail("must be 1 byte to 1 GiB");
    }
  }
  if (const YamlValue* value = map.find("copy_method")) {
    try {
      plan.fc_test.copy_method = parse_copy_method(value->text());
    } catch (const Error& error) {
      value->fail(error.what());
    }
  }
  if (const YamlValue* value = map.find("threads")) {
    plan.fc_test.threads = static_cast<std::uint32_t>(value->whole_number(1, kMostThreads));
  }
  if (const YamlValue* value = map.find("warm")) plan.warm = value->truth();
  return plan;
}

std::vector<CatalogPlan> list_catalog_plans() {
  std::vector<CatalogPlan> plans;
  for (const CatalogFile& file : plan_catalog()) {
    const Plan plan = plan_from_yaml(file.text, file.name);
    plans.push_back({plan.name, plan.description});
  }
  return plans;
}

bool is_catalog_plan(std::string_view name) {
  return std::ranges::find(plan_catalog(), name, &CatalogFile::name) != plan_catalog().end();
}

Plan load_plan(const std::string& name_or_path) {
  for (const CatalogFile& file : plan_catalog()) {
    if (file.name == name_or_path) return plan_from_yaml(file.text, file.name);
  }
  const std::optional<std::string> text = read_yaml_file(name_or_path, "a plan");
  if (!text) {
    throw Error(ErrorKind::usage,
                fmt::format("there is no plan '{}', neither in the catalogue nor as a file: "
                            "`filereel list` shows the catalogue",
                            name_or_path));
  }
  return plan_from_yaml(*text, name_or_path);
}

}  // namespace filereel

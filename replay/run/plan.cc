#include "replay/run/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "filesets/specification/specification.h"
#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "replay/run/catalogue.h"
#include "replay/run/job_kinds.h"
#include "replay/run/reels.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

constexpr std::size_t kMostItems = 100;
constexpr std::size_t kMostJobs = 1000;
constexpr int kDeepest = 8;  // plans within plans

// A parameter and where its value stands; null: on the command line.
struct Setting {
  const JobParameter* parameter = nullptr;
  std::vector<std::string> values;
  std::optional<YamlValue> place = {};
};

// What is said of a job at one place: by a plan as a whole, at the job in it, on the command line.
struct Said {
  std::vector<Setting> settings;
  bool of_many = false;  // jobs that a setting has no meaning for go without it
  SweepOverrides sweep;
  std::string name;
  std::vector<FileSystemKind> file_systems;
  std::optional<std::uint32_t> runs;
};

// Throws what went wrong with a value, with its place in the file.
[[noreturn]] void fail_at(const YamlValue& place, const Error& error) {
  if (error.kind() == ErrorKind::unusable_input) throw Error(error);
  place.fail(error.what());
}

std::vector<std::string> values_of(const YamlValue& value, const JobParameter& parameter) {
  std::vector<std::string> values;
  if (parameter.form != JobParameter::Form::list) return {value.text()};
  for (const YamlValue& item : value.list(kMostItems)) values.push_back(item.text());
  if (values.empty()) value.fail("is empty");
  return values;
}

SweepOverrides read_sweep(const YamlValue& value) {
  SweepOverrides sweep;
  for (const auto& [key, list] : value.items()) {
    std::vector<std::string>& values = sweep[key];
    for (const YamlValue& item : list.list(kMostPoints)) values.push_back(item.text());
    if (values.empty()) list.fail("is empty");
  }
  return sweep;
}

// Keys that jobs and plans share.
Said read_said(const YamlMap& map) {
  Said said;
  for (const JobParameter& parameter : job_parameters()) {
    const YamlValue* value = map.find(parameter.key);
    if (value) said.settings.push_back({&parameter, values_of(*value, parameter), *value});
  }
  if (const YamlValue* value = map.find("sweep")) said.sweep = read_sweep(*value);
  if (const YamlValue* value = map.find("file_systems")) {
    for (const YamlValue& item : value->list(kMostItems)) {
      try {
        said.file_systems.push_back(parse_file_system(item.text()));
      } catch (const Error& error) {
        fail_at(item, error);
      }
    }
    if (said.file_systems.empty()) value->fail("is empty");
  }
  const YamlValue* runs = map.find("runs");
  if (runs && runs->text() != "auto") {
    said.runs = static_cast<std::uint32_t>(runs->whole_number(1, kMostRuns));
  }
  return said;
}

std::vector<std::string_view> with_parameters(std::initializer_list<std::string_view> keys) {
  std::vector<std::string_view> all(keys);
  for (const JobParameter& parameter : job_parameters()) all.push_back(parameter.key);
  return all;
}

// `runs: auto`, and what belongs to it.
std::optional<AutoRuns> read_auto_runs(const YamlMap& map) {
  std::optional<AutoRuns> automatic;
  const YamlValue* runs = map.find("runs");
  if (runs && runs->text() == "auto") automatic.emplace();
  const auto with_auto = [&](std::string_view key) {
    const YamlValue* value = map.find(key);
    if (value && !automatic) value->fail("is for runs: auto");
    return value;
  };
  if (const YamlValue* value = with_auto("precision")) {
    constexpr double kWhole = 100'000;  // of YamlValue::share
    automatic->width = value->share() / kWhole;
    if (automatic->width == 0) value->fail("must be more than 0");
  }
  if (const YamlValue* value = with_auto("budget")) {
    automatic->budget_s = static_cast<double>(value->duration()) * 1e-9;
    if (automatic->budget_s <= 0) value->fail("must be more than 0");
  }
  if (const YamlValue* value = with_auto("least_runs")) {
    automatic->least = static_cast<std::uint32_t>(value->whole_number(1, kMostRuns));
  }
  if (const YamlValue* value = with_auto("most_runs")) {
    automatic->most = static_cast<std::uint32_t>(value->whole_number(1, kMostRuns));
  }
  if (automatic && automatic->most < automatic->least) {
    map.self().fail(fmt::format("has fewer most_runs ({}) than least_runs ({})", automatic->most,
                                automatic->least));
  }
  return automatic;
}

// Makes the jobs of names, with what is said of them from the outside in.
class Loader {
 public:
  explicit Loader(Plan& plan) : plan_(plan) {}

  // `said` from the whole to the part: the last one holds.
  void add(const CatalogueItem& named, const std::vector<const Said*>& said, int depth) {
    switch (named.kind) {
      case CatalogueItem::Kind::plan:
        return add_plan(named, said, depth);
      case CatalogueItem::Kind::workload: {
        Workload workload = Workload::from_document(*named.document, named.name);
        const Recipe recipe = workload.recipe(0);
        const bool recorded = recipe.mysql || !recipe.reel.empty();
        const JobKind kind = recorded ? JobKind::trace : JobKind::workload;
        const JobOptions options = options_for(kind, named.name, said);
        return add_job(recorded ? make_trace_job(std::move(workload), options)
                                : make_workload_job(std::move(workload), options));
      }
      case CatalogueItem::Kind::file_set: {
        JobOptions options = options_for(JobKind::fc_test, named.name, said);
        if (named.document) {
          return add_job(make_fc_test_job(
              file_set_from_document(*named.document, named.name, options.scale), options));
        }
        options.sets = {named.name};
        return add_all(make_fc_test_jobs(options));
      }
      case CatalogueItem::Kind::reel:
        return add_job(make_trace_job(reel_name(named.name), open_reel(named),
                                      options_for(JobKind::trace, named.name, said)));
    }
  }

  // What of the command line had no meaning for a job: by key, the first reason and where it had.
  struct Meaning {
    bool any = false;
    std::string why_not;
  };
  const std::map<std::string_view, Meaning>& meanings() const { return meanings_; }

 private:
  JobOptions options_for(JobKind kind, const std::string& job,
                         const std::vector<const Said*>& said) {
    JobOptions options;
    for (const Said* one : said) {
      for (const Setting& setting : one->settings) apply(setting, one->of_many, kind, job, options);
      for (const auto& [key, values] : one->sweep) options.sweep.insert_or_assign(key, values);
      if (!one->name.empty()) options.name = one->name;
      if (!one->file_systems.empty()) options.file_systems = one->file_systems;
      if (one->runs) options.runs = one->runs;
    }
    return options;
  }

  void apply(const Setting& setting, bool of_many, JobKind kind, const std::string& job,
             JobOptions& options) {
    const JobParameter& parameter = *setting.parameter;
    try {
      check_meaning(parameter, kind, job);
    } catch (const Error& error) {
      if (setting.place && of_many) return;
      if (setting.place) setting.place->fail(error.what());
      Meaning& meaning = meanings_[parameter.key];
      if (meaning.why_not.empty()) meaning.why_not = error.what();
      return;
    }
    if (!setting.place) meanings_[parameter.key].any = true;
    try {
      parameter.set(options, setting.values);
    } catch (const Error& error) {
      if (setting.place) fail_at(*setting.place, error);
      throw;
    }
  }

  void add_plan(const CatalogueItem& named, const std::vector<const Said*>& said, int depth) {
    if (depth > kDeepest) named.document->fail("is a plan within itself");
    const YamlMap map = named.document->map(
        with_parameters({"description", "workload", "jobs", "file_systems", "sweep", "runs",
                         "precision", "budget", "least_runs", "most_runs"}));
    if (const YamlValue* value = map.find("description"); value && depth == 0) {
      plan_.description = value->text();
    }
    if (const auto automatic = read_auto_runs(map)) plan_.auto_runs = automatic;
    Said whole = read_said(map);
    std::vector<const Said*> inner = {&whole};
    std::ranges::copy(said, std::back_inserter(inner));
    const YamlValue* jobs = map.find("jobs");
    if (!jobs) return add_fc_test(map, inner);
    if (map.find("workload")) map.find("workload")->fail("cannot stand beside 'jobs'");
    const std::vector<YamlValue> list = jobs->list(kMostJobs);
    if (list.empty()) jobs->fail("is empty");
    whole.of_many = true;
    for (const YamlValue& item : list) add_item(item, whole, said, depth);
  }

  // A plan of the first kind: FC-Test on its sets.
  void add_fc_test(const YamlMap& map, const std::vector<const Said*>& said) {
    if (const YamlValue* value = map.find("workload"); value && value->text() != "fc-test") {
      value->fail("must be fc-test; other workloads stand in a list of 'jobs'");
    }
    map.require("sets");
    add_all(make_fc_test_jobs(options_for(JobKind::fc_test, "fc-test", said)));
  }

  void add_item(const YamlValue& item, const Said& whole, const std::vector<const Said*>& said,
                int depth) {
    Said own;
    std::string name;
    if (item.is_map()) {
      const YamlMap map =
          item.map(with_parameters({"job", "name", "file_systems", "runs", "sweep"}));
      name = map.require("job").text();
      own = read_said(map);
      if (const YamlValue* value = map.find("name")) own.name = value->text();
      if (const YamlValue* runs = map.find("runs"); runs && runs->text() == "auto") {
        runs->fail("is auto for a whole plan");
      }
    } else {
      name = item.text();
    }
    std::vector<const Said*> all = {&whole, &own};
    std::ranges::copy(said, std::back_inserter(all));
    try {
      add(find_named(name), all, depth + 1);
    } catch (const Error& error) {
      fail_at(item, error);
    }
  }

  void add_all(std::vector<std::unique_ptr<Job>> jobs) {
    for (std::unique_ptr<Job>& job : jobs) add_job(std::move(job));
  }

  void add_job(std::unique_ptr<Job> job) {
    const std::string name = job->record().name;
    if (!names_.emplace(name, job->set()).second) {
      throw Error(ErrorKind::usage,
                  fmt::format("two jobs are called {}: give one another 'name' in a plan",
                              printable(name)));
    }
    plan_.jobs.push_back(std::move(job));
  }

  Plan& plan_;
  std::set<std::pair<std::string, std::string>> names_;  // with their sets
  std::map<std::string_view, Meaning> meanings_;
};

std::string joined(std::span<const std::string> names) {
  constexpr std::size_t kFew = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kFew); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kFew) text += fmt::format(" and {} more", names.size() - kFew);
  return text;
}

}  // namespace

Plan load_plan(std::span<const std::string> names, const PlanOverrides& overrides,
               std::vector<std::string>& remarks) {
  Plan plan;
  plan.name = joined(names);
  Said said;
  for (const auto& [parameter, values] : overrides.parameters) {
    said.settings.push_back({parameter, values, {}});
  }
  said.sweep = overrides.sweep;
  Loader loader(plan);
  for (const std::string& name : names) loader.add(find_named(name), {&said}, 0);
  for (const auto& [key, meaning] : loader.meanings()) {
    if (meaning.why_not.empty()) continue;
    if (!meaning.any) throw Error(ErrorKind::usage, meaning.why_not);
    remarks.push_back(meaning.why_not);
  }
  return plan;
}

std::uint32_t runs_of(const Job& job) {
  if (const auto said = job.options(0).runs) return *said;
  return job.runs().value_or(kUsualRuns);
}

std::vector<FileSystemKind> file_systems_of(const Job& job) {
  std::vector<FileSystemKind> said = job.options(0).file_systems;
  return said.empty() ? job.file_systems() : said;
}

double expected_seconds(double seconds, std::uint32_t runs) {
  constexpr double kVolumes = 2;  // seconds, to format and to empty caches
  return (seconds + kVolumes) * runs;
}

Plan plan_from_yaml(std::string_view text, std::string_view file_name) {
  Plan plan;
  plan.name = file_name;
  const CatalogueItem named{CatalogueItem::Kind::plan, plan.name,
                            parse_yaml(text, file_name, "plan")};
  Loader(plan).add(named, {}, 0);
  return plan;
}

}  // namespace filereel

#include "replay/plan/plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "replay/jobs/job_wrappers.h"
#include "replay/plan/catalogue.h"
#include "replay/plan/job_settings.h"
#include "replay/plan/job_sources.h"
#include "replay/plan/plan_report.h"
#include "replay/results/result_limits.h"

namespace filereel {
namespace {

constexpr int kDeepest = 8;  // plans within plans

// The text of the error with the name of the option. `first`: its first value.
std::string as_option(const ValueError& error, std::string_view option, const std::string& first) {
  const ValueError::Parts& parts = error.parts();
  if (parts.is_predicate) {
    return fmt::format("{} {}: {}", option, printable(parts.value.value_or(first)), parts.text);
  }
  return parts.name.empty() ? parts.text : fmt::format("{}: {}", option, parts.text);
}

// Creates jobs from names and the settings that apply to them.
class Loader {
 public:
  // The overrides' sweep and full run come from the command line.
  Loader(Plan& plan, const PlanOverrides& overrides)
      : plan_(plan),
        sweep_(overrides.sweep),
        full_(overrides.full),
        processes_(overrides.processes) {}

  // `said`: for each setting the last value wins.
  void add(const CatalogueItem& item, const std::vector<const JobSettings*>& said, int depth) {
    if (item.kind == CatalogueItem::Kind::plan) return add_plan(item, said, depth);
    const JobSource& source = job_source_of(item);
    JobOptions options = options_for(source.kind, source.recorded, item.name, said);
    options.file = item.file();
    name_apart(item, options);
    if (!options.sets.empty()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--set does not apply to {}: it is itself a file set", printable(item.name)));
    }
    add_all(swept(item.name, options,
                  [&](const JobOptions& job_options) { return source.make(item, job_options); }));
  }

  // An option of the command line that does not apply to some jobs: "--scale does not apply to",
  // their names, and the reason.
  struct Inapplicable {
    std::string what;
    std::vector<std::string> jobs;
    std::string why;

    std::string text() const { return fmt::format("{} {}: {}", what, fmt::join(jobs, ", "), why); }
  };
  // By key: whether any job uses the option, the first refusal, and those that do not.
  struct Applicability {
    bool any = false;
    std::string refusal;
    std::vector<Inapplicable> others;

    // With the reasons of all jobs, if they differ.
    std::string refusal_text() const {
      if (others.size() < 2) return refusal;
      std::string text = others.front().what;  // "--time does not apply to"
      for (const Inapplicable& other : others) {
        text += fmt::format("{} {} ({})", &other == &others.front() ? "" : ";",
                            fmt::join(other.jobs, ", "), other.why);
      }
      return text;
    }

    void add(std::string text, Inapplicable inapplicable) {
      if (refusal.empty()) refusal = std::move(text);
      const auto same = std::ranges::find_if(others, [&](const Inapplicable& other) {
        return other.what == inapplicable.what && other.why == inapplicable.why;
      });
      if (same == others.end()) {
        others.push_back(std::move(inapplicable));
      } else if (!contains(same->jobs, inapplicable.jobs.front())) {
        same->jobs.push_back(std::move(inapplicable.jobs.front()));
      }
    }
  };
  const std::map<std::string, Applicability, std::less<>>& applicability() const {
    return applicability_;
  }
  // Remarks on values of plans that this machine cannot use.
  const std::set<std::string>& left_out() const { return left_out_; }

 private:
  // The second of two files of one name in different folders is named by its path, which differs
  // from the name of the first.
  void name_apart(const CatalogueItem& item, JobOptions& options) {
    if (job_source_of(item).kind == JobKind::fc_test) return;  // named by its sets
    const auto [first, is_new] = paths_.try_emplace(item.shown_name(), item.name);
    if (is_new || first->second == item.name || !options.name.empty()) return;
    const bool is_bare = !item.in_catalogue && item.name == item.file();
    options.name = is_bare ? "./" + item.name : item.name;
  }

  // Creates jobs with the command line's sweeps of keys that they have.
  Jobs swept(const std::string& job, JobOptions options,
             const std::function<Jobs(const JobOptions&)>& make) {
    std::optional<Jobs> made;
    for (const auto& [key, values] : sweep_) {
      JobOptions tried = options;
      tried.sweep.insert_or_assign(key, values);
      try {
        made = for_clients(tried, make);
        options = std::move(tried);
        applicability_[key].any = true;
      } catch (const SweepError& error) {
        applicability_[key].add(
            error.what(),
            {fmt::format("--sweep {} is ignored for", key), {printable(job)}, error.what()});
      }
    }
    return made ? *std::move(made) : for_clients(options, make);
  }

  // Conditions of the drive are a matter of the runner, for all kinds of jobs.
  static Jobs make_alone(JobOptions options, const std::function<Jobs(const JobOptions&)>& make) {
    std::vector<std::pair<const JobParameter*, std::vector<std::string>>> conditions;
    for (const JobParameter& parameter : job_parameters()) {
      if (!parameter.condition) continue;
      const auto found = options.sweep.find(parameter.key);
      if (found == options.sweep.end()) continue;
      conditions.emplace_back(&parameter, std::move(found->second));
      options.sweep.erase(found);
    }
    Jobs jobs = make_plain(options, make);
    for (std::unique_ptr<Job>& job : jobs) {
      for (const auto& [parameter, values] : conditions | std::views::reverse) {
        job = along_condition(std::move(job), *parameter, values);
      }
    }
    return jobs;
  }

  static Jobs make_plain(const JobOptions& options,
                         const std::function<Jobs(const JobOptions&)>& make) {
    try {
      return make(options);
    } catch (const SweepError& error) {
      if (!error.lacks_key("clients")) throw;
      throw SweepError(SweepError::Fault::unknown_key, "clients",
                       fmt::format("{}; several processes need --clients mpi, see docs/clients.md",
                                   error.what()));
    }
  }

  // Processes are a matter of the runner, for all kinds of jobs.
  Jobs for_clients(JobOptions options, const std::function<Jobs(const JobOptions&)>& make) const {
    if (!processes_) return make_alone(options, make);
    std::vector<std::string> counts;
    const auto sweep = options.sweep.extract("clients");
    if (sweep) {
      counts = sweep.mapped();
    } else if (options.clients) {
      counts = {std::to_string(*options.clients)};
    }
    options.clients.reset();
    Jobs jobs = make_alone(options, make);
    if (counts.empty()) return jobs;
    for (std::unique_ptr<Job>& job : jobs) job = with_clients(std::move(job), counts, !!sweep);
    return jobs;
  }

  JobOptions options_for(JobKind kind, bool recorded, const std::string& job,
                         const std::vector<const JobSettings*>& said) {
    JobOptions options;
    for (const JobSettings* layer : said) {
      for (const Setting& setting : layer->settings)
        apply(setting, *layer, kind, recorded, job, options);
      for (const auto& [key, values] : layer->sweep) options.sweep.insert_or_assign(key, values);
      if (!layer->name.empty()) options.name = layer->name;
      if (!layer->file_systems.empty()) options.file_systems = layer->file_systems;
      if (layer->runs) options.runs = layer->runs;
      if (layer->repetitions) options.runs.reset();
    }
    // There is no volume to verify then.
    if (options.engine == EngineKind::null) options.verify = Verification::results;
    return options;
  }

  void apply(const Setting& setting, const JobSettings& said, JobKind kind, bool recorded,
             const std::string& job, JobOptions& options) {
    const JobParameter& parameter = *setting.parameter;
    const bool of_runner = processes_ && parameter.key == "clients";  // for all jobs
    const std::string_view why = of_runner ? "" : inapplicable_reason(parameter, kind, recorded);
    if (!why.empty()) {
      if (said.of_many) return;
      Inapplicable inapplicable{
          fmt::format("{} does not apply to", setting.place ? parameter.key : parameter.option),
          {printable(job)},
          std::string(why)};
      if (setting.place) fail_at(*setting.place, inapplicable.text());
      std::string text = inapplicable.text();
      applicability_[std::string(parameter.key)].add(std::move(text), std::move(inapplicable));
      return;
    }
    if (!setting.place) applicability_[std::string(parameter.key)].any = true;
    try {
      parameter.set(options, available(setting));
    } catch (const ValueError& error) {
      if (setting.place) fail_at(setting, error);
      throw Error(error.kind(), as_option(error, parameter.option, setting.values.front()));
    } catch (const Error& error) {
      if (setting.place) fail_at(*setting.place, error);
      throw;
    }
  }

  // The values that this machine can use. Others of a plan are left out, with a remark.
  std::vector<std::string> available(const Setting& setting) {
    std::vector<std::string> values = setting.values;
    if (!setting.parameter->lacks) return values;
    std::erase_if(values, [&](const std::string& value) {
      const std::string lacks = setting.parameter->lacks(value);
      if (lacks.empty()) return false;
      const std::string what = fmt::format("'{}'", printable(value));
      if (!setting.place) {
        throw Error(ErrorKind::failed, fmt::format("{} {}: {}; install it, or omit the option",
                                                   setting.parameter->option, what, lacks));
      }
      left_out_.insert(fmt::format("{} is left out: {}", what, lacks));
      return true;
    });
    return values;
  }

  void add_plan(const CatalogueItem& named, const std::vector<const JobSettings*>& said,
                int depth) {
    if (depth > kDeepest) named.document->fail("includes itself");
    const YamlMap map = named.document->map(
        with_parameters({"description", "workload", "jobs", "file_systems", "sweep", "runs",
                         "precision", "budget", "least_runs", "most_runs", "report", "indexes"}));
    if (const YamlValue* value = map.find("description"); value && depth == 0) {
      plan_.description = value->text();
    }
    JobSettings whole = read_settings(map);
    if (const auto automatic = read_auto_runs(map)) {
      plan_.auto_runs = automatic;
      whole.repetitions = true;  // instead of those of a plan within this one
    }
    std::vector<const JobSettings*> inner = {&whole};
    std::ranges::copy(said, std::back_inserter(inner));
    const YamlValue* jobs = map.find("jobs");
    if (jobs) {
      add_items(map, *jobs, whole, said, depth);
    } else {
      add_fc_test(map, inner);
    }
    add_presentation(map);
  }

  // Reads the report of the plan, for the jobs added so far.
  void add_presentation(const YamlMap& map) {
    std::vector<JobRecord> records;
    for (const std::unique_ptr<Job>& job : plan_.jobs) records.push_back(job->record());
    if (const YamlValue* value = map.find("report")) {
      for (const YamlValue& item : value->list(kMostListItems)) {
        plan_.report.push_back(read_view(item, records, sweep_.empty()));
      }
    }
    if (const YamlValue* value = map.find("indexes")) {
      for (const YamlValue& item : value->list(kMostListItems)) {
        IndexDefinition index = read_index(item, records);
        if (contains(plan_.indexes, index.name, &IndexDefinition::name)) {
          item.fail(fmt::format("is a second index '{}'", index.name));
        }
        plan_.indexes.push_back(std::move(index));
      }
    }
  }

  void add_items(const YamlMap& map, const YamlValue& jobs, JobSettings& whole,
                 const std::vector<const JobSettings*>& said, int depth) {
    for (const std::string_view key : {"workload", "sets"}) {
      if (map.find(key)) map.find(key)->fail("is not allowed next to 'jobs'; move it into a job");
    }
    const std::vector<YamlValue> list = jobs.list(kMostJobs);
    if (list.empty()) jobs.fail("is empty");
    whole.of_many = true;
    for (const YamlValue& item : list) add_item(item, whole, said, depth);
  }

  // A plan without `jobs`: FC-Test on its sets.
  void add_fc_test(const YamlMap& map, const std::vector<const JobSettings*>& said) {
    if (const YamlValue* value = map.find("workload"); value && value->text() != "fc-test") {
      value->fail("must be fc-test; list other workloads under 'jobs'");
    }
    map.require("sets");
    add_all(
        swept("fc-test", options_for(JobKind::fc_test, false, "fc-test", said), make_fc_test_jobs));
  }

  void add_item(const YamlValue& item, const JobSettings& whole,
                const std::vector<const JobSettings*>& said, int depth) {
    JobSettings own, full;
    std::string name;
    if (item.is_map()) {
      const YamlMap map =
          item.map(with_parameters({"job", "name", "file_systems", "runs", "sweep", "full"}));
      name = map.require("job").text();
      own = read_job_settings(map);
      if (const YamlValue* value = map.find("name")) own.name = value->text();
      if (const YamlValue* value = map.find("full")) {
        full = read_job_settings(value->map(with_parameters({"file_systems", "runs", "sweep"})));
        plan_.has_full = true;
      }
    } else {
      name = item.text();
    }
    std::vector<const JobSettings*> all = {&whole, &own};
    if (full_) all.push_back(&full);
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

  // Results identify a job by its name, and by its set if only the sets differ.
  void add_job(std::unique_ptr<Job> job) {
    const JobRecord record = job->record();
    check_condition(*job);
    const bool is_new = names_.emplace(record.name, job->set()).second;
    const bool same = std::ranges::all_of(plan_.jobs, [&](const auto& other) {
      return other->record().name != record.name || other->record() == record;
    });
    if (!is_new || !same) {
      throw Error(ErrorKind::usage,
                  fmt::format("duplicate job name {}: give one of the jobs another "
                              "'name' in a plan",
                              printable(record.name)));
    }
    plan_.jobs.push_back(std::move(job));
  }

  static void check_condition(const Job& job) {
    const std::string name = printable(job.record().name);
    if (job.options(0).condition.steady &&
        contains(job.record().axes, "precondition", &SweepAxis::name)) {
      throw Error(
          ErrorKind::usage,
          fmt::format("steady does not apply to {} with a sweep of precondition, which would "
                      "change the state of the drive in each round",
                      name));
    }
    if (!needs_no_volume(job)) return;
    for (std::uint64_t point = 0; point < job.points(); ++point) {
      const Parameters settings = condition_settings(job.options(point).condition);
      if (settings.empty()) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("{} does not apply to {}: the null engine uses no volume",
                              settings.front().first, name));
    }
  }

  Plan& plan_;
  const SweepOverrides& sweep_;
  const bool full_, processes_;
  std::set<std::pair<std::string, std::string>> names_;  // with their sets
  std::map<std::string, std::string> paths_;             // as given, by the name in results
  std::map<std::string, Applicability, std::less<>> applicability_;
  std::set<std::string> left_out_;
};

void check_together(const PlanOverrides& overrides) {
  const auto says = [&](std::string_view key, std::string_view value) {
    return std::ranges::any_of(overrides.parameters, [&](const auto& one) {
      return one.first->key == key && one.second.front() == value;
    });
  };
  if (!says("engine", "null") || !(says("verify", "tree") || says("verify", "content"))) return;
  throw Error(ErrorKind::usage,
              "--verify does not apply to --engine null: it writes nothing to a volume");
}

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
  JobSettings said;
  for (const auto& [parameter, values] : overrides.parameters) {
    said.settings.push_back({parameter, values, {}});
  }
  said.repetitions = overrides.repetitions;
  check_together(overrides);
  Loader loader(plan, overrides);
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    const CatalogueItem item = find_named(name);
    shown.push_back(item.shown_name());
    loader.add(item, {&said}, 0);
  }
  plan.name = joined(shown);
  if (overrides.full && !plan.has_full) {
    throw Error(ErrorKind::usage,
                fmt::format("--full does not apply to {}: none of its jobs has a key 'full'",
                            printable(plan.name)));
  }
  if (overrides.reel_per_client) {
    std::vector<std::unique_ptr<Job>> jobs = std::exchange(plan.jobs, {});
    plan.jobs.push_back(reel_per_client(std::move(jobs)));
  }
  for (const auto& [key, meaning] : loader.applicability()) {
    if (meaning.refusal.empty()) continue;
    if (!meaning.any) throw Error(ErrorKind::usage, meaning.refusal_text());
    for (const auto& other : meaning.others) remarks.push_back(other.text());
  }
  std::ranges::copy(loader.left_out(), std::back_inserter(remarks));
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

double preparation_seconds(const Job& job) {
  constexpr double kOnce = 2;
  if (needs_no_volume(job)) return 0;
  double all = 0;
  for (std::uint64_t point = 0; point < job.points(); ++point) {
    if (point == 0 || !job.follows(point - 1, point)) all += kOnce;
  }
  return all;
}

double expected_seconds(const Job& job, double seconds, std::uint32_t runs) {
  return (seconds + preparation_seconds(job)) * runs;
}

Plan plan_from_yaml(std::string_view text, std::string_view file_name) {
  Plan plan;
  plan.name = file_name;
  const CatalogueItem named{CatalogueItem::Kind::plan, plan.name,
                            parse_yaml(text, file_name, "plan")};
  const PlanOverrides none;
  Loader(plan, none).add(named, {}, 0);
  return plan;
}

}  // namespace filereel

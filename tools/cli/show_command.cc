// filereel show: describes a catalogue entry or a file.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/specification/specification.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/units.h"
#include "replay/json.h"
#include "replay/plan/catalogue.h"
#include "replay/plan/plan.h"
#include "replay/results/result_json.h"
#include "tools/cli/catalogue_summary.h"
#include "tools/cli/commands.h"
#include "tools/cli/heat_map.h"
#include "tools/cli/prediction_table.h"
#include "tools/cli/reel_summary.h"
#include "tools/cli/result_file.h"
#include "tools/cli/result_table.h"
#include "tools/cli/table.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

// What the file systems say of themselves.
std::string volume_features(const Result& result) {
  std::string text;
  for (const VolumeDescription& volume : result.volumes) {
    std::string values = volume.features_unknown;
    for (const auto& [name, value] : volume.features) {
      values += fmt::format("{}{} {}", values.empty() ? "" : ", ", name, value);
    }
    if (volume.used) {
      values +=
          fmt::format("{}{:.0f} % in use before", values.empty() ? "" : ", ", *volume.used * 100);
    }
    if (values.empty()) continue;
    text += wrapped(printable_line(fmt::format("features of {} {} ({}): {}", role_name(volume.role),
                                               volume.target, volume.file_system, values)),
                    2);
  }
  return text;
}

// Results are JSON objects. No other input of `show` starts with a brace.
bool is_result(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char first = 0;
  return in >> std::ws >> first && first == '{';
}

std::vector<std::string_view> names_of(const std::vector<FileSystemKind>& kinds) {
  std::vector<std::string_view> names;
  for (const FileSystemKind kind : kinds) names.push_back(file_system_info(kind).name);
  return names;
}

std::string comma_separated(const std::vector<FileSystemKind>& kinds) {
  return kinds.empty() ? "-" : fmt::format("{}", fmt::join(names_of(kinds), ","));
}

// A job of a plan.
struct JobFacts {
  JobRecord record;
  std::string set;
  std::vector<FileSystemKind> file_systems;
  std::uint32_t runs = 1;
  double seconds = 0;  // of all its runs, on all file systems
};

JobFacts facts_of(const Job& job) {
  JobFacts facts{job.record(), job.set(), file_systems_of(job), runs_of(job), 0};
  const std::size_t times = std::max<std::size_t>(facts.file_systems.size(), 1);
  facts.seconds =
      expected_seconds(job, job.needs({.count = job.volume_count().usual()}).seconds, facts.runs) *
      static_cast<double>(times);
  return facts;
}

// "fc-test programs".
std::string name_of(const JobFacts& facts) {
  return facts.record.name + (facts.set.empty() ? "" : " " + facts.set);
}

std::string settings_of(const Job& job, const JobRecord& record) {
  std::string text = settings_text(record);
  for (const FcStep step : job.options(0).operations) {
    text += fmt::format("{}{}", step == FcStep::create ? ", " : "+", fc_step_name(step));
  }
  if (const auto replay = job.replay_parameters(0)) {
    text += fmt::format(", order {}, pace {}", replay->order, replay->pace);
  }
  for (const SweepAxis& axis : record.axes) {
    text += fmt::format(", {} {}", axis.name, fmt::join(axis.values, "/"));
  }
  return text;
}

std::string describe_duration(double seconds) {
  return fmt::format("{} on a drive of 200 MB/s", format_duration(seconds));
}

Plan plan_named(const std::string& name, bool full = false) {
  std::vector<std::string> remarks;
  PlanOverrides overrides;
  overrides.full = full;
  return load_plan({&name, 1}, overrides, remarks);
}

// A job's own number of runs takes precedence over the plan's automatic repetition.
bool is_automatic(const Plan& plan, const Job& job) {
  return plan.auto_runs && !job.options(0).runs;
}

// Total of all jobs; automatic jobs share one budget.
double seconds_of(const Plan& plan) {
  double seconds = plan.auto_runs ? plan.auto_runs->budget_s : 0;
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    if (!is_automatic(plan, *job)) seconds += facts_of(*job).seconds;
  }
  return seconds;
}

std::string duration_line(std::string_view what, const Plan& plan) {
  return fmt::format("{}: {}{}\n", what, plan.auto_runs ? "at most " : "",
                     describe_duration(seconds_of(plan)));
}

// `full`: the plan of a full run; null if there is none.
std::string describe_plan(const Plan& plan, const Plan* full, const Bold& bold) {
  std::string text = bold(printable_line(plan.name)) + "\n";
  if (!plan.description.empty()) text += wrapped(plan.description, 0);
  text += "\n";
  Rows rows = {{"job", "file systems", "runs", "duration"}};
  std::string settings;
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    const JobFacts facts = facts_of(*job);
    rows.push_back({name_of(facts), comma_separated(facts.file_systems),
                    is_automatic(plan, *job) ? "auto" : fmt::format("{}", facts.runs),
                    format_duration(facts.seconds)});
    settings +=
        wrapped(fmt::format("  {}: {}", name_of(facts), settings_of(*job, facts.record)), 4);
  }
  text += format_columns(std::move(rows)) + "\n" + bold("Parameters") + "\n" + settings + "\n";
  return text + duration_line("duration", plan) + (full ? duration_line("with --full", *full) : "");
}

// `full`: the plan of a full run; null if there is none.
Json plan_to_json(const Plan& plan, const Plan* full) {
  Json json = {{"kind", "plan"},
               {"name", plan.name},
               {"description", plan.description},
               {"seconds", 0.0},
               {"jobs", Json::array()}};
  for (const std::unique_ptr<Job>& job : plan.jobs) {
    const JobFacts facts = facts_of(*job);
    Json one = {{"kind", info_of(facts.record.kind).name}, {"name", facts.record.name}};
    if (!facts.set.empty()) one["set"] = facts.set;
    one["file_systems"] = names_of(facts.file_systems);
    one["runs"] = is_automatic(plan, *job) ? Json("auto") : Json(facts.runs);
    one["scale"] = facts.record.scale;
    one["warm"] = facts.record.warm;
    one["parameters"] = Json::object();
    for (const auto& [key, value] : facts.record.settings) one["parameters"][key] = value;
    one["sweep"] = Json::object();
    for (const SweepAxis& axis : facts.record.axes) one["sweep"][axis.name] = axis.values;
    one["seconds"] = facts.seconds;
    json["jobs"].push_back(std::move(one));
  }
  json["seconds"] = seconds_of(plan);
  if (full) json["full_seconds"] = seconds_of(*full);
  return json;
}

// Default file systems, repetitions and duration of a workload.
std::string describe_run(const JobFacts& facts, std::uint64_t points) {
  Rows rows = {{"file systems", comma_separated(facts.file_systems)},
               {"repetitions", fmt::format("{}", facts.runs)}};
  if (points > 1) rows.push_back({"points", fmt::format("{}", points)});
  rows.push_back({"duration", describe_duration(facts.seconds)});
  std::string text;
  for (const auto& row : rows) text += fmt::format("{:<13} {}\n", row[0].text, row[1].text);
  return text;
}

class Show {
 public:
  // `full`: show the jobs of a full run for plans.
  Show(bool json, bool full, Session& session) : json_(json), full_(full), session_(session) {}

  void item(const CatalogueItem& item) const {
    switch (item.kind) {
      case CatalogueItem::Kind::plan: {
        const Plan plan = plan_named(item.name, full_);
        std::optional<Plan> full;
        if (plan.has_full && !full_) full = plan_named(item.name, true);
        const Plan* other = full ? &*full : nullptr;
        // A plan and a file set may have the same name.
        const bool both = item.in_catalogue && is_catalogue_file_set(item.name);
        const FileSet set = both ? catalogue_file_set(item.name, 1) : FileSet();
        if (json_) {
          Json json = plan_to_json(plan, other);
          if (both) json["file_set"] = file_set_to_json(set);
          return write(json);
        }
        return session_.print(describe_plan(plan, other, bold()) +
                              (both ? "\n" + describe_file_set(set, bold()) : ""));
      }
      case CatalogueItem::Kind::workload:
        return workload(item);
      case CatalogueItem::Kind::file_set: {
        const FileSet set =
            within_memory(fmt::format("the file set '{}'", printable(item.name)), [&] {
              return item.document ? file_set_from_document(*item.document, item.name, 1)
                                   : load_file_set(item.name);
            });
        return json_ ? write(file_set_to_json(set))
                     : session_.print(describe_file_set(set, bold()));
      }
      case CatalogueItem::Kind::reel:
        return reel(item);
    }
  }

  // `wanted`: see heat_maps(), which are then all that is printed.
  void result(const Result& result, const std::string& wanted) const {
    if (json_) return session_.write(result_to_json(result));
    const std::string maps = heat_maps(result, wanted, bold());
    session_.print(wanted.empty() ? format_result(result, bold()) + volume_features(result) + maps
                                  : maps);
  }

  // With `wanted`: also the tables and heat maps of the replays.
  void prediction(const StoredPrediction& stored, const std::string& wanted) const {
    if (json_) return session_.write(prediction_to_json(stored));
    std::string text = format_prediction(stored, bold()) + warnings_of(stored.results);
    for (const Result& result : stored.results) {
      if (wanted.empty()) break;
      text += "\n" + format_result(result, bold()) + heat_maps(result, wanted, bold());
    }
    session_.print(text);
  }

 private:
  Bold bold() const {
    return [this](const std::string& text) { return session_.bold(text, STDOUT_FILENO); };
  }
  void write(const Json& json) const {
    session_.write(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  void reel(const CatalogueItem& item) const {
    const std::unique_ptr<ReelReader> reader = open_reel(item);
    if (json_) {
      if (const auto json = reel_to_json(*reader, session_)) write(*json);
    } else if (const auto text = describe_reel(*reader, item.name, session_)) {
      session_.print(*text);
    }
  }

  void workload(const CatalogueItem& item) const {
    const Workload workload = Workload::from_document(*item.document, item.name);
    const Plan plan = plan_named(item.name);
    const JobFacts facts = facts_of(*plan.jobs.front());
    const std::string reel = workload.recipe(0).reel;
    const std::unique_ptr<ReelReader> reader = reel.empty() ? nullptr : open_reel(item);
    if (json_) {
      Json json = workload_to_json(workload);
      json["file_systems"] = names_of(facts.file_systems);
      json["runs"] = facts.runs;
      json["seconds"] = facts.seconds;
      if (reader) {
        const auto summary = reel_to_json(*reader, session_);
        if (!summary) return;
        json["reel"] = *summary;
      }
      return write(json);
    }
    std::string text = describe_origin(workload, bold()) + "\n" +
                       describe_run(facts, workload.points()) + "\n" +
                       describe_recipe(workload, bold());
    if (reader) {
      const auto summary = describe_reel(*reader, reel, session_);
      if (!summary) return;
      text += *summary;
    }
    session_.print(text);
  }

  bool json_, full_;
  Session& session_;
};

struct ShowArguments {
  std::string name, measurement;
  bool json = false, operations = false, full = false;
};

void show(const ShowArguments& arguments, Session& session) {
  const std::string& name = arguments.name;
  refuse_special_file(name);  // before any of the functions below opens it
  if (arguments.operations) {
    const std::unique_ptr<ReelReader> reader = open_named_reel(name);
    return dump_reel(*reader, name, session);
  }
  const Show show(arguments.json, arguments.full, session);
  if (is_result(name)) {
    const std::string text = read_result(name);
    const auto prediction = load_prediction(name, text);
    return prediction ? show.prediction(*prediction, arguments.measurement)
                      : show.result(load_result(name, text), arguments.measurement);
  }
  if (!arguments.measurement.empty()) {
    throw Error(ErrorKind::usage, "--measurement applies to results only");
  }
  const CatalogueItem item = find_named(name);
  if (arguments.full && item.kind != CatalogueItem::Kind::plan) {
    throw Error(ErrorKind::usage, "--full applies to plans only");
  }
  show.item(item);
}

}  // namespace

void add_show_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("show", "Describe a plan, a workload, a file set, a reel or a result");
  const auto arguments = std::make_shared<ShowArguments>();
  command->add_option("NAME", arguments->name, "Catalogue name or file")->required();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_flag("--full", arguments->full, "Show the jobs of a full run (run --full)");
  command->add_flag("--operations", arguments->operations,
                    "Print every operation of a reel, one per line");
  command->add_option("--measurement", arguments->measurement,
                      "Draw heat maps of measurements with this text in their title");
  command->footer(
      "Examples:\n  filereel show programs\n  filereel show random-read\n"
      "  filereel show drive.json\n  filereel show drive.json --measurement 'ext4 create'\n"
      "  filereel show app.reel --operations | grep fsync");
  command->callback([arguments, &session] { show(*arguments, session); });
}

}  // namespace filereel

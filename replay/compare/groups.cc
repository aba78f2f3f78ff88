#include "replay/compare/groups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/compare/compared_figures.h"
#include "replay/results/file_systems.h"
#include "replay/results/work_names.h"

namespace filereel {
namespace {

const std::string* value_of(const Parameters& all, const std::string& name) {
  const auto* found = find_or_null(all, name, &Parameters::value_type::first);
  return found ? &found->second : nullptr;
}

Parameters all_of(const WorkDone& done) {
  Parameters all = done.work;
  all.insert(all.end(), done.settings.begin(), done.settings.end());
  return all;
}

// "end time instead of work", "caches warm instead of cold, driver ntfs3 instead of ntfs-3g"; of
// unequal work only what is unequal in it, of another scale that alone.
std::string difference_text(const WorkDone& done, const WorkDone& other) {
  const bool by_work = !fit(done.work, other.work);
  const Parameters mine = by_work ? done.work : done.settings,
                   kept = by_work ? other.work : other.settings;
  const auto value = [](const Parameters& all, const std::string& name) {
    const std::string* found = value_of(all, name);
    return found ? *found : "not set";
  };
  std::vector<std::string> names, parts;
  for (const Parameters* all : {&mine, &kept}) {
    for (const auto& [name, _] : *all) {
      if (!contains(names, name)) names.push_back(name);
    }
  }
  for (const std::string& name : names) {
    if (by_work && (!value_of(mine, name) || !value_of(kept, name))) continue;
    const std::string here = value(mine, name), there = value(kept, name);
    if (here == there) continue;
    parts.push_back(fmt::format("{} {} instead of {}", words_of(name), here, there));
    // The amount of work and the content of a file set follow from it.
    if (by_work && name == "scale") break;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The amount of work, if all samples have the same.
void add_amount(const Measurement& measurement, Parameters& work) {
  const bool by_set = info_of(measurement.kind).by_set;
  if (!by_set && measurement.ends != PhaseEnd::work) return;
  std::vector<std::string> amounts;
  for (const Sample& sample : measurement.samples) {
    if (!has_figure(measurement, sample)) continue;
    std::string amount = by_set ? fmt::format("{} in {}", counted(sample.bytes, "byte"),
                                              counted(sample.files, "file"))
                                : counted(sample.operations, "operation");
    if (amounts.empty() || amounts.front() != amount) amounts.push_back(std::move(amount));
  }
  if (amounts.size() == 1) work.emplace_back("work", amounts.front());
}

}  // namespace

bool fit(const Parameters& one, const Parameters& other) {
  return std::ranges::all_of(one, [&](const auto& part) {
    const std::string* value = value_of(other, part.first);
    return !value || *value == part.second;
  });
}

WorkDone work_done(const Result& result, const Measurement& measurement) {
  const JobRecord& job = result.job_of(measurement);
  WorkDone done;
  done.work.emplace_back("scale", fmt::format("{}", job.scale));
  if (measurement.ends) done.work.emplace_back("end", phase_end_name(*measurement.ends));
  if (!measurement.work_digest.empty()) {
    done.work.emplace_back("content", measurement.work_digest.substr(0, 8));
  }
  if (const auto& cached = measurement.without_direct_io) {
    done.work.emplace_back("direct I/O", *cached ? "unavailable" : "available");
  }
  add_amount(measurement, done.work);
  done.settings = {{"caches", job.warm ? "warm" : "cold"}, {"driver", measurement.driver}};
  done.settings.insert(done.settings.end(), job.settings.begin(), job.settings.end());
  return done;
}

// A measurement of a group.
struct Matching::Occurrence {
  std::size_t group = 0;
  const Result* result = nullptr;
  WorkDone done;
};

Matching::Matching(std::span<const std::span<const Result>> groups, bool across)
    : groups_(groups.begin(), groups.end()), across_(across) {
  std::map<MeasurementKey, std::vector<Occurrence>> by_key;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Result& result : groups[group]) {
      for (const Measurement& measurement : result.measurements) {
        by_key[plain_key(measurement)].push_back({group, &result, work_done(result, measurement)});
      }
    }
  }
  for (const auto& [key, all] : by_key) choose(key, all);
}

MeasurementKey Matching::plain_key(const Measurement& measurement) const {
  MeasurementKey key = key_of(measurement);
  if (across_) key.file_system.clear();
  return key;
}

bool Matching::is_same(const WorkDone& own, const WorkDone& other, bool by_settings) {
  return fit(own.work, other.work) && (!by_settings || own.settings == other.settings);
}

// Nothing if no two groups have a kind in common.
std::optional<Matching::Rule> Matching::rule_for(std::span<const Occurrence> all,
                                                 bool by_settings) {
  std::vector<Kind> kinds;
  std::set<std::size_t> groups;
  for (const Occurrence& occurrence : all) {
    auto kind = std::ranges::find_if(kinds, [&](const Kind& other) {
      return is_same(occurrence.done, other.done, by_settings);
    });
    if (kind == kinds.end()) kind = kinds.insert(kind, {.done = occurrence.done});
    for (const auto& part : occurrence.done.work) {
      if (!value_of(kind->done.work, part.first)) kind->done.work.push_back(part);
    }
    kind->groups.insert(occurrence.group);
    groups.insert(occurrence.group);
  }
  const auto count = [](const Kind& kind) { return kind.groups.size(); };
  const auto most = std::ranges::max_element(kinds, {}, count);
  if (count(*most) < 2) return std::nullopt;
  Rule rule{.by_settings = by_settings};
  if (count(*most) == groups.size()) {
    std::ranges::copy_if(kinds, std::back_inserter(rule.kept),
                         [&](const Kind& one) { return count(one) == groups.size(); });
  } else {
    rule.kept.push_back(*most);
  }
  for (const Kind& kind : rule.kept) rule.groups.insert(kind.groups.begin(), kind.groups.end());
  rule.distinction = distinctions(rule.kept, by_settings);
  return rule;
}

// What tells each kind from the others.
std::vector<Parameters> Matching::distinctions(std::span<const Kind> kinds, bool by_settings) {
  std::vector<Parameters> list;
  for (const Kind& kind : kinds) {
    list.push_back(by_settings ? all_of(kind.done) : kind.done.work);
  }
  const std::vector<Parameters> all = list;
  for (Parameters& parameters : list) {
    std::erase_if(parameters, [&](const auto& part) {
      return std::ranges::all_of(all, [&](const Parameters& other) {
        const std::string* value = value_of(other, part.first);
        return value && *value == part.second;
      });
    });
  }
  return list;
}

void Matching::choose(const MeasurementKey& key, std::span<const Occurrence> all) {
  std::optional<Rule> rule = rule_for(all, true);
  if (!rule) rule = rule_for(all, false);
  if (!rule) return;
  for (const Occurrence& occurrence : all) {
    const auto is_kind = [&](const Kind& kind) {
      return is_same(occurrence.done, kind.done, rule->by_settings);
    };
    if (rule->groups.contains(occurrence.group) && std::ranges::none_of(rule->kept, is_kind)) {
      leave_out(occurrence, rule->kept.front());
    }
  }
  rules_.emplace(key, *std::move(rule));
}

void Matching::leave_out(const Occurrence& occurrence, const Kind& kept) {
  const std::string why = difference_text(occurrence.done, kept.done);
  auto found = std::ranges::find_if(left_out_, [&](const LeftOut& other) {
    return other.group == occurrence.group && other.result == occurrence.result && other.why == why;
  });
  if (found == left_out_.end()) {
    found = left_out_.insert(found,
                             {.group = occurrence.group, .result = occurrence.result, .why = why});
  }
  ++found->measurements;
}

std::optional<MeasurementKey> Matching::find_key(const Result& result,
                                                 const Measurement& measurement,
                                                 std::optional<std::size_t> group) const {
  MeasurementKey key = plain_key(measurement);
  const auto found = rules_.find(key);
  if (found == rules_.end()) return key;
  const Rule& rule = found->second;
  const WorkDone done = work_done(result, measurement);
  const auto kind = std::ranges::find_if(
      rule.kept, [&](const Kind& one) { return is_same(done, one.done, rule.by_settings); });
  const bool is_kept = kind != rule.kept.end();
  // A group without any of the kinds is there to be told what differs.
  if (!is_kept && (!group || rule.groups.contains(*group))) return std::nullopt;
  const std::size_t place = is_kept ? static_cast<std::size_t>(kind - rule.kept.begin()) : 0;
  std::ranges::copy(rule.distinction[place], std::back_inserter(key.parameters));
  return key;
}

bool Matching::is_unused(std::size_t group, const Result& result) const {
  std::size_t count = 0;
  for (const LeftOut& omission : left_out_) {
    if (omission.group == group && omission.result == &result) count += omission.measurements;
  }
  return count > 0 && count == result.measurements.size();
}

bool Matching::leaves_out_results() const {
  return std::ranges::any_of(left_out_, [&](const LeftOut& omission) {
    return is_unused(omission.group, *omission.result);
  });
}

std::vector<Result> Matching::used(std::size_t group) const {
  std::vector<Result> list;
  std::ranges::copy_if(groups_[group], std::back_inserter(list),
                       [&](const Result& result) { return !is_unused(group, result); });
  return list;
}

std::vector<Warning> Matching::warnings(std::span<const std::string> names) const {
  struct Line {
    std::size_t group = 0;
    std::string why;
    std::vector<std::string> results = {};
    std::size_t measurements = 0;  // 0: all of them
  };
  std::vector<Line> lines;
  for (const LeftOut& omission : left_out_) {
    const std::size_t of = is_unused(omission.group, *omission.result) ? 0 : omission.measurements;
    auto line = std::ranges::find_if(lines, [&](const Line& other) {
      return other.group == omission.group && other.why == omission.why && other.measurements == of;
    });
    if (line == lines.end()) {
      line = lines.insert(line, {.group = omission.group, .why = omission.why, .measurements = of});
    }
    line->results.push_back(omission.result->started);
  }
  std::vector<Warning> list;
  for (const Line& line : lines) {
    const std::string part =
        line.measurements == 0 ? "" : " of " + counted(line.measurements, "measurement");
    list.push_back(
        {"left-out",
         fmt::format("{} of {} {} left out{}: {} ({})",
                     counted_of(line.results.size(), groups_[line.group].size(), "result"),
                     names[line.group], agreeing(line.results.size(), "is", "are"), part, line.why,
                     fmt::join(line.results, ", ")),
         "compare results of the same plan and options"});
  }
  return list;
}

namespace {

std::vector<std::string> all_file_systems(std::span<const ResultGroup> groups) {
  std::vector<std::string> names;
  for (const ResultGroup& group : groups) {
    for (std::string& name : file_systems_of(group.results)) {
      if (!contains(names, name)) names.push_back(std::move(name));
    }
  }
  return names;
}

// Whether each group has a single file system, and they differ.
bool are_across(std::span<const ResultGroup> groups) {
  const bool single = std::ranges::all_of(
      groups, [](const ResultGroup& group) { return file_systems_of(group.results).size() <= 1; });
  return single && all_file_systems(groups).size() > 1;
}

std::vector<std::span<const Result>> results_of(std::span<const ResultGroup> groups) {
  std::vector<std::span<const Result>> all;
  for (const ResultGroup& group : groups) all.emplace_back(group.results);
  return all;
}

}  // namespace

void name_alike(std::span<ResultGroup> groups) {
  std::vector<Result*> all;
  for (ResultGroup& group : groups) {
    for (Result& result : group.results) all.push_back(&result);
  }
  name_alike(all);
}

std::vector<ResultGroup> by_file_system(std::span<const ResultGroup> groups,
                                        std::span<const std::string> file_systems) {
  const auto is_asked_for = [&](const std::string& name) {
    return file_systems.empty() || contains(file_systems, name);
  };
  std::vector<ResultGroup> list;
  for (const ResultGroup& group : groups) {
    std::vector<std::string> names = file_systems_of(group.results);
    std::erase_if(names, [&](const std::string& name) { return !is_asked_for(name); });
    for (const std::string& name : names) {
      ResultGroup& result_group = list.emplace_back();
      result_group.files = group.files;
      result_group.name = groups.size() == 1  ? name
                          : names.size() == 1 ? group.name
                                              : fmt::format("{} {}", group.name, name);
      result_group.results = all_on(group.results, name);
    }
  }
  return list;
}

bool share_file_systems(std::span<const ResultGroup> groups) {
  if (groups.size() < 3) return false;
  std::map<std::string, std::size_t> counts;
  for (const ResultGroup& group : groups) {
    for (const std::string& name : file_systems_of(group.results)) ++counts[name];
  }
  const auto is_common = [&](const std::string& name) { return counts[name] > 1; };
  const auto has_common = [&](const ResultGroup& group) {
    return std::ranges::any_of(file_systems_of(group.results), is_common);
  };
  return std::ranges::count_if(counts, [](const auto& one) { return one.second > 1; }) > 1 &&
         std::ranges::all_of(groups, has_common);
}

MatchedGroups::MatchedGroups(std::span<const ResultGroup> groups)
    : list_(groups), across_(are_across(groups)), matching_(results_of(groups), across_) {
  for (const ResultGroup& group : groups) {
    gathered_.push_back(gather(group.results, matching_, gathered_.size()));
  }
  std::map<MeasurementKey, std::size_t> places;
  for (std::size_t number = 0; number < gathered_.size(); ++number) {
    for (const PooledMeasurement& pooled : gathered_[number]) {
      const auto [place, is_new] = places.try_emplace(pooled.key, measurements_.size());
      if (is_new) {
        measurements_.push_back(
            {pooled.key, std::vector<const PooledMeasurement*>(groups.size(), nullptr)});
      }
      measurements_[place->second].of[number] = &pooled;
    }
  }
}

std::vector<ResultGroup> MatchedGroups::used() const {
  std::vector<ResultGroup> used;
  for (const ResultGroup& group : list_) {
    used.push_back({.name = group.name, .results = matching_.used(used.size())});
  }
  return used;
}

std::vector<Warning> MatchedGroups::warnings() const {
  std::vector<std::string> names;
  for (const ResultGroup& group : list_) names.push_back(group.name);
  return matching_.warnings(names);
}

}  // namespace filereel

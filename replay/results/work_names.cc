#include "replay/results/work_names.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "filesets/system/paths.h"

namespace filereel {
namespace {

void for_each_measurement(Result& result, const std::function<void(Measurement&)>& visit) {
  std::ranges::for_each(result.measurements, visit);
  for (Result& control : result.control) std::ranges::for_each(control.measurements, visit);
}

// The patterns of indices have names of jobs and sets among other words (IndexDefinition).
void rename_in_indexes(Result& result, const std::string& from, const std::string& to) {
  for (IndexDefinition& definition : result.plan.indexes) {
    for (std::string& pattern : definition.patterns) {
      const std::size_t found = (" " + pattern + " ").find(" " + from + " ");
      if (found != std::string::npos) pattern.replace(found, from.size(), to);
    }
  }
}

void rename_job(Result& result, const std::string& from, const std::string& to) {
  for (JobRecord& job : result.plan.jobs) {
    if (job.name == from) job.name = to;
  }
  for (WorkRecord& work : result.plan.work) {
    if (work.job == from) work.job = to;
  }
  for (ReportView& view : result.plan.report) std::ranges::replace(view.jobs, from, to);
  rename_in_indexes(result, from, to);
  for_each_measurement(result, [&](Measurement& measurement) {
    if (measurement.workload == from) measurement.workload = to;
  });
}

void rename_set(Result& result, const std::string& from, const std::string& to) {
  for (WorkRecord& work : result.plan.work) {
    if (work.set == from) work.set = to;
  }
  for (ReportView& view : result.plan.report) std::ranges::replace(view.sets, from, to);
  rename_in_indexes(result, from, to);
  for_each_measurement(result, [&](Measurement& measurement) {
    if (measurement.set == from) measurement.set = to;
  });
}

const std::string& name_of(const WorkRecord& work) {
  return work.set.empty() ? work.job : work.set;
}

// Also in results from before WorkRecord was stored.
bool has_name(const Result& result, const WorkRecord& like, const std::string& name) {
  const bool of_job = like.set.empty();
  return std::ranges::any_of(result.plan.work,
                             [&](const WorkRecord& work) {
                               return work.set.empty() == of_job && name_of(work) == name;
                             }) ||
         std::ranges::any_of(result.measurements, [&](const Measurement& measurement) {
           return (of_job ? measurement.workload : measurement.set) == name;
         });
}

std::set<std::string> digests_of(const Result& result, const WorkRecord& work) {
  std::set<std::string> digests;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.workload == work.job && measurement.set == work.set)
      digests.insert(measurement.work_digest);
  }
  digests.erase("");
  return digests;
}

bool do_the_same(const Result& result, const WorkRecord& first, const Result& other,
                 const WorkRecord& second) {
  if (first.set.empty() != second.set.empty()) return false;
  const std::set<std::string> known = digests_of(result, first),
                              digests = digests_of(other, second);
  return std::ranges::any_of(digests,
                             [&](const std::string& digest) { return known.contains(digest); });
}

// The name that an earlier result has for the work of a file; "" if there is none to use.
std::string earlier_name(std::span<Result* const> earlier, const Result& result,
                         const WorkRecord& work) {
  for (const Result* other : earlier) {
    if (has_name(*other, work, name_of(work))) return "";
    for (const WorkRecord& known : other->plan.work) {
      if (is_named_after_file(known) && !has_name(result, work, name_of(known)) &&
          do_the_same(*other, known, result, work)) {
        return name_of(known);
      }
    }
  }
  return "";
}

}  // namespace

bool is_named_after_file(const WorkRecord& work) {
  return !work.file.empty() &&
         (name_of(work) == work.file || work.file.starts_with(name_of(work) + "."));
}

void name_alike(std::span<Result* const> results) {
  for (std::size_t i = 1; i < results.size(); ++i) {
    Result& result = *results[i];
    const std::vector<WorkRecord> all = result.plan.work;
    for (const WorkRecord& work : all) {
      if (!is_named_after_file(work)) continue;
      const std::string name = earlier_name(results.first(i), result, work);
      if (name.empty()) continue;
      work.set.empty() ? rename_job(result, work.job, name) : rename_set(result, work.set, name);
    }
  }
}

void shorten_older_names(Result& result) {
  if (!result.plan.work.empty()) return;
  std::vector<std::string> names, shorter;
  for (const JobRecord& job : result.plan.jobs) {
    names.push_back(job.name);
    const bool is_recipe = job.name.ends_with(".yaml") || job.name.ends_with(".yml");
    shorter.push_back(is_recipe ? base_name(job.name) : job.name);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (shorter[i] == names[i] || std::ranges::count(shorter, shorter[i]) > 1) continue;
    rename_job(result, names[i], shorter[i]);
  }
}

}  // namespace filereel

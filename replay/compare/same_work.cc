#include "replay/compare/same_work.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "traces/catalogue_reel.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

using Groups = std::span<const std::span<const Result>>;
using Lines = std::vector<std::string>;

struct WorkId {
  JobKind kind = JobKind::fc_test;
  std::string job, set;

  std::string name() const { return work_name(kind, job, set); }
  auto operator<=>(const WorkId&) const = default;
};

WorkId id_of(const Measurement& measurement) {
  return {measurement.kind, measurement.workload, measurement.set};
}

bool has(const Lines& lines, const std::string& line) {
  return contains(lines, line);
}

// What is known of one work in all results.
struct KnownWork {
  struct KnownPoint {
    std::set<std::string> digests;
    Lines files;  // with these digests
  };
  // By point, and by scale: that of a file set is part of its content.
  std::map<std::pair<Parameters, double>, KnownPoint> points;
  std::vector<const WorkRecord*> records;
  bool unknown = false;          // in some results
  std::set<std::size_t> groups;  // that have it

  bool differs() const {
    return std::ranges::any_of(points,
                               [](const auto& one) { return one.second.digests.size() > 1; });
  }
};

std::map<WorkId, KnownWork> works_of(Groups groups) {
  std::map<WorkId, KnownWork> works;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const Result& result : groups[group]) {
      std::set<WorkId> here;
      for (const Measurement& measurement : result.measurements) {
        KnownWork& work = works[id_of(measurement)];
        work.groups.insert(group);
        const WorkRecord* record = result.work_of(measurement);
        if (measurement.work_digest.empty()) {
          work.unknown = true;
        } else {
          KnownWork::KnownPoint& point =
              work.points[{key_of(measurement).parameters, result.job_of(measurement).scale}];
          point.digests.insert(measurement.work_digest);
          const bool of_file = record && !record->file.empty();
          if (of_file && !has(point.files, record->file)) point.files.push_back(record->file);
        }
        if (here.insert(id_of(measurement)).second && record) work.records.push_back(record);
      }
    }
  }
  return works;
}

std::string text_of(const Lines& lines) {
  constexpr std::size_t kMost = 4;
  Lines few;
  for (const std::string& line : lines) {
    if (few.size() == kMost) break;
    few.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
  }
  std::string text = fmt::format("{}", fmt::join(few, "; "));
  if (lines.size() > kMost) {
    text += fmt::format(" and {}", counted(lines.size() - kMost, "more line", "more lines"));
  }
  return text;
}

// The lines that not all records have.
Lines own_lines(const Lines& lines, const std::vector<const WorkRecord*>& all) {
  Lines own;
  std::ranges::copy_if(lines, std::back_inserter(own), [&](const std::string& line) {
    return !std::ranges::all_of(all, [&](const WorkRecord* work) { return has(work->does, line); });
  });
  return own;
}

// What a result does in the work that differs. Without a difference in words, its digest.
void add_own_text(const WorkId& id, const KnownWork& work, const Result& result, Values& values) {
  const auto found = std::ranges::find(result.measurements, id, id_of);
  if (found == result.measurements.end() || found->work_digest.empty()) return;
  const WorkRecord* record = result.work_of(*found);
  const bool in_words = std::ranges::any_of(
      work.records, [&](const WorkRecord* one) { return one->does != work.records.front()->does; });
  if (!record || !in_words) return values.add("content " + found->work_digest.substr(0, 8));
  const Lines own = own_lines(record->does, work.records);
  values.add(own.empty() ? "nothing else" : text_of(own));
}

// Whether the name is one of the catalogue, which says what the work is.
bool is_in_catalogue(const WorkId& id) {
  const JobKindInfo& kind = info_of(id.kind);
  if (kind.by_set) return is_catalogue_file_set(id.set);
  const bool is_reel =
      kind.replays && contains(reel_catalogue(), id.job + ".reel", &CatalogueReel::name);
  return is_reel || is_catalogue_workload(id.job);
}

}  // namespace

std::string work_name(JobKind kind, const std::string& job, const std::string& set) {
  return fmt::format("{} {}", info_of(kind).work, info_of(kind).by_set ? set : job);
}

ChangedLines changed_lines(const WorkRecord& before, const WorkRecord& after) {
  const std::vector<const WorkRecord*> both = {&before, &after};
  return {text_of(own_lines(before.does, both)), text_of(own_lines(after.does, both))};
}

std::vector<ComparedProperty> work_properties(Groups groups) {
  std::vector<ComparedProperty> list;
  for (const auto& [id, work] : works_of(groups)) {
    if (!work.differs()) continue;
    list.push_back(
        {ChangeKind::other, id.name(), [id, work](const PreparedResult& looked, Values& values) {
           add_own_text(id, work, looked.result, values);
         }});
  }
  return list;
}

std::vector<Warning> work_warnings(Groups groups) {
  std::vector<Warning> warnings;
  std::vector<std::string> unknown;
  for (const auto& [id, work] : works_of(groups)) {
    if (work.groups.size() < 2) continue;
    if (work.unknown && !is_in_catalogue(id)) unknown.push_back(id.name());
    Lines files;
    for (const auto& [_, point] : work.points) {
      if (point.files.size() > files.size()) files = point.files;
    }
    if (files.size() < 2 || work.differs()) continue;
    warnings.push_back(
        {"renamed-file",
         fmt::format("the content of {} is the same: compared as {}", fmt::join(files, " and "),
                     info_of(id.kind).by_set ? id.set : id.job),
         "give both files the same name if tables should show it"});
  }
  if (!unknown.empty()) {
    constexpr std::size_t kFew = 3;
    const std::size_t all = unknown.size(), more = all - std::min(all, kFew);
    unknown.resize(all - more);
    warnings.push_back(
        {"work-unknown",
         fmt::format("the {}{} {} not known in every result: compared by name",
                     fmt::join(unknown, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
                     agreeing(all, "is", "are")),
         "if the file may have changed in between, repeat the older run"});
  }
  return warnings;
}

}  // namespace filereel

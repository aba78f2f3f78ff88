#include "replay/compare/groups.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "filesets/system/search.h"
#include "replay/results/file_systems.h"
#include "replay/results/work_names.h"

namespace filereel {
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
      ResultGroup& one = list.emplace_back();
      one.files = group.files;
      one.name = groups.size() == 1  ? name
                 : names.size() == 1 ? group.name
                                     : fmt::format("{} {}", group.name, name);
      one.results = all_on(group.results, name);
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
    for (const PooledMeasurement& one : gathered_[number]) {
      const auto [place, is_new] = places.try_emplace(one.key, measurements_.size());
      if (is_new) {
        measurements_.push_back(
            {one.key, std::vector<const PooledMeasurement*>(groups.size(), nullptr)});
      }
      measurements_[place->second].of[number] = &one;
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

#include "replay/plan/plan_report.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/results/metrics.h"
#include "replay/results/selection.h"

namespace filereel {
namespace {

constexpr std::size_t kMostTexts = 100;

std::vector<std::string> read_texts(const YamlMap& map, std::string_view key) {
  std::vector<std::string> texts;
  if (const YamlValue* value = map.find(key)) {
    for (const YamlValue& item : value->list(kMostTexts)) texts.push_back(item.text());
  }
  return texts;
}

// Whether a pattern of measurements, whose names begin with that of their job, may match one of the
// job. The rest follows at a blank, or within what an asterisk stands for.
bool may_match(const std::string& pattern, const std::string& job) {
  if (matches(pattern, job)) return true;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == ' ' && matches(pattern.substr(0, i), job)) return true;
    if (pattern[i] == '*' && matches(pattern.substr(0, i + 1), job)) return true;
  }
  return false;
}

void check_metric(const YamlValue& value) {
  if (find_metric(value.text())) return;
  std::vector<std::string_view> names;
  for (const Metric& metric : metrics()) names.push_back(metric.name);
  value.fail(fmt::format("has '{}', which is not a metric{}", printable(value.text()),
                         use_one_of(value.text(), names)));
}

}  // namespace

ReportView read_view(const YamlValue& item, std::span<const JobRecord> jobs, bool swept) {
  const YamlMap map =
      item.map({"title", "text", "jobs", "operations", "sets", "metrics", "form", "by", "at"});
  ReportView view;
  view.jobs = read_texts(map, "jobs");
  view.operations = read_texts(map, "operations");
  view.sets = read_texts(map, "sets");
  for (const std::string& pattern : view.jobs) {
    const bool any =
        std::ranges::any_of(jobs, [&](const JobRecord& job) { return matches(pattern, job.name); });
    if (!any) map.find("jobs")->fail(fmt::format("names '{}', but no job has this name", pattern));
  }
  if (const YamlValue* value = map.find("title")) view.title = value->text();
  if (const YamlValue* value = map.find("text")) view.text = value->text();
  if (const YamlValue* value = map.find("metrics")) {
    for (const YamlValue& metric : value->list(kMostTexts)) {
      check_metric(metric);
      view.metrics.push_back(metric.text());
    }
  }
  if (const YamlValue* value = map.find("form")) {
    view.form = value->text();
    if (!contains(kViewForms, view.form)) {
      value->fail(fmt::format("has '{}', which is not a form{}", printable(view.form),
                              use_one_of(view.form, kViewForms)));
    }
  }
  const auto check_axis = [&](const YamlValue& place, const std::string& name) {
    std::vector<std::string> values;
    if (!swept || contains(kPlainAxes, name)) return values;
    for (const JobRecord& job : jobs) {
      const SweepAxis* const axis = find_or_null(job.axes, name, &SweepAxis::name);
      if (is_selected(view.jobs, job.name) && axis) {
        values.insert(values.end(), axis->values.begin(), axis->values.end());
      }
    }
    if (values.empty()) place.fail(fmt::format("'{}' is not swept by any of the jobs", name));
    return values;
  };
  if (const YamlValue* value = map.find("by")) {
    view.by = value->text();
    check_axis(*value, view.by);
  }
  if (const YamlValue* value = map.find("at")) {
    for (const auto& [axis, shown] : value->items()) {
      const std::vector<std::string> values = check_axis(shown, axis);
      const std::string& at = view.at[axis] = shown.text();
      if (!values.empty() && !contains(values, at)) {
        shown.fail(fmt::format("'{}' is none of the values of '{}': {}", printable(at), axis,
                               fmt::join(values, ", ")));
      }
    }
  }
  return view;
}

IndexDefinition read_index(const YamlValue& item, std::span<const JobRecord> jobs) {
  const YamlMap map = item.map({"name", "of", "metric"});
  IndexDefinition index;
  index.name = map.require("name").text();
  if (map.find("of")) index.patterns = read_texts(map, "of");
  for (const std::string& pattern : index.patterns) {
    const bool any = std::ranges::any_of(
        jobs, [&](const JobRecord& job) { return may_match(pattern, job.name); });
    if (!any) {
      map.find("of")->fail(
          fmt::format("has '{}', but no job has this name: a pattern is one of a job, or of a job "
                      "and its operation",
                      printable(pattern)));
    }
  }
  if (const YamlValue* value = map.find("metric")) {
    index.metric = value->text();
    if (index.metric != kStorageMetric) check_metric(*value);
  }
  return index;
}

}  // namespace filereel

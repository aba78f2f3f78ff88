#include "replay/report/formatting.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/units.h"

namespace filereel {

std::string sentence_of(std::string text, std::string_view end) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text.ends_with('.') ? text : text.append(end);
}

std::string figure_text(Unit unit, double figure) {
  constexpr double kSmall = 0.1;
  switch (unit) {
    case Unit::seconds:
      return format_duration(figure);
    case Unit::microseconds:
      return format_duration(figure * 1e-6);
    case Unit::share:
      return figure < kSmall ? fmt::format("{:.1f} %", figure * 100) : share_text(figure);
    case Unit::mb_per_s:
    case Unit::per_second:
      break;
  }
  return format_number(figure);
}

Interval range_of(const Spread& spread) {
  return spread.interval.value_or(Interval{spread.low, spread.high});
}

std::string share_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string describe_runs(const Result& result) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0, precise = 0, all = 0;
  std::set<std::string> ends;
  for (const Measurement& one : result.measurements) {
    if (one.samples.empty()) continue;
    ++all;
    least = std::min(least, one.samples.size());
    most = std::max(most, one.samples.size());
    if (one.runs_ended == "precise") ++precise;
    ends.insert(one.runs_ended);
  }
  if (all == 0) return "no runs";
  std::string text = least == most ? counted(most, "run", "runs") + " each"
                                   : fmt::format("{} to {} runs each", least, most);
  const std::optional<AutoRuns>& automatic = result.plan.auto_runs;
  if (!automatic) return text;
  text += fmt::format(", intervals of {} within {:.3g} %", counted_of(precise, all, "measurement"),
                      automatic->width * 100);
  if (ends.contains("budget")) {
    text += fmt::format(" (no further one fits into the budget of {})",
                        format_duration(automatic->budget_s));
  }
  if (ends.contains("most")) {
    text += fmt::format(" (limit of {} reached)", counted(automatic->most, "run", "runs"));
  }
  return text;
}

std::vector<std::string> describe_settings(const Result& result) {
  std::vector<std::pair<std::string, std::string>> groups;  // settings, names
  for (const JobRecord& job : result.plan.jobs) {
    const std::string text = settings_text(job, result.volumes);
    const auto same = std::ranges::find(groups, text, &std::pair<std::string, std::string>::first);
    if (same == groups.end()) {
      groups.emplace_back(text, job.name);
    } else {
      same->second += ", " + job.name;
    }
  }
  std::vector<std::string> list;
  for (const auto& [how, names] : groups) {
    list.push_back(groups.size() > 1 ? fmt::format("{}: {}", names, how) : how);
  }
  return list;
}

std::string divergences_text(const Measurement& measurement) {
  const Differences all = differences_of(measurement);
  return all.results == 0 ? "0" : fmt::format("{} of {}", all.results, all.operations);
}

std::string differing_text(const Measurement& measurement) {
  const Differences all = differences_of(measurement);
  return fmt::format("{} {}{}", counted_of(all.results, all.operations, "result"),
                     agreeing(all.results, "differs", "differ"), in_runs(all));
}

std::string in_runs(const Differences& all) {
  return all.runs < 2 ? "" : fmt::format(" in {}", counted(all.runs, "run"));
}

std::string clients_text(std::span<const Measurement* const> measurements) {
  std::set<std::size_t> clients, hosts;
  for (const Measurement* measurement : measurements) {
    for (const Sample& sample : measurement->samples) {
      if (!sample.clients) continue;
      std::set<std::string_view> names;
      for (const ClientFigures& one : sample.clients->each) names.insert(one.host);
      clients.insert(sample.clients->each.size());
      hosts.insert(names.size());
    }
  }
  if (clients.empty() || *clients.rbegin() < 2) return "";
  const auto counted_text = [](const std::set<std::size_t>& counts, std::string_view what) {
    const std::size_t least = *counts.begin(), most = *counts.rbegin();
    const std::string range = least < most ? fmt::format("{} to ", least) : "";
    return range + counted(most, what);
  };
  return counted_text(clients, "client") + " on " + counted_text(hosts, "host");
}

std::string step_of(const Measurement& measurement) {
  const bool usual = measurement.workload == info_of(measurement.kind).name;
  return (usual ? "" : measurement.workload + " ") + measurement.operation +
         point_text(measurement.parameters);
}

std::string subject_of(const Measurement& measurement) {
  const JobKindInfo& kind = info_of(measurement.kind);
  if (kind.by_set) return fmt::format("{} {}", step_of(measurement), measurement.set);
  std::string text = measurement.workload;
  if (!kind.replays && measurement.operation != text) text += " " + measurement.operation;
  return text + point_text(measurement.parameters);
}

}  // namespace filereel

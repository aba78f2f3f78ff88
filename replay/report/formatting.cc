#include "replay/report/formatting.h"

#include <algorithm>
#include <set>

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

std::string share_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
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

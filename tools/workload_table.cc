#include "tools/workload_table.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "replay/report/formatting.h"
#include "replay/results/client_samples.h"
#include "replay/results/metrics.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

using Measurements = std::vector<const Measurement*>;  // null: not measured

// "MB/s (first ended)": the part in parentheses goes below.
Cell column_heading(std::string_view heading) {
  const std::size_t note = heading.find(" (");
  if (note == std::string_view::npos) return std::string(heading);
  Cell cell = std::string(heading.substr(0, note));
  cell.below = heading.substr(note + 2, heading.size() - note - 3);
  return cell;
}

// Rates with the range of their samples.
Cell cell_of(const Metric& metric, const std::optional<Spread>& spread) {
  const bool rate = metric.unit == Unit::mb_per_s || metric.unit == Unit::per_second;
  if (spread && rate) return spread_cell(spread);
  return spread ? figure_text(metric.unit, spread->median) : "-";
}

std::vector<const Metric*> brief_metrics() {
  std::vector<const Metric*> list;
  for (const Metric& metric : metrics()) {
    if (metric.brief) list.push_back(&metric);
  }
  return list;
}

// A row for each measurement, labelled by `names`; a column for each of the metrics with a figure.
std::string rows_table(const Result& result, const std::string& corner,
                       const std::vector<std::string>& names, const Measurements& rows,
                       const std::vector<const Metric*>& columns, const Bold& bold) {
  Rows table(1, Row(1, corner));
  for (const std::string& name : names) table.emplace_back(1, name);
  for (const Metric* metric : columns) {
    Row column(1, column_heading(metric->heading));
    bool any = false;
    for (const Measurement* one : rows) {
      const auto spread = one ? spread_of(*metric, result, *one) : std::nullopt;
      any = any || spread.has_value();
      column.push_back(cell_of(*metric, spread));
    }
    for (std::size_t i = 0; any && i < table.size(); ++i) table[i].push_back(column[i]);
  }
  return format_table(table, bold);
}

// One metric over the last two axes, the first of them down and the second across.
std::string matrix(const Result& result, const Metric& metric, const std::string& title,
                   const SweepAxis& down, const SweepAxis& across, const Measurements& cells,
                   const Bold& bold) {
  Rows table(1, Row(1, fmt::format("{} \\ {}", down.name, across.name)));
  std::ranges::copy(across.values, std::back_inserter(table.front()));
  auto cell = cells.begin();
  for (const std::string& value : down.values) {
    Row& row = table.emplace_back(1, value);
    for (std::size_t i = 0; i < across.values.size(); ++i, ++cell) {
      const auto spread = *cell ? spread_of(metric, result, **cell) : std::nullopt;
      row.push_back(spread ? figure_text(metric.unit, spread->median) : "-");
    }
  }
  return bold(title) + "\n" + format_table(table, bold);
}

std::string heading_of(const std::vector<SweepAxis>& axes, std::size_t count, std::size_t number) {
  std::string text;
  for (std::size_t i = count; i-- > 0; number /= axes[i].values.size()) {
    text = fmt::format(", {} {}", axes[i].name,
                       printable(axes[i].values[number % axes[i].values.size()])) +
           text;
  }
  return text;
}

// One step at the points of a sweep of two or more axes.
std::string matrices(const Result& result, const std::string& what,
                     const std::vector<SweepAxis>& axes, const Measurements& points,
                     const Bold& bold) {
  const std::size_t outer = axes.size() - 2;
  const SweepAxis& down = axes[outer];
  const SweepAxis& across = axes[outer + 1];
  const std::size_t size = down.values.size() * across.values.size();
  std::string text;
  for (std::size_t i = 0; i < points.size() / size; ++i) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * size);
    const Measurements cells(first, first + static_cast<std::ptrdiff_t>(size));
    for (const Metric* metric : default_metrics(cells)) {
      const std::string title =
          fmt::format("{}{}: {}", what, heading_of(axes, outer, i), metric->heading);
      text += matrix(result, *metric, title, down, across, cells, bold) + "\n";
    }
  }
  return text + "medians alone; filereel report shows intervals and tails\n\n";
}

SweepAxis printable_axis(const SweepAxis& axis) {
  SweepAxis clean{printable(axis.name), {}};
  for (const std::string& value : axis.values) clean.values.push_back(printable(value));
  return clean;
}

}  // namespace

std::string sweep_table(const Result& result, const JobRecord& job, const std::string& file_system,
                        const Bold& bold) {
  std::vector<SweepAxis> axes;
  for (const SweepAxis& axis : job.axes) axes.push_back(printable_axis(axis));
  std::string text;
  for (const SweepCells& cells : cells_of(result, job)) {
    if (cells.file_system != file_system) continue;
    std::string title = job.name;
    for (const std::string* part : {&cells.operation, &cells.set}) {
      if (!part->empty() && *part != "run") title += " " + *part;
    }
    title = printable(title);
    if (axes.size() > 1) {
      text += matrices(result, title, axes, cells.points, bold);
      continue;
    }
    text += bold(title) + "\n" +
            rows_table(result, axes.front().name, axes.front().values, cells.points,
                       brief_metrics(), bold) +
            "\n";
  }
  return text;
}

std::string phase_table(const Result& result, const std::string& job,
                        const std::vector<const Measurement*>& list, const Bold& bold) {
  std::vector<std::string> names;
  for (const Measurement* one : list) names.push_back(printable(one->operation));
  return rows_table(result, printable(job), names, list, brief_metrics(), bold) + "\n";
}

std::string clients_table(const Result& result, const std::string& file_system, const Bold& bold) {
  std::vector<const Measurement*> list;
  std::vector<std::string> names;
  for (const Measurement& one : result.measurements) {
    if (one.file_system != file_system || !has_clients(one)) continue;
    list.push_back(&one);
    names.push_back(printable(subject_of(one)));
  }
  const std::string clients = clients_text(list);
  if (clients.empty()) return "";
  std::vector<const Metric*> columns;
  for (const std::string_view name : kClientMetrics) columns.push_back(find_metric(name));
  return bold(clients) + "\n" + rows_table(result, "", names, list, columns, bold) + "\n";
}

}  // namespace filereel

#include "tools/workload_table.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "replay/report/wording.h"
#include "replay/results/latency.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

using Row = std::vector<std::string>;
using Measurements = std::vector<const Measurement*>;  // null where nothing was measured

// Accesses above this size are told by MB/s, smaller ones by operations a second.
constexpr double kLargeAccess = 64 << 10;

std::string rate_cell(const std::optional<Spread>& spread) {
  if (!spread) return "-";
  std::string median = short_number(spread->median);
  if (spread->low == spread->high) return median;
  return fmt::format("{} ({}–{})", median, short_number(spread->low), short_number(spread->high));
}

std::string time_cell(const std::optional<Spread>& spread) {
  return spread ? short_latency(spread->median) : "-";
}

struct Column {
  std::string heading;
  std::optional<Spread> (*of)(const Measurement& one);
  std::string (*cell)(const std::optional<Spread>& spread);
};

// Those of which there is a figure.
std::vector<Column> columns_of(const Measurements& rows) {
  constexpr auto kP50 = &LatencySummary::p50_us;
  constexpr auto kP99 = &LatencySummary::p99_us;
  const std::vector<Column> all = {
      {"MB/s", [](const Measurement& one) { return one.summary().mb_per_s; }, rate_cell},
      {"operations/s", [](const Measurement& one) { return one.summary().operations_per_s; },
       rate_cell},
      {"files/s", [](const Measurement& one) { return one.summary().files_per_s; }, rate_cell},
      {"read p50", [](const Measurement& one) { return latency_spread(one, "read", kP50); },
       time_cell},
      {"read p99", [](const Measurement& one) { return latency_spread(one, "read", kP99); },
       time_cell},
      {"write p50", [](const Measurement& one) { return latency_spread(one, "write", kP50); },
       time_cell},
      {"write p99", [](const Measurement& one) { return latency_spread(one, "write", kP99); },
       time_cell},
      {"fsync p99", [](const Measurement& one) { return latency_spread(one, "fsync", kP99); },
       time_cell},
      {"fdatasync p99",
       [](const Measurement& one) { return latency_spread(one, "fdatasync", kP99); }, time_cell},
  };
  std::vector<Column> used;
  std::ranges::copy_if(all, std::back_inserter(used), [&](const Column& column) {
    return std::ranges::any_of(
        rows, [&](const Measurement* one) { return one && column.of(*one).has_value(); });
  });
  return used;
}

// A row for each measurement, which `names` are called like.
std::string rows_table(const std::string& corner, const Row& names, const Measurements& rows,
                       const Bold& bold) {
  const std::vector<Column> columns = columns_of(rows);
  Rows table(1, Row{corner});
  for (const Column& column : columns) table.front().push_back(column.heading);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row& row = table.emplace_back(1, names[i]);
    for (const Column& column : columns) {
      row.push_back(rows[i] ? column.cell(column.of(*rows[i])) : "-");
    }
  }
  return format_table(table, bold);
}

// A figure of the last two axes: the first of them down, the second one across.
std::string matrix(const std::string& title, const SweepAxis& down, const SweepAxis& across,
                   const Measurements& cells, std::optional<Spread> (*of)(const Measurement&),
                   const Bold& bold) {
  Rows table(1, Row{fmt::format("{} \\ {}", down.name, across.name)});
  std::ranges::copy(across.values, std::back_inserter(table.front()));
  auto cell = cells.begin();
  for (const std::string& value : down.values) {
    Row& row = table.emplace_back(1, value);
    for (std::size_t i = 0; i < across.values.size(); ++i, ++cell) {
      const std::optional<Spread> spread = *cell ? of(**cell) : std::nullopt;
      row.push_back(spread ? short_number(spread->median) : "-");
    }
  }
  return bold(title) + "\n" + format_table(table, bold);
}

struct Figure {
  std::string_view name;
  std::optional<Spread> (*of)(const Measurement& one);
};

// What says most of these measurements: of accesses operations or bytes a second, after their
// sizes, of files both files and bytes.
std::vector<Figure> figures_of(const Measurements& cells) {
  bool small = false, large = false, files = false;
  for (const Measurement* one : cells) {
    if (!one) continue;
    for (const Sample& sample : one->samples) {
      files = files || sample.files > 0;
      const bool is_large =
          static_cast<double>(sample.bytes) > kLargeAccess * static_cast<double>(sample.operations);
      (is_large ? large : small) = true;
    }
  }
  std::vector<Figure> figures;
  if (files) {
    figures.push_back(
        {"files/s", [](const Measurement& one) { return one.summary().files_per_s; }});
  } else if (small) {
    figures.push_back(
        {"operations/s", [](const Measurement& one) { return one.summary().operations_per_s; }});
  }
  const bool any = std::ranges::any_of(
      cells, [](const Measurement* one) { return one && one->summary().mb_per_s; });
  if (any && (files || large)) {
    figures.push_back({"MB/s", [](const Measurement& one) { return one.summary().mb_per_s; }});
  }
  return figures;
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

// One operation at the points of a sweep of two axes or more.
std::string matrices(const std::string& what, const std::vector<SweepAxis>& axes,
                     const Measurements& points, const Bold& bold) {
  const std::size_t outer = axes.size() - 2;
  const SweepAxis& down = axes[outer];
  const SweepAxis& across = axes[outer + 1];
  const std::size_t size = down.values.size() * across.values.size();
  std::string text;
  for (std::size_t i = 0; i < points.size() / size; ++i) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * size);
    const Measurements cells(first, first + static_cast<std::ptrdiff_t>(size));
    for (const Figure& figure : figures_of(cells)) {
      const std::string title =
          fmt::format("{}{}: {}", what, heading_of(axes, outer, i), figure.name);
      text += matrix(title, down, across, cells, figure.of, bold) + "\n";
    }
  }
  return text;
}

SweepAxis printable_axis(const SweepAxis& axis) {
  SweepAxis clean{printable(axis.name), {}};
  for (const std::string& value : axis.values) clean.values.push_back(printable(value));
  return clean;
}

}  // namespace

std::string short_number(double value) {
  constexpr double kThousand = 1000;
  constexpr double kRounded = 999.5;  // would be written as 1000
  std::string_view unit;
  for (const std::string_view next : {"k", "M", "G"}) {
    if (value < kRounded) break;
    value /= kThousand;
    unit = next;
  }
  return fmt::format("{}{}", rate_text(value), unit);
}

std::string short_latency(double us) {
  if (us < 999.5) return short_number(us) + " µs";
  return us < 999'500 ? short_number(us / 1e3) + " ms" : short_number(us / 1e6) + " s";
}

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
      text += matrices(title, axes, cells.points, bold);
      continue;
    }
    text += bold(title) + "\n" +
            rows_table(axes.front().name, axes.front().values, cells.points, bold) + "\n";
  }
  return text;
}

std::string phase_table(const std::string& job, const std::vector<const Measurement*>& list,
                        const Bold& bold) {
  Row names;
  for (const Measurement* one : list) names.push_back(printable(one->operation));
  return rows_table(printable(job), names, list, bold) + "\n";
}

}  // namespace filereel

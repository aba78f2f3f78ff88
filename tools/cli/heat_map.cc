#include "tools/cli/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/report/figures.h"
#include "replay/results/packed.h"

namespace filereel {
namespace {

constexpr std::size_t kMostColumns = 60, kMostRows = 12;
constexpr std::size_t kMargin = 8;  // for latencies, left of the map
constexpr std::size_t kMostMaps = 3;

std::size_t divided_up(std::size_t value, std::size_t by) {
  return (value + by - 1) / by;
}

// Counts of operations: rows of columns, the lowest latencies first.
struct Cells {
  std::size_t first_bin = 0, bins_per_row = 1, intervals_per_column = 1;
  std::vector<std::vector<std::uint64_t>> rows;
  std::uint64_t most = 0;  // in one cell

  std::uint64_t begin_ns(std::size_t row) const {
    return TimeGrid::bin_lower_bound(std::min(first_bin + row * bins_per_row, TimeGrid::kBins - 1));
  }
};

Cells cells_of(const TimeGrid& grid) {
  Cells cells;
  std::size_t first = TimeGrid::kBins, end = 0;
  for (const TimeGrid::Interval& interval : grid.intervals()) {
    for (std::size_t bin = 0; bin < TimeGrid::kBins; ++bin) {
      if (interval.operations[bin] == 0) continue;
      first = std::min(first, bin);
      end = std::max(end, bin + 1);
    }
  }
  if (first >= end) return cells;
  cells.first_bin = first;
  cells.bins_per_row = divided_up(end - first, kMostRows);
  const std::size_t intervals = grid.intervals().size();
  cells.intervals_per_column = divided_up(intervals, kMostColumns);
  const std::size_t columns = divided_up(intervals, cells.intervals_per_column);
  cells.rows.assign(divided_up(end - first, cells.bins_per_row),
                    std::vector<std::uint64_t>(columns));
  for (std::size_t i = 0; i < intervals; ++i) {
    for (std::size_t bin = first; bin < end; ++bin) {
      std::uint64_t& cell =
          cells.rows[(bin - first) / cells.bins_per_row][i / cells.intervals_per_column];
      cell += grid.intervals()[i].operations[bin];
      cells.most = std::max(cells.most, cell);
    }
  }
  return cells;
}

std::string_view shade(std::uint64_t count, std::uint64_t most) {
  static constexpr std::array<std::string_view, 4> kShades = {"░", "▒", "▓", "█"};
  if (count == 0) return " ";
  if (count == 1) return "·";
  const double share = std::log(static_cast<double>(count)) / std::log(static_cast<double>(most));
  const auto level = static_cast<std::size_t>(share * kShades.size());
  return kShades[std::min(level, kShades.size() - 1)];
}

// The powers of ten in a row, or the 1, 2 and 5 times these if `finer`: "100 us", "" for none.
std::string row_label(const Cells& cells, std::size_t row, bool finer) {
  const std::uint64_t begin = cells.begin_ns(row), end = cells.begin_ns(row + 1);
  constexpr std::uint64_t kHighest = std::uint64_t{1} << Histogram::kTopBit;
  for (std::uint64_t power = 1; power < kHighest; power *= 10) {
    for (const std::uint64_t times : {1, 2, 5}) {
      const std::uint64_t ns = power * times;
      if (times > 1 && !finer) break;
      if (ns >= begin && ns < end) return format_duration(static_cast<double>(ns) * 1e-9);
    }
  }
  return "";
}

std::vector<std::string> row_labels(const Cells& cells) {
  std::vector<std::string> labels;
  for (const bool finer : {false, true}) {
    labels.clear();
    for (std::size_t row = 0; row < cells.rows.size(); ++row) {
      labels.push_back(row_label(cells, row, finer));
    }
    if (std::ranges::count_if(labels, [](const auto& one) { return !one.empty(); }) > 1) break;
  }
  return labels;
}

std::string time_axis(const std::string& end, std::size_t columns) {
  std::string line(kMargin + 2, ' ');
  line += "0 s";
  const std::size_t used = 3 + end.size();
  return line + std::string(std::max<std::size_t>(columns, used + 2) - used, ' ') + end + "\n";
}

// Sum of all samples; empty if no sample has a latency grid.
TimeGrid course_of(const Measurement& measurement) {
  TimeGrid grid;
  for (const Sample& sample : measurement.samples) {
    if (sample.course) grid.merge(unpack_course(*sample.course));
  }
  return grid;
}

std::string heat_map_title(const Measurement& measurement) {
  return measurement.file_system + " " + subject_of(measurement);
}

}  // namespace

std::string heat_map(const TimeGrid& grid) {
  const Cells cells = cells_of(grid);
  if (cells.rows.empty()) return "";
  const std::vector<std::string> labels = row_labels(cells);
  std::string text;
  for (std::size_t row = cells.rows.size(); row-- > 0;) {
    std::string line =
        fmt::format("{:>{}} {}", labels[row], kMargin, labels[row].empty() ? "│" : "┤");
    for (const std::uint64_t count : cells.rows[row]) line += shade(count, cells.most);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::size_t columns = cells.rows.front().size();
  text += std::string(kMargin + 1, ' ') + "└";
  for (std::size_t i = 0; i < columns; ++i) text += "─";
  const auto seconds = [&](std::size_t intervals) {
    return format_duration(static_cast<double>(intervals * grid.width_ns()) * 1e-9);
  };
  text += "\n" + time_axis(seconds(grid.intervals().size()), columns);
  text += fmt::format("{}· one operation", std::string(kMargin + 2, ' '));
  if (cells.most > 1) text += fmt::format(", ░▒▓█ up to {}", cells.most);
  return text + fmt::format("; a column is {}\n", seconds(cells.intervals_per_column));
}

std::string heat_maps(const Result& result, const std::string& wanted, const Bold& bold) {
  std::string text;
  std::size_t found = 0;
  for (const Measurement& measurement : result.measurements) {
    const std::string title = heat_map_title(measurement);
    if (!title.contains(wanted)) continue;
    const TimeGrid grid = course_of(measurement);
    if (grid.intervals().empty()) continue;
    ++found;
    if (wanted.empty() && found > kMostMaps) continue;
    const auto runs = static_cast<std::uint64_t>(std::ranges::count_if(
        measurement.samples, [](const Sample& sample) { return !!sample.course; }));
    text += fmt::format(
        "\n{}: latency over time{}\n{}", bold(printable_line(title)),
        runs > 1 ? ", " + counted(static_cast<std::uint64_t>(runs), "run") + " together" : "",
        heat_map(grid));
  }
  if (found == 0 && !wanted.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--measurement {}: no measurement with this text in its title and with a "
                    "latency grid; titles look like 'ext4 create install'",
                    printable(wanted)));
  }
  if (wanted.empty() && found > kMostMaps) {
    text += fmt::format("\n{} more; select by title with --measurement TEXT\n", found - kMostMaps);
  }
  return text;
}

}  // namespace filereel

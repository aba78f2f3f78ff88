// Tables on the terminal.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesets/system/units.h"
#include "replay/results/result.h"

namespace filereel {

using Bold = std::function<std::string(std::string)>;  // makes headings stand out

// A text or a figure. `below`, such as the spread of a figure, goes on a second line.
struct Cell {
  template <std::convertible_to<std::string> Text>
  Cell(Text&& words) : text(std::forward<Text>(words)) {}  // NOLINT: a cell is a text

  std::string text, below;
};
// The median, and below it its 95 % interval, of fewer than six samples their range: "320",
// "200–400". Without a spread "-".
Cell spread_cell(const std::optional<Spread>& spread,
                 const std::function<std::string(double)>& text = format_number);

using Row = std::vector<Cell>;
using Rows = std::vector<Row>;
// Styles a line of a row: bold headings, for instance.
using LineStyle = std::function<std::string(std::size_t row, std::string line)>;

// Width of the terminal on standard output in columns; 80 if it is not a terminal.
std::size_t output_width();

// Rows of cells in aligned columns, the first to the left, the others to the right. The first row
// is the heading. Cells may hold any text, which is made printable. Widths count columns of the
// terminal (filesets/system/utf8.h). Texts below cells share a second line of their row.
//
// A table wider than `width` is split into blocks of columns, one below the other, each with the
// first column. If the first column is wide (names of measurements), or the others fit without it,
// its cells get lines of their own above the others. Only a single long name can exceed the width.
std::string format_columns(Rows rows, const LineStyle& style = {},
                           std::size_t width = output_width());

// Whether format_columns splits it into blocks.
bool is_broken(Rows rows, std::size_t width = output_width());

// The same with a bold heading; there is at least one row.
std::string format_table(const Rows& rows, const Bold& bold);

// Text wrapped at the width of the terminal, at most 100 columns; all lines but the first are
// indented by `indent`. Everything that is printed and no table goes through it: settings,
// warnings, remarks, help. Only a single long word can exceed the width.
std::string wrapped(std::string_view text, std::size_t indent);

// The same in bold.
std::string heading(std::string_view text, const Bold& bold);

// "ext4 (kernel driver), near /dev/sdb1 on Fast Disk 3 1.07", "without a volume".
std::string describe_volumes(const Result& result, const std::string& file_system);

// "Fast Disk 3 1.07", "2 × Fast Disk 3 1.07 through vg-data (LVM), md0 (raid1 of 2)",
// "nas:/data through nfs 4.2 over tcp, eth0 1000 Mbit/s"; "" if unknown.
std::string describe_drives(const VolumeDescription& volume);

// "warning: text [code]; next step", wrapped.
std::string format_warning(const Warning& warning);

// Below the tables of a run: label, note, machine and warnings, each with its line breaks.
std::vector<std::string> remarks(const Result& result);

}  // namespace filereel

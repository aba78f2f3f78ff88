// Tables for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

using Bold = std::function<std::string(std::string)>;  // makes headings stand out

using Rows = std::vector<std::vector<std::string>>;
// What becomes of a line of a table, which belongs to a row: headings are made bold …
using LineStyle = std::function<std::string(std::size_t row, std::string line)>;

// Columns of a line: those of the terminal that standard output is, else 80.
std::size_t output_width();

// Rows of cells in aligned columns, the first to the left, the others to the right. The first row
// is the heading. Cells may hold any text, which is made printable. Widths count characters, not
// bytes.
//
// A table that is wider than `width` becomes blocks of columns, one below the other, each with the
// first column. If that one is wide itself (names of measurements), or the others fit without it,
// its cells get lines of their own above the others. So only a single cell, which is a name of the
// user's, can be too wide.
std::string format_columns(Rows rows, const LineStyle& style = {},
                           std::size_t width = output_width());

// The same with a bold heading; there is at least one row.
std::string format_table(const Rows& rows, const Bold& bold);

// Text of any kind in lines of at most 80 columns; those behind the first are indented.
std::string wrapped(std::string_view text, std::size_t indent);

// "12 operations", "1 operation".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

// "ext4 (kernel driver), near /dev/sdb1 on Fast Disk 3 1.07", "without a volume".
std::string describe_volumes(const Result& result, const std::string& file_system);

// "Fast Disk 3 1.07", "2 × Fast Disk 3 1.07 through vg-data (LVM), md0 (raid1 of 2)"; "" where
// nothing is known.
std::string describe_drives(const VolumeDescription& volume);

// "warning: text [code]; next step", a line.
std::string format_warning(const Warning& warning);

// What stands under every table of a run: the user's label and note, the machine, the warnings.
std::string remarks(const Result& result);

}  // namespace filereel

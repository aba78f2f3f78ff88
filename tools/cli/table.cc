#include "tools/cli/table.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "filesets/system/printable.h"
#include "filesets/system/terminal.h"
#include "filesets/system/utf8.h"
#include "filesets/system/wording.h"
#include "replay/report/figures.h"
#include "replay/results/work_checks.h"

namespace filereel {
namespace {

std::string pad(std::size_t count) {
  return std::string(count, ' ');
}

// Columns on the same lines as the first one, or below it.
struct ColumnBlock {
  std::size_t begin = 1, end = 1;
  bool folded = false;
};

constexpr std::size_t kGap = 2;
// A first column of at most this width is repeated in each block.
constexpr std::size_t kNarrow = 24;

std::vector<ColumnBlock> blocks_of(const std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t all = 0;
  for (const std::size_t one : widths) all += one + kGap;
  if (widths.empty() || all <= width + kGap) return {{1, widths.size()}};
  const bool folded = widths.front() > kNarrow || all - widths.front() - kGap <= width;
  std::vector<ColumnBlock> blocks;
  for (std::size_t begin = 1; begin < widths.size();) {
    ColumnBlock block{begin, begin, folded};
    std::size_t used = folded ? 0 : widths.front();
    do {
      used += kGap + widths[block.end++];
    } while (block.end < widths.size() && used + kGap + widths[block.end] <= width);
    blocks.push_back(block);
    begin = block.end;
  }
  return blocks.empty() ? std::vector<ColumnBlock>{{1, 1}} : blocks;
}

// Makes the texts printable.
std::vector<std::size_t> printable_widths(Rows& rows) {
  std::vector<std::size_t> widths;
  for (Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::string* text : {&row[i].text, &row[i].below}) {
        *text = printable_line(*text);
        widths[i] = std::max(widths[i], columns_of(*text));
      }
    }
  }
  return widths;
}

// Lines of a row within a block; none if the row ends before the block.
std::vector<std::string> lines_of(const Row& row, const std::vector<std::size_t>& widths,
                                  const ColumnBlock& block) {
  if (block.begin > 1 && row.size() <= block.begin) return {};
  const auto line_of = [&](std::string Cell::* part) {
    std::string line;
    for (std::size_t i = block.begin; i < std::min(block.end, row.size()); ++i) {
      const std::string& text = row[i].*part;
      line += pad(kGap + widths[i] - columns_of(text)) + text;
    }
    return line;
  };
  const std::string name = row.empty() ? "" : row.front().text;
  const std::string others = line_of(&Cell::text);
  std::vector<std::string> lines;
  if (block.folded) {
    if (!name.empty() || others.empty()) lines.push_back(name);
    if (!others.empty()) lines.push_back(others);
  } else {
    lines.push_back(others.empty() ? name : name + pad(widths.front() - columns_of(name)) + others);
  }
  const auto shown =
      row | std::views::drop(block.begin) | std::views::take(block.end - block.begin);
  if (std::ranges::any_of(shown, [](const Cell& cell) { return !cell.below.empty(); })) {
    lines.push_back(pad(block.folded ? 0 : widths.front()) + line_of(&Cell::below));
  }
  return lines;
}

// filereel's overhead, of the jobs for which it was measured.
std::string overhead_text(const std::vector<JobRecord>& jobs) {
  double low = 0, high = 0;
  for (const JobRecord& job : jobs) {
    if (job.overhead_ns <= 0) continue;
    low = low > 0 ? std::min(low, job.overhead_ns) : job.overhead_ns;
    high = std::max(high, job.overhead_ns);
  }
  if (high <= 0) return "";
  const std::string range =
      low == high ? fmt::format("{:.0f}", low) : fmt::format("{:.0f} to {:.0f}", low, high);
  return fmt::format(", overhead {} ns per operation", range);
}

// "ext4 (kernel driver)", "ntfs (FUSE: ntfs-3g)", "fuse.sshfs (FUSE)".
std::string file_system_and_driver(const VolumeDescription& volume) {
  const std::string driver = volume.driver == "kernel"             ? "kernel driver"
                             : volume.driver == volume.file_system ? "FUSE"
                                                                   : "FUSE: " + volume.driver;
  return fmt::format("{} ({})", volume.file_system, driver);
}

}  // namespace

Cell spread_cell(const std::optional<Spread>& spread,
                 const std::function<std::string(double)>& text) {
  if (!spread) return "-";
  Cell cell = text(spread->median);
  const Interval range = range_of(*spread);
  if (range.low != range.high) {
    const std::string low = text(range.low);
    cell.below = fmt::format("{}{}{}", low, low.contains(' ') ? " – " : "–", text(range.high));
  }
  return cell;
}

std::string describe_drives(const VolumeDescription& volume) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const DeviceIdentity& drive : volume.drives) {
    if (drive.model.empty()) continue;
    std::string kind = printable(drive.model);
    if (!drive.firmware.empty()) kind += " " + printable(drive.firmware);
    const auto same = std::ranges::find(kinds, kind, &std::pair<std::string, std::size_t>::first);
    if (same == kinds.end()) {
      kinds.emplace_back(std::move(kind), 1);
    } else {
      ++same->second;
    }
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " + ",
                        count > 1 ? fmt::format("{} × ", count) : "", kind);
  }
  if (volume.network) text += (text.empty() ? "" : " + ") + printable(volume.network->source);
  if (text.empty()) return text;
  // Partitions and files are part of the target's name.
  std::string through;
  for (const std::string& layer : volume.layers) {
    if (layer.ends_with("(partition)") || layer.starts_with("file on ")) continue;
    if (layer.starts_with("part (")) continue;
    through += (through.empty() ? " through " : ", ") + printable(layer);
  }
  return text + through;
}

std::string describe_volumes(const Result& result, const std::string& file_system) {
  const auto is_in_role = [&](const VolumeDescription& one, Role role) {
    return one.role == role && one.file_system == file_system;
  };
  std::string line;
  for (const VolumeDescription& volume : result.volumes) {
    const bool is_other = volume.file_system != file_system;
    // A far directory keeps its own file system, what is formatted has that of near.
    if (is_other && volume.target_kind != target_kind_name(TargetKind::directory)) continue;
    if (is_other && std::ranges::any_of(result.volumes, [&](const VolumeDescription& one) {
          return is_in_role(one, volume.role);
        })) {
      continue;
    }
    if (line.empty()) line = is_other ? file_system : file_system_and_driver(volume);
    line += fmt::format(", {} {}", role_name(volume.role), volume.target);
    if (is_other) line += fmt::format(" ({})", volume.file_system);
    const std::string drives = describe_drives(volume);
    if (!drives.empty()) line += " on " + drives;
  }
  if (line.empty()) line = file_system == "none" ? "without a volume" : file_system;
  return printable_line(line);
}

std::size_t output_width() {
  constexpr std::size_t kWidth = 80;
  winsize size{};
  const bool is_known = is_terminal(STDOUT_FILENO) &&
                        ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kWidth;
}

bool is_broken(Rows rows, std::size_t width) {
  return blocks_of(printable_widths(rows), width).size() > 1;
}

std::string format_columns(Rows rows, const LineStyle& style, std::size_t width) {
  const std::vector<std::size_t> widths = printable_widths(rows);
  std::string text;
  for (const ColumnBlock& block : blocks_of(widths, width)) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::string line : lines_of(rows[i], widths, block)) {
        line.erase(line.find_last_not_of(' ') + 1);  // no blanks at the end of a line
        text += (style ? style(i, std::move(line)) : line) + "\n";
      }
    }
  }
  return text;
}

std::string format_table(const Rows& rows, const Bold& bold) {
  return format_columns(
      rows, [&](std::size_t row, std::string line) { return row == 0 ? bold(line) : line; });
}

std::string format_warning(const Warning& warning) {
  constexpr std::size_t kMost = 1000;
  return wrapped(fmt::format("warning: {} [{}]; {}", printable(warning.text, kMost),
                             printable(warning.code), printable(warning.next_step, kMost)),
                 2);
}

std::vector<std::string> remarks(const Result& result) {
  constexpr std::size_t kMostOfNote = 1000;
  std::vector<std::string> list;
  if (!result.label.empty()) list.push_back(wrapped("label: " + printable(result.label), 2));
  if (!result.note.empty()) {
    list.push_back(wrapped("note: " + printable(result.note, kMostOfNote), 2));
  }
  const double quota = result.host.cpu_quota.value_or(0);
  list.push_back(wrapped(
      fmt::format("{}, {}, Linux {}; filereel {}{}{}", printable(result.host.cpu),
                  counted(result.host.cores, "core", "cores"), printable(result.host.kernel),
                  printable(result.version), quota > 0 ? ", CPU quota " + cores_text(quota) : "",
                  overhead_text(result.plan.jobs)),
      2));
  if (!result.complete) list.emplace_back("INCOMPLETE: the run ended early\n");
  std::ranges::transform(result.warnings, std::back_inserter(list), format_warning);
  return list;
}

std::string heading(std::string_view text, const Bold& bold) {
  std::string lines = wrapped(text, 2);
  lines.pop_back();
  return bold(std::move(lines)) + "\n";
}

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t kReadable = 100;
  const std::size_t columns = std::min(output_width(), kReadable);
  std::string lines;
  std::size_t used = 0;
  // Keep leading blanks.
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t word = text.find_first_not_of(" \n", begin);
    if (word == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n", word), text.size());
    const std::string shown = printable_line(text.substr(word, end - word));
    const std::size_t blanks = word - begin;
    if (begin > 0 && used + blanks + columns_of(shown) > columns) {
      lines += "\n" + pad(indent) + shown;
      used = indent + columns_of(shown);
    } else {
      lines += pad(blanks) + shown;
      used += blanks + columns_of(shown);
    }
    begin = end;
  }
  return lines + "\n";
}

}  // namespace filereel

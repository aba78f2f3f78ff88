#include "tools/table.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "filesets/system/printable.h"

namespace filereel {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(std::size_t count) {
  return std::string(count, ' ');
}

// Columns beside the first one that share lines with it, or stand below it.
struct ColumnBlock {
  std::size_t begin = 1, end = 1;
  bool folded = false;
};

constexpr std::size_t kGap = 2;
// A first column up to here stands beside the others in each block.
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

// Those of a row within a block; a row that does not reach the block has none.
std::vector<std::string> lines_of(const std::vector<std::string>& row,
                                  const std::vector<std::size_t>& widths,
                                  const ColumnBlock& block) {
  if (block.begin > 1 && row.size() <= block.begin) return {};
  std::string others;
  for (std::size_t i = block.begin; i < std::min(block.end, row.size()); ++i) {
    others += pad(kGap + widths[i] - characters(row[i])) + row[i];
  }
  const std::string name = row.empty() ? "" : row.front();
  if (block.folded) {
    std::vector<std::string> lines;
    if (!name.empty() || others.empty()) lines.push_back(name);
    if (!others.empty()) lines.push_back(others);
    return lines;
  }
  return {others.empty() || row.empty() ? name
                                        : name + pad(widths.front() - characters(name)) + others};
}

// filereel's own cost, of the jobs that it is known of.
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
  return fmt::format(" takes {} ns per operation itself", range);
}

}  // namespace

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
  if (text.empty()) return text;
  // Partitions and files are in the target's name.
  std::string through;
  for (const std::string& layer : volume.layers) {
    if (layer.ends_with("(partition)") || layer.starts_with("file on ")) continue;
    through += (through.empty() ? " through " : ", ") + printable(layer);
  }
  return text + through;
}

std::string describe_volumes(const Result& result, const std::string& file_system) {
  std::string line;
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.file_system != file_system) continue;
    if (line.empty()) {
      line = fmt::format("{} ({})", file_system,
                         volume.driver == "kernel" ? "kernel driver" : "FUSE: " + volume.driver);
    }
    line += fmt::format(", {} {}", role_name(volume.role), volume.target);
    const std::string drives = describe_drives(volume);
    if (!drives.empty()) line += " on " + drives;
  }
  if (line.empty()) line = file_system == "none" ? "without a volume" : file_system;
  return printable_line(line);
}

std::size_t output_width() {
  constexpr std::size_t kWidth = 80;
  winsize size{};
  const bool is_known = ::isatty(STDOUT_FILENO) == 1 &&
                        ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kWidth;
}

std::string format_columns(Rows rows, const LineStyle& style, std::size_t width) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable_line(cell);
  }
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], characters(row[i]));
  }
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

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string format_warning(const Warning& warning) {
  constexpr std::size_t kMost = 1000;
  return fmt::format("warning: {} [{}]; {}\n", printable(warning.text, kMost),
                     printable(warning.code), printable(warning.next_step, kMost));
}

std::string remarks(const Result& result) {
  constexpr std::size_t kMostOfNote = 1000;
  std::string text;
  if (!result.label.empty()) text += fmt::format("label: {}\n", printable(result.label));
  if (!result.note.empty()) text += fmt::format("note: {}\n", printable(result.note, kMostOfNote));
  text += fmt::format("{}, {}, Linux {}; filereel {}", printable(result.host.cpu),
                      counted(result.host.cores, "core", "cores"), printable(result.host.kernel),
                      printable(result.version));
  text += overhead_text(result.plan.jobs);
  text += '\n';
  if (!result.complete) text += "INCOMPLETE: the run ended before all was measured\n";
  for (const Warning& warning : result.warnings) {
    text += format_warning(warning);
  }
  return text;
}

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t kColumns = 80;
  std::string lines;
  std::size_t used = 0;
  // The blanks that a line begins with are its own.
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t word = text.find_first_not_of(" \n", begin);
    if (word == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n", word), text.size());
    const std::string shown = printable_line(text.substr(word, end - word));
    const std::size_t blanks = word - begin;
    if (begin > 0 && used + blanks + characters(shown) > kColumns) {
      lines += "\n" + pad(indent) + shown;
      used = indent + characters(shown);
    } else {
      lines += pad(blanks) + shown;
      used += blanks + characters(shown);
    }
    begin = end;
  }
  return lines + "\n";
}

}  // namespace filereel

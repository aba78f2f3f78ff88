#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/findings.h"
#include "replay/report/text_reports.h"
#include "replay/report/wording.h"

namespace filereel {
namespace {

// Foreign text in one line of Markdown, as it is.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>|#&~!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

using Row = std::vector<std::string>;

// The first row is the heading; its first column stands left, the others right.
std::string table(const std::vector<Row>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i > 0) continue;
    text += "|---|";
    for (std::size_t column = 1; column < rows[i].size(); ++column) text += "---:|";
    text += '\n';
  }
  return text + "\n";
}

struct Quantity {
  std::string_view title;
  std::optional<Spread> Summary::* of;
  bool of_data;
};

constexpr Quantity kQuantities[] = {
    {"MB/s until durable", &Summary::mb_per_s, true},
    {"MB/s until calls return", &Summary::mb_per_s_elapsed, true},
    {"files/s until durable", &Summary::files_per_s, false},
    {"operations/s until calls return", &Summary::operations_per_s, false},
};

void remember(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// Sets down, operations across.
std::string set_table(const Result& result, const std::string& file_system,
                      const Quantity& quantity) {
  std::vector<std::string> sets, operations;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  for (const Measurement& one : result.measurements) {
    if (!info_of(one.kind).by_set || one.file_system != file_system) continue;
    const std::optional<Spread> spread = one.summary().*quantity.of;
    const bool no_data =
        quantity.of_data && std::ranges::any_of(one.samples, &Sample::moved_no_data);
    if (!spread && !no_data) continue;
    remember(sets, one.set);
    const std::string step = step_of(one);
    remember(operations, step);
    cells[{one.set, step}] = spread ? spread_text(spread) : "no data moved";
  }
  if (cells.empty()) return "";
  std::vector<Row> rows(1, Row{std::string(quantity.title)});
  for (const std::string& operation : operations) rows.front().push_back(plain(operation));
  for (const std::string& set : sets) {
    Row& row = rows.emplace_back(1, plain(set));
    for (const std::string& operation : operations) {
      const auto found = cells.find({set, operation});
      row.push_back(found == cells.end() ? "–" : found->second);
    }
  }
  return table(rows);
}

// What is not measured by set: a row for each measurement, and the quantities that there are
// across.
std::string other_table(const Result& result, const std::string& file_system) {
  std::vector<const Measurement*> list;
  for (const Measurement& one : result.measurements) {
    if (info_of(one.kind).by_set || one.file_system != file_system || one.samples.empty()) {
      continue;
    }
    list.push_back(&one);
  }
  if (list.empty()) return "";
  std::vector<Quantity> columns;
  std::ranges::copy_if(kQuantities, std::back_inserter(columns), [&](const Quantity& quantity) {
    return std::ranges::any_of(
        list, [&](const Measurement* one) { return (one->summary().*quantity.of).has_value(); });
  });
  const bool replays =
      std::ranges::any_of(list, [](const Measurement* one) { return info_of(one->kind).replays; });
  std::vector<Row> rows(1, Row{"measurement"});
  if (replays) rows.front().insert(rows.front().end(), {"seconds", "divergences"});
  for (const Quantity& column : columns) rows.front().emplace_back(column.title);
  for (const Measurement* one : list) {
    const Summary summary = one->summary();
    Row& row = rows.emplace_back(1, plain(subject_of(*one)));
    if (replays) {
      row.push_back(spread_text(one->seconds(&Sample::elapsed_s)));
      row.push_back(info_of(one->kind).replays ? divergences_text(*one) : "–");
    }
    for (const Quantity& column : columns) row.push_back(spread_text(summary.*column.of));
  }
  return table(rows);
}

std::string volumes(const Result& result) {
  if (result.volumes.empty()) return "";
  std::vector<Row> rows = {{"volume", "file system", "on", "size", "mounted"}};
  for (const VolumeDescription& one : result.volumes) {
    rows.push_back(
        {fmt::format("{} {}", role_name(one.role), plain(one.target)),
         fmt::format("{} ({}), {}", plain(one.file_system), plain(one.driver), plain(one.age)),
         plain(fmt::format("{}", fmt::join(one.layers, ", "))), format_size(one.size),
         plain(one.mount_options)});
  }
  return table(rows);
}

}  // namespace

std::string markdown_report(std::span<const ReportedResult> results) {
  const std::vector<std::string> names = result_names(results);
  std::string text = "# File performance\n\n";
  for (const std::string& finding : findings_of(results)) text += "- " + plain(finding) + "\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i].result;
    text += fmt::format("\n## {}\n\n", plain(names[i]));
    if (!result.complete) text += "**Incomplete: the run ended before all was measured.**\n\n";
    if (!result.note.empty()) text += plain(result.note) + "\n\n";
    for (const std::string& file_system : file_systems_of(result)) {
      text += fmt::format("### {}\n\n", plain(file_system));
      std::string tables;
      for (const Quantity& quantity : kQuantities) {
        tables += set_table(result, file_system, quantity);
      }
      tables += other_table(result, file_system);
      text += tables.empty() ? "Every sample failed.\n\n" : tables;
    }
    text += "Median (lowest–highest); MB are 10^6 bytes.\n\n";
    text += volumes(result);
    const std::string drives = drives_text(result);
    text += fmt::format("{}{}, Linux {}; {}; filereel {}\n",
                        drives.empty() ? "" : plain(drives) + "; ", plain(result.host.cpu),
                        plain(result.host.kernel), plain(result.started), plain(result.version));
    for (const Warning& one : result.warnings) {
      text += fmt::format("{}- warning: {} ({}); {}\n", &one == result.warnings.data() ? "\n" : "",
                          plain(one.text), plain(one.code), plain(one.next_step));
    }
  }
  return text;
}

}  // namespace filereel

#include "tools/self_table.h"

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "tools/compare_table.h"
#include "tools/table.h"

namespace filereel {

std::string format_self_comparison(const SelfComparison& self, const Session& session,
                                   int descriptor) {
  const std::string several = fmt::format("{} and {}", self.halves, self.halves);
  Rows rows = {{"measurement", "median", "spread", "false", "provable"}};
  if (self.halves > 0) rows[0].emplace_back(several);
  for (const SelfMeasurement& one : self.measurements) {
    Row row = {printable(key_text(one.key)), format_duration(one.median_s),
               fmt::format("{:.1f} %", one.spread * 100), fmt::format("{}", one.false_alarms),
               provable_text(one.provable)};
    if (self.halves > 0) row.emplace_back(provable_text(one.provable_of_halves));
    rows.push_back(std::move(row));
  }
  std::string text;
  for (const Difference& one : self.differences) {
    text += wrapped(fmt::format("{} differs between the sessions: alarms may be real changes",
                                printable_line(one.what)),
                    2);
  }
  if (!text.empty()) text += "\n";
  text += format_columns(std::move(rows), [&](std::size_t row, const std::string& line) {
    return row == 0 ? session.bold(line, descriptor) : line;
  });
  text += "\n";
  text += wrapped(
      "spread: of the sessions' medians, standard deviation; provable: the smallest "
      "increase of the time that a comparison of one session with another would have shown, or a "
      "decrease by the same factor" +
          std::string(self.halves > 0 ? "; then the same of several sessions on each "
                                        "side"
                                      : ""),
      0);
  text += session.bold(fmt::format("False alarms: in {} of {}", self.alarms,
                                   counted(self.comparisons, "comparison", "comparisons")),
                       descriptor) +
          fmt::format(" of {}; changes indicated: in {}\n",
                      counted(self.sessions, "session", "sessions"), self.indications);
  text += wrapped("one session on each side: judged " + self.level, 2);
  if (self.halves > 0) {
    text += wrapped(fmt::format("{} on each side: judged {}",
                                counted(self.halves, "session", "sessions"), self.level_of_halves),
                    2);
  }
  return text;
}

}  // namespace filereel

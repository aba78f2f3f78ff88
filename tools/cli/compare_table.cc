#include "tools/cli/compare_table.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/statistics/significance.h"
#include "tools/cli/table.h"

namespace filereel {
namespace {

// The times of different work mislead.
std::string seconds(const ComparedMeasurement& compared, const ComparedSide& side) {
  return compared.comparable ? format_duration(side.median) : "-";
}

// "5 runs", "118k/s, 5 runs".
std::string runs(const ComparedMeasurement& compared, const ComparedSide& side) {
  const std::string count = side.left_out == 0
                                ? counted(side.samples, "run", "runs")
                                : counted_of(side.samples, side.samples + side.left_out, "run");
  return side.operations_per_s && compared.comparable
             ? fmt::format("{}/s, {}", format_number(*side.operations_per_s), count)
             : count;
}

std::string probability(double p) {
  return p < 0.0001 ? fmt::format("p {:.0e}", p) : fmt::format("p {:.4f}", p);
}

Cell cell_of(std::string text, std::string below) {
  Cell cell(std::move(text));
  cell.below = std::move(below);
  return cell;
}

// "open p99".
std::string tail_text(const ComparedTail& tail) {
  return fmt::format("{} p{:.3g}", tail.kind, tail.percentile);
}

// Below the verdict: p of a change; otherwise the smallest change that would have been shown.
std::string basis_of_verdict(const ComparedMeasurement& compared) {
  if (compared.verdict == Verdict::slower || compared.verdict == Verdict::faster) {
    const std::optional<double>& p = answer_of(compared, compared.aspect).p_holm;
    return p ? probability(*p) : "";
  }
  if (!compared.time.p) return "";
  if (compared.time.verdict == Verdict::slower || compared.time.verdict == Verdict::faster)
    return "";
  return "provable: " + provable_text(compared.time.provable_change());
}

Row row_of(const ComparedMeasurement& compared, const Parameters& shared, bool with_tails) {
  const auto percent = [](double ratio) { return fmt::format("{:+.1f}", (ratio - 1) * 100); };
  const AspectResult& time = compared.time;
  const std::string interval = time.ratio_interval
                                   ? fmt::format("{} to {} %", percent(time.ratio_interval->low),
                                                 percent(time.ratio_interval->high))
                                   : "";
  const bool is_usual = compared.figure != Figure::in_calls;
  Row cells = {cell_of(printable(key_text(compared.key, shared)),
                       is_usual ? "" : std::string(figure_name(compared.figure))),
               cell_of(seconds(compared, compared.base), runs(compared, compared.base)),
               cell_of(seconds(compared, compared.fresh), runs(compared, compared.fresh)),
               cell_of(time.p ? percent(time.ratio) + " %" : "-", interval)};
  if (with_tails) {
    cells.push_back(compared.tail ? cell_of(percent(compared.tail->answer.ratio) + " %",
                                            tail_text(*compared.tail))
                                  : Cell("-"));
    cells.push_back(compared.stalls ? fmt::format("{} / {}", compared.stalls->base.stalls,
                                                  compared.stalls->fresh.stalls)
                                    : "-");
  }
  cells.push_back(cell_of(verdict_text(compared), basis_of_verdict(compared)));
  return cells;
}

bool is_shown_change(const ComparedMeasurement& compared) {
  return compared.verdict == Verdict::slower || compared.verdict == Verdict::faster;
}

// What changed, slower first, then what is indicated, then the rest, which is left out if folded.
std::vector<const ComparedMeasurement*> listed(const ResultComparison& comparison, bool folded) {
  const auto place = [](const ComparedMeasurement* compared) {
    if (is_shown_change(*compared)) return compared->verdict == Verdict::slower ? 0 : 1;
    return compared->indicated() ? 2 : 3;
  };
  std::vector<const ComparedMeasurement*> list;
  for (const ComparedMeasurement& measurement : comparison.measurements) {
    if (!folded || place(&measurement) < 3) list.push_back(&measurement);
  }
  std::ranges::stable_sort(list, {}, place);
  return list;
}

std::string table(const std::vector<const ComparedMeasurement*>& list,
                  const ResultComparison& comparison, const Parameters& shared,
                  const Session& session, int descriptor) {
  if (list.empty()) return "";
  const bool with_tails = std::ranges::any_of(list, [](const ComparedMeasurement* compared) {
    return compared->tail.has_value() || compared->stalls.has_value();
  });
  Rows rows = {
      {"measurement", "base", "new", cell_of("change", std::string(interval_name(comparison)))}};
  if (with_tails) rows[0].insert(rows[0].end(), {"tail", "stalls"});
  rows[0].emplace_back("verdict");
  for (const ComparedMeasurement* one : list) rows.push_back(row_of(*one, shared, with_tails));
  if (is_broken(rows)) {  // the verdict stays with the first figures
    for (Row& row : rows) std::rotate(row.begin() + 1, row.end() - 1, row.end());
  }
  return format_columns(std::move(rows), [&](std::size_t row, std::string line) {
    if (row == 0) return session.bold(line, descriptor);
    const Verdict verdict = list[row - 1]->verdict;
    if (verdict == Verdict::slower) return session.colored(line, Color::red, descriptor);
    if (verdict == Verdict::faster) return session.colored(line, Color::green, descriptor);
    return line;
  });
}

// "12 more measurements: 9 same, 3 cannot tell; filereel compare --all lists them"; "" if
// all are listed.
std::string rest(const ResultComparison& comparison, std::size_t shown) {
  const std::size_t more = comparison.measurements.size() - shown;
  if (more == 0) return "";
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::same, Verdict::cannot_tell}) {
    const std::size_t indicated = verdict == Verdict::same ? 0 : comparison.indicated();
    const std::size_t count = comparison.count(verdict) - indicated;
    if (count > 0) parts.push_back(fmt::format("{} {}", count, verdict_name(verdict)));
  }
  const std::string other = shown > 0 ? "more " : "";
  return wrapped(
      fmt::format("{}: {}; filereel compare --all lists {}", counted(more, other + "measurement"),
                  fmt::join(parts, ", "), agreeing(more, "it", "them")),
      2);
}

std::string changes(const ResultComparison& comparison, const Session& session, int descriptor) {
  const auto bold = [&](const std::string& text) { return session.bold(text, descriptor); };
  std::string text;
  for (const Change& change : comparison.changes) {
    const std::string line = fmt::format("{}: {} -> {}", printable_line(change.what),
                                         printable_line(change.base), printable_line(change.fresh));
    const bool headline = change.kind <= ChangeKind::file_system;
    const std::string_view also =
        comparison.changes.front().kind <= ChangeKind::file_system ? "also changed: " : "changed: ";
    text += headline ? heading(line, bold) : wrapped(fmt::format("{}{}", also, line), 2);
  }
  return text;
}

// Evidence of changes in the tail and in stalls, which the time columns do not show.
std::string evidence(const std::vector<ComparedMeasurement>& all, const Parameters& shared) {
  std::string text;
  for (const ComparedMeasurement& compared : all) {
    const bool tail = compared.tail && compared.tail->answer.verdict == compared.verdict;
    const bool stalls = compared.stalls && compared.stalls->answer.verdict == compared.verdict;
    if (compared.evidence.empty() || (!tail && !stalls)) continue;
    text += wrapped(
        fmt::format("{} {}: {}", verdict_text(compared), printable(key_text(compared.key, shared)),
                    printable_line(compared.evidence)),
        2);
  }
  return text;
}

// Undecided measurements with the same reason.
struct Undecided {
  std::string reason;
  bool indicated = false;
  std::vector<const MeasurementKey*> keys;
  std::uint32_t fewest = 0, most = 0;  // more runs on each side that should decide; 0 if none would
};

// The reasons for undecided measurements; the first few if folded.
std::string reasons(const ResultComparison& comparison, const Parameters& shared, bool folded) {
  constexpr std::size_t kFew = 3;
  std::vector<Undecided> all;
  for (const ComparedMeasurement& compared : comparison.measurements) {
    if (compared.verdict != Verdict::cannot_tell) continue;
    // The table has each interval. It may exclude zero: p is corrected for all measurements.
    const bool indicated = compared.indicated().has_value();
    const std::uint32_t more = compared.more_runs.value_or(0);
    const bool uncertain = more > 0 && compared.time.ratio_interval && !indicated;
    const std::string reason = indicated   ? "not proven"
                               : uncertain ? "not certain with this many runs"
                                           : compared.reason();
    auto same = std::ranges::find_if(all, [&](const Undecided& other) {
      return other.reason == reason && (other.most > 0) == (more > 0);
    });
    if (same == all.end()) same = all.insert(same, {reason, indicated, {}, more, more});
    same->keys.push_back(&compared.key);
    same->fewest = std::min(same->fewest, more);
    same->most = std::max(same->most, more);
  }
  std::ranges::stable_sort(all, std::greater{}, &Undecided::indicated);
  const std::size_t shown = folded ? std::min(kFew, all.size()) : all.size();
  std::string text;
  for (const Undecided& undecided : std::span(all).first(shown)) {
    std::string line = fmt::format("{}: {}", undecided.indicated ? "indicated" : "cannot tell",
                                   printable(key_text(*undecided.keys.front(), shared)));
    if (undecided.keys.size() > 1) line += fmt::format(" and {} more", undecided.keys.size() - 1);
    line += fmt::format("; {}", printable_line(undecided.reason));
    if (undecided.most > 0) {
      const std::string range =
          undecided.fewest == undecided.most ? "" : fmt::format("{} to ", undecided.fewest);
      line += fmt::format("; about {}{} on each side should decide", range,
                          counted(undecided.most, "more run", "more runs"));
    } else if (undecided.indicated) {
      line += fmt::format(
          "; even {} more runs would not decide: use a control volume, or more sessions",
          kMostAdvisedRuns);
    }
    text += wrapped(line, 2);
  }
  if (shown == all.size()) return text;
  std::size_t others = 0;
  for (const Undecided& one : std::span(all).subspan(shown)) others += one.keys.size();
  return text + fmt::format("cannot tell: {} more; filereel compare --all lists them\n", others);
}

std::string conclusion(const ResultComparison& comparison, const Session& session, int descriptor) {
  std::string counts =
      fmt::format("{} slower, {} faster, {} same, {} cannot tell",
                  comparison.count(Verdict::slower), comparison.count(Verdict::faster),
                  comparison.count(Verdict::same), comparison.count(Verdict::cannot_tell));
  const std::size_t indicated = comparison.indicated();
  if (indicated > 0) counts += fmt::format(" ({} indicated)", indicated);
  const std::string overall =
      session.bold(fmt::format("Overall: {}", verdict_name(comparison.overall)), descriptor);
  std::string basis = fmt::format("threshold {:.3g} %; {}", comparison.options.threshold * 100,
                                  promise_text(comparison));
  if (indicated > 0) {
    basis += "; where nothing changed, chance indicates up to 1 measurement in 20";
  }
  return fmt::format("{} ({})\n", overall, counts) + wrapped(basis, 2);
}

}  // namespace

std::string replay_line(const Parameters& shared) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : shared) {
    const bool usual = (name == "depth" && value == "0") || (name == "clients" && value == "1");
    if (!usual) parts.push_back(fmt::format("{} {}", name, value));
  }
  return parts.empty() ? "" : wrapped(fmt::format("replayed with {}", fmt::join(parts, ", ")), 2);
}

std::string provable_text(const std::optional<double>& share) {
  if (!share) return "none";
  return fmt::format("{}{} %", *share < 0 ? "-" : "+", format_roughly(std::abs(*share) * 100));
}

std::string pace_note(bool in_calls) {
  if (!in_calls) return "";
  return wrapped(
      "time in calls: of replays with a pace, without the waits between calls, which no storage "
      "changes; filereel show tells predicted times",
      2);
}

bool is_long(std::size_t measurements) {
  constexpr std::size_t kScreen = 8;
  return measurements > kScreen;
}

std::string format_comparison(const ResultComparison& comparison, const Session& session,
                              int descriptor, bool all) {
  const bool folded = !all && is_long(comparison.measurements.size());
  std::string text = wrapped(fmt::format("base: {}; new: {}", printable(comparison.base_name),
                                         printable(comparison.fresh_name)),
                             2);
  const Parameters shared = shared_replay_of(comparison.measurements);
  text += changes(comparison, session, descriptor) + replay_line(shared) + "\n";
  const std::vector<const ComparedMeasurement*> list = listed(comparison, folded);
  text += table(list, comparison, shared, session, descriptor) + rest(comparison, list.size());
  if (!comparison.measurements.empty()) text += "\n";
  text += evidence(comparison.measurements, shared);
  text += pace_note(std::ranges::any_of(
      comparison.measurements, [](const auto& one) { return one.figure == Figure::in_calls; }));
  text += reasons(comparison, shared, folded);
  if (const std::string how = basis_of_changes(comparison); !how.empty()) {
    text += wrapped(how, 2);
  }
  if (const std::string control = control_text(comparison.control); !control.empty()) {
    text += wrapped(control, 2);
  }
  for (const Warning& warning : comparison.warnings) {
    text += format_warning(warning);
  }
  return text + conclusion(comparison, session, descriptor);
}

std::string format_self_comparison(const SelfComparison& self, const Session& session,
                                   int descriptor) {
  const std::string several = fmt::format("{} and {}", self.halves, self.halves);
  Rows rows = {{"measurement", "median", "spread", "false", "provable"}};
  if (self.halves > 0) rows[0].emplace_back(several);
  for (const SelfMeasurement& measurement : self.measurements) {
    Row row = {printable(key_text(measurement.key)), format_duration(measurement.median_s),
               fmt::format("{:.1f} %", measurement.spread * 100),
               fmt::format("{}", measurement.false_alarms), provable_text(measurement.provable)};
    if (self.halves > 0) row.emplace_back(provable_text(measurement.provable_of_halves));
    rows.push_back(std::move(row));
  }
  std::string text;
  for (const Difference& difference : self.differences) {
    text += wrapped(fmt::format("{} differs between the sessions: alarms may be real changes",
                                printable_line(difference.what)),
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

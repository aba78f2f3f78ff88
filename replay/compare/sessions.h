// Evidence for a change between two sides, on two levels: runs, and sessions.
//
// The problem. The runs of a session share the state of machine and drive: what else uses them, how
// warm and how full they are, where the files lie. Eight runs therefore say much about the session,
// and are a single draw of that state. A test on runs alone finds differences between any two
// sessions, also of the same drive. Change is shown only by a difference larger than what sessions
// differ by.
//
// The answer. The standard error of a difference, on the scale of logarithms, has a part of the
// runs and a part of the sessions. The latter is known from the best of these (Basis):
//
// - in_turns: both sides were measured in turns in the same sessions. The ratio of the two runs of
//   each turn is free of the session's state, so runs are compared in pairs (paired t test). The
//   same holds for sessions in turns, A B B A …, of which each pair of neighbours is a turn.
// - control: another volume was measured in turns with the one under test in each session. Its
//   change is taken away (control.h). What remains of the machine's change is assumed to be
//   kControlShare of it.
// - sessions, history: at least kLeastFreedom degrees of freedom from several states on a side, or
//   from earlier results of the same volume. Each state is one figure, the median of its runs, and
//   Student's t has the freedom of the states.
// - assumption: the spread that assumed_spread() gives for this kind of machine.
//
// Sessions that begin within kSameState of each other are one draw: measured every 20 s, their
// medians have a correlation of 0.55 with the next and of 0.1 with the fifth (docs/compare.md).
//
// Tails and stalls must also differ by the ranks of their runs (Mann-Whitney). A difference whose
// 95 % interval lies beyond the threshold, but that is not proven, is indicated. The references are
// Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time" (2013) for repetition at the level
// that varies, and Bulej et al., "Duet Benchmarking" (2020) for pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/compare/compared_figures.h"
#include "replay/compare/comparison.h"
#include "replay/results/result.h"

namespace filereel {

inline constexpr double kLeastFreedom = 4;
inline constexpr std::size_t kLeastRuns = 3;  // on each side, for any evidence
// The share of the control's change that may not be that of the volume, as a standard deviation.
// Also enough while compilers run and between a busy and a quiet machine (docs/compare.md).
inline constexpr double kControlShare = 0.25;

// The standard deviation of the logarithms of what sessions on this kind of machine
// (HostInfo::machine) differ by. `busy`: the share of the CPU time that other programs used, by
// which sessions differ more. docs/compare.md has the series; physical machines were not among
// them. Unknown kinds count as virtual.
double assumed_spread(std::string_view machine, Aspect aspect, double busy);

// Evidence for one aspect of a measurement.
struct SessionEvidence {
  Basis basis = Basis::assumption;
  double ratio = 1;                       // of the new side to the base, without the control's part
  std::optional<Interval> interval = {};  // 95 %, with the spread between sessions; empty with
                                          // fewer than three runs on a side
  double p_runs = 1;                      // two-sided, of the runs alone (Mann-Whitney)
  double p = 1;                           // two-sided, with the spread between sessions
  // Standard error of the logarithm of the ratio, its degrees of freedom, and the part of it that
  // more runs do not reduce.
  double error = 0, freedom = 1, of_sessions = 0;

  // The smallest change that has a p of `level`, as a share; empty if none up to eleven times the
  // time has.
  std::optional<double> provable(double level) const;

  // The error and its freedom with `more` runs on each side of now `base` and `fresh`: the part of
  // the runs shrinks with the square root of their number, that of the sessions does not.
  SessionEvidence with_more(std::uint32_t base, std::uint32_t fresh, std::uint32_t more) const;
};

// `earlier`: groups of other results of the same volume, whose sessions differ by nothing else.
// `machine`: from the control in all measurements; null for aspects that have it in one only.
SessionEvidence evidence_for(Aspect aspect, const SideFigures& base, const SideFigures& fresh,
                             std::span<const SideFigures> earlier = {},
                             const MachineChange* machine = nullptr);

// The begins of two repetitions with the same number, one of each side.
struct Turn {
  std::string_view session;
  double one_s = 0, other_s = 0;
};

// Whether each repetition of a side begins before the next one of the other side. `turns`: by
// session, then by number.
bool alternate(std::span<const Turn> turns);

// Whether both were measured in turns in the same sessions.
bool took_turns(const PooledMeasurement& pooled, const PooledMeasurement& other);

// The standard error of the logarithm of a side's figures due to its sessions: the assumed spread,
// less for several states.
double session_error(const PooledMeasurement& side);

// The warning that sessions may differ by more than what is compared. `text`: what it prevents.
Warning few_sessions(const std::string& text);

}  // namespace filereel

// evidence_for() is a cascade. The first of these that the results permit is used, because each one
// assumes more than those before it: pairs of runs, pairs of sessions, the states of both sides,
// those of a history, a control, an assumption. Pairs come first, since both runs of a pair have
// the same state of the machine, and no spread between sessions is needed at all. With a spread
// from several states, nothing is assumed about the machine. A control corrects the ratio and
// leaves a share of the correction as an error. The assumption is what remains.
//
// Two uses of a control are easily confused. Except for pairs of runs, figures are relative to it
// wherever both sides have one (logarithms_of), whatever the basis. Basis::control is only the case
// in which it is the sole information on the spread.
//
// All calculation is on logarithms: ratios become differences, errors add by squares, and a change
// by a factor is as large upwards as downwards. Errors have a part of the runs and a part of the
// sessions (of_sessions), kept apart because more runs reduce only the former: with_more() relies
// on it.
#include "replay/compare/sessions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "replay/compare/control.h"
#include "replay/statistics/rank_tests.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {
namespace {

constexpr double kTail = 0.025;
constexpr double kAssumedFreedom = 30;  // of assumptions: how well they are known

std::vector<double> exponentials(std::span<const double> values) {
  std::vector<double> list;
  list.reserve(values.size());
  for (const double value : values) list.push_back(std::exp(value));
  return list;
}

Interval interval_around(double logarithm, double half) {
  return {std::exp(logarithm - half), std::exp(logarithm + half)};
}

// Completes the evidence from its ratio, error and freedom. `runs`: of the side with fewer.
void conclude(Aspect aspect, std::size_t runs, SessionEvidence& evidence) {
  if (runs < kLeastRuns) return;
  const double effect = std::abs(std::log(evidence.ratio));
  if (evidence.error > 0) {
    evidence.p = 2 * student_tail(effect / evidence.error, evidence.freedom);
  } else {
    evidence.p = effect > 0 ? 0 : 1;
  }
  // Tails and stalls have many equal values, for which t is not made.
  if (aspect != Aspect::time) evidence.p = std::max(evidence.p, evidence.p_runs);
  const double half = student_quantile(1 - kTail, evidence.freedom) * evidence.error;
  evidence.interval = interval_around(std::log(evidence.ratio), half);
}

// A run of each side in the same turn, by position.
using TurnPair = std::pair<std::size_t, std::size_t>;

// The runs of a side by session and number; empty if a session is unknown or has two runs of a
// number.
using Turns = std::map<std::pair<std::string, std::uint32_t>, std::size_t>;
Turns turns_of(const PooledMeasurement& side) {
  Turns turns;
  for (std::size_t i = 0; i < side.samples.size(); ++i) {
    const std::string& session = side.origins[i].result->session;
    if (session.empty() || !turns.try_emplace({session, side.samples[i]->run}, i).second) return {};
  }
  return turns;
}

// The pairs of runs, if both sides took turns. Two file systems of one result have a session in
// common, too, but were measured one after the other.
std::vector<TurnPair> pairs_in_turns(const PooledMeasurement& base,
                                     const PooledMeasurement& fresh) {
  std::vector<TurnPair> pairs;
  std::vector<Turn> turns;
  const Turns before = turns_of(base), after = turns_of(fresh);
  for (const auto& [turn, i] : before) {
    const auto other = after.find(turn);
    if (other == after.end()) continue;
    turns.push_back(
        {turn.first, base.samples[i]->started_s, fresh.samples[other->second]->started_s});
    pairs.emplace_back(i, other->second);
  }
  if (!alternate(turns)) return {};
  // A few runs without a partner may have failed or been interrupted.
  const std::size_t most = std::max(base.samples.size(), fresh.samples.size());
  // A single one says nothing of their order.
  return pairs.size() > 1 && 2 * pairs.size() > most ? pairs : std::vector<TurnPair>();
}

// The larger share of the two sides; 0 if unknown.
double busier_share(const PooledMeasurement& base, const PooledMeasurement& fresh) {
  return std::max(busy_share(base).value_or(0), busy_share(fresh).value_or(0));
}

std::string_view machine_of(const PooledMeasurement& side) {
  return side.origins.empty() ? "" : std::string_view(side.origins.front().result->host.machine);
}

// The degrees of freedom of the sum of two independent errors (Welch 1947, Satterthwaite 1946).
double joint_freedom(double one, double freedom, double other, double other_freedom) {
  const auto part = [](double error, double of) { return std::pow(error, 4) / of; };
  const double parts = part(one, std::max(freedom, 1.0)) + part(other, other_freedom);
  return parts > 0 ? std::pow(one * one + other * other, 2) / parts : other_freedom;
}

// Figures of both sides in the same turns, on the scale of logarithms.
struct PairedFigures {
  std::vector<double> base, fresh;
};

PairedFigures paired_runs(const SideFigures& base, const SideFigures& fresh,
                          std::span<const TurnPair> pairs) {
  PairedFigures figures;
  for (const auto& [one, other] : pairs) {
    figures.base.push_back(std::log(base.values[one]));
    figures.fresh.push_back(std::log(fresh.values[other]));
  }
  return figures;
}

// A result of a comparison, with its runs by position.
struct ComparedSession {
  double begun_s = 0;
  bool fresh = false;
  std::vector<std::size_t> runs;
};

void add_sessions(const PooledMeasurement& side, bool fresh, std::vector<ComparedSession>& all) {
  std::map<const Result*, std::size_t> places;
  for (std::size_t i = 0; i < side.samples.size(); ++i) {
    const SampleSource& origin = side.origins[i];
    const auto [place, is_new] = places.try_emplace(origin.result, all.size());
    if (is_new) all.push_back({.begun_s = origin.begun_s, .fresh = fresh, .runs = {}});
    all[place->second].runs.push_back(i);
  }
}

// The medians of sessions that took turns: in order of time, each two neighbours are one of either
// side. Empty if they did not, or are fewer than kLeastRuns of each.
PairedFigures paired_sessions(const PooledMeasurement& base, std::span<const double> before,
                              const PooledMeasurement& fresh, std::span<const double> after) {
  std::vector<ComparedSession> all;
  add_sessions(base, false, all);
  add_sessions(fresh, true, all);
  std::ranges::stable_sort(all, {}, &ComparedSession::begun_s);
  PairedFigures figures;
  if (all.size() % 2 != 0 || all.size() < 2 * kLeastRuns) return figures;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    const bool known = all[i].begun_s > 0 && (i == 0 || all[i].begun_s > all[i - 1].begun_s);
    if (all[i].fresh == all[i + 1].fresh || !known) return {};
    for (const ComparedSession& session : {all[i], all[i + 1]}) {
      std::vector<double> values;
      for (const std::size_t run : session.runs)
        values.push_back((session.fresh ? after : before)[run]);
      (session.fresh ? figures.fresh : figures.base).push_back(median(values));
    }
  }
  return figures;
}

SessionEvidence evidence_in_turns(Aspect aspect, const PairedFigures& figures) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < figures.base.size(); ++i) {
    differences.push_back(figures.fresh[i] - figures.base[i]);
  }
  SessionEvidence evidence{.basis = Basis::in_turns,
                           .ratio = std::exp(mean(differences)),
                           .p_runs = mann_whitney(figures.base, figures.fresh).p};
  if (differences.size() < kLeastRuns) return evidence;
  const auto count = static_cast<double>(differences.size());
  evidence.freedom = count - 1;
  evidence.error = std::sqrt(variance(differences) / count);
  conclude(aspect, differences.size(), evidence);
  return evidence;
}

// The error of a difference of two sides whose sessions have a known spread. `shares`: the sum of
// the inverse numbers of states.
void add_known_error(const StateSpread& spread, double shares, double of_runs,
                     SessionEvidence& evidence) {
  // The figures of states contain the noise of their runs.
  evidence.error = std::max(of_runs, std::sqrt(spread.variance_of_state() * shares));
  evidence.of_sessions =
      std::sqrt(std::max(0.0, evidence.error * evidence.error - of_runs * of_runs));
  evidence.freedom = spread.freedom;
}

// The error of a difference whose sessions have an assumed one. `runs`: of both sides.
void add_errors(double of_runs, double of_sessions, std::size_t runs, SessionEvidence& evidence) {
  evidence.of_sessions = of_sessions;
  evidence.error = std::hypot(of_runs, of_sessions);
  evidence.freedom =
      joint_freedom(of_runs, static_cast<double>(runs) - 2, of_sessions, kAssumedFreedom);
}

double assumed_error(Aspect aspect, const SideFigures& base, const SideFigures& fresh,
                     double shares) {
  const double busy = busier_share(*base.of, *fresh.of);
  return assumed_spread(machine_of(*fresh.of), aspect, busy) * std::sqrt(shares);
}

}  // namespace

double assumed_spread(std::string_view machine, Aspect aspect, double busy) {
  struct Assumption {
    std::string_view machine;
    std::array<double, 3> spread;  // by aspect
  };
  static constexpr std::array<Assumption, 3> kAssumptions = {{
      {"physical", {0.08, 0.25, 0.3}},
      {"virtual", {0.15, 0.40, 0.4}},
      {"container", {0.15, 0.40, 0.4}},
  }};
  const auto found = std::ranges::find(kAssumptions, machine, &Assumption::machine);
  const Assumption& assumption = found == kAssumptions.end() ? kAssumptions[1] : *found;
  // Stalls that waiting for a CPU can explain do not count anyway (verdict.cc).
  const double of_busy = aspect == Aspect::stalls ? 0 : 0.6;
  return std::hypot(assumption.spread[static_cast<std::size_t>(aspect)], of_busy * busy);
}

bool alternate(std::span<const Turn> turns) {
  for (std::size_t i = 1; i < turns.size(); ++i) {
    const Turn &before = turns[i - 1], &next = turns[i];
    if (next.session == before.session &&
        std::min(next.one_s, next.other_s) < std::max(before.one_s, before.other_s)) {
      return false;
    }
  }
  return true;
}

bool took_turns(const PooledMeasurement& pooled, const PooledMeasurement& other) {
  return !pairs_in_turns(pooled, other).empty();
}

double session_error(const PooledMeasurement& side) {
  const std::vector<double> begins = begins_of(side);
  const std::size_t states = figures_by_state(begins, begins).size();
  return assumed_spread(machine_of(side), Aspect::time, busy_share(side).value_or(0)) /
         std::sqrt(static_cast<double>(states));
}

std::optional<double> SessionEvidence::provable(double level) const {
  constexpr double kLargest = 10;
  if (!interval) return std::nullopt;
  const double change = std::expm1(student_quantile(1 - level / 2, freedom) * error);
  return change <= kLargest ? std::optional(change) : std::nullopt;
}

SessionEvidence SessionEvidence::with_more(std::uint32_t base, std::uint32_t fresh,
                                           std::uint32_t more) const {
  const auto shares = [](double one, double other) { return 1 / one + 1 / other; };
  const double of_runs = std::sqrt(std::max(0.0, error * error - of_sessions * of_sessions) *
                                   shares(base + more, fresh + more) / shares(base, fresh));
  SessionEvidence then = *this;
  switch (basis) {
    case Basis::in_turns:
      if (of_sessions == 0) {
        then.freedom += more;
        then.error = of_runs;
      }
      break;
    case Basis::control:
    case Basis::assumption:
      add_errors(of_runs, of_sessions, base + fresh + 2 * more, then);
      break;
    case Basis::sessions:
    case Basis::history:
      then.error = std::hypot(of_runs, of_sessions);
      break;
  }
  return then;
}

SessionEvidence evidence_for(Aspect aspect, const SideFigures& base, const SideFigures& fresh,
                             std::span<const SideFigures> earlier, const MachineChange* machine) {
  const std::vector<TurnPair> pairs = pairs_in_turns(*base.of, *fresh.of);
  if (!pairs.empty()) return evidence_in_turns(aspect, paired_runs(base, fresh, pairs));
  const bool controlled = !base.control.empty() && !fresh.control.empty();
  const std::vector<double> before = logarithms_of(base, controlled),
                            after = logarithms_of(fresh, controlled);
  const PairedFigures sessions = paired_sessions(*base.of, before, *fresh.of, after);
  if (!sessions.base.empty()) {
    SessionEvidence evidence = evidence_in_turns(aspect, sessions);
    evidence.of_sessions = evidence.error;  // more runs are no more sessions
    return evidence;
  }
  const std::vector<double> states_before = figures_by_state(begins_of(*base.of), before),
                            states_after = figures_by_state(begins_of(*fresh.of), after);
  const Ratio ratio = ratio_of(exponentials(before), exponentials(after));
  const double of_runs = error_of_runs(ratio, before, after);
  const std::size_t runs = before.size() + after.size();
  const double shares =
      1 / static_cast<double>(states_before.size()) + 1 / static_cast<double>(states_after.size());
  SessionEvidence evidence{.ratio = ratio.estimate, .p_runs = mann_whitney(before, after).p};
  StateSpread spread;
  spread.add(states_before);
  spread.add(states_after);
  if (spread.freedom >= kLeastFreedom) {
    evidence.basis = Basis::sessions;
    evidence.ratio = std::exp(mean(states_after) - mean(states_before));
  } else {
    for (const SideFigures& group : earlier) {
      if (controlled && group.control.empty()) continue;
      spread.add(figures_by_state(begins_of(*group.of), logarithms_of(group, controlled)));
    }
    evidence.basis = Basis::history;
  }
  if (spread.freedom >= kLeastFreedom) {
    add_known_error(spread, shares, of_runs, evidence);
  } else if (controlled) {
    const CorrectedRatio corrected = corrected_ratio(base, fresh, machine);
    evidence.basis = Basis::control;
    evidence.ratio = std::exp(corrected.ratio);
    add_errors(corrected.error, kControlShare * std::abs(corrected.machine), runs, evidence);
  } else {
    evidence.basis = Basis::assumption;
    add_errors(of_runs, assumed_error(aspect, base, fresh, shares), runs, evidence);
  }
  conclude(aspect, std::min(before.size(), after.size()), evidence);
  return evidence;
}

Warning few_sessions(const std::string& text) {
  return {"few-sessions", text + ", because sessions may differ as much",
          "measure in turns (filereel run --against, with a directory on each file system), or "
          "several sessions of each"};
}

}  // namespace filereel

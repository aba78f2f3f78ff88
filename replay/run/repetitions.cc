#include "replay/run/repetitions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "replay/plan/precision.h"

namespace filereel {
namespace {

constexpr const char* kPrecise = "precise";

}  // namespace

Repetitions::Repetitions(std::uint32_t runs, const std::optional<AutoRuns>& automatic,
                         Nanoseconds clock, Agreed agreed, bool steady)
    : wanted_(runs),
      runs_(runs),
      automatic_(automatic),
      agreed_(std::move(agreed)),
      clock_(std::move(clock)),
      steady_(steady) {
  if (automatic_) expected_ = std::max(1U, automatic_->least);
}

double Repetitions::elapsed_s() const {
  return static_cast<double>(clock_() - began_ns_) * 1e-9;
}

namespace {

bool is_steady(const Measurement& measurement) {
  const std::vector<double> rates = main_rates(measurement);
  const std::optional<SteadyWindow> window = steady_window(rates);
  return rates.empty() || (window && window->is_steady());
}

// Of the samples, the last ones stay.
void skip_rounds(Measurement& measurement, std::size_t kept) {
  if (measurement.samples.size() <= kept) return;
  const std::vector<double> rates = main_rates(measurement);
  const std::size_t skipped = measurement.samples.size() - kept;
  measurement.samples.erase(measurement.samples.begin(),
                            measurement.samples.begin() + static_cast<std::ptrdiff_t>(skipped));
  // A failed sample has no rate.
  const std::size_t later = main_rates(measurement).size();
  measurement.earlier_rounds.assign(rates.begin(),
                                    rates.end() - static_cast<std::ptrdiff_t>(later));
}

}  // namespace

Repetitions::Rounds Repetitions::look_at_rounds(std::span<Measurement* const> measurements) {
  if (run_ < kSteadyRounds) return Rounds::before;
  const bool steady = std::ranges::all_of(
      measurements, [](const Measurement* measurement) { return is_steady(*measurement); });
  const bool reached = agreed_(steady);
  if (!reached && run_ < kMostRounds) return Rounds::before;
  const std::uint32_t wanted = automatic_ ? automatic_->least : runs_;
  const std::uint32_t kept =
      reached ? kSteadyRounds : std::clamp<std::uint32_t>(wanted, kSteadyRounds, kMostRounds);
  for (Measurement* measurement : measurements) skip_rounds(*measurement, kept);
  skipped_ = run_ - kept;
  steady_ = false;
  runs_ = std::max<std::uint32_t>(runs_, kSteadyRounds);
  return reached ? Rounds::steady : Rounds::without;
}

bool Repetitions::next(std::span<Measurement* const> measurements) {
  if (run_ == resumed_) began_ns_ = clock_();
  if (steady_ && run_ > 0) {
    const Rounds rounds = look_at_rounds(measurements);
    if (rounds == Rounds::without) return false;
    if (rounds == Rounds::before) {
      ++run_;
      return true;
    }
  }
  if (!automatic_) {
    if (counted() >= runs_ && run_ > 0) return false;
    ++run_;
    return true;
  }
  std::vector<double> widths;
  double wanted = automatic_->least;
  for (const Measurement* measurement : measurements) {
    const double width = widths.emplace_back(relative_width(*measurement, *automatic_));
    // The width of intervals is proportional to 1 / sqrt(number of samples).
    wanted = std::max(wanted, std::isfinite(width) ? counted() * width * width
                                                   : runs_by_variation(*measurement, *automatic_));
  }
  const char* const why = run_ > 0 ? why_end(widths, wanted) : nullptr;
  if (agreed_(why != nullptr)) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool precise = counted() >= automatic_->least && widths[i] <= 1;
      measurements[i]->runs_ended = precise || !why ? kPrecise : why;
    }
    return false;
  }
  ++run_;
  return true;
}

void Repetitions::replace() {
  if (!automatic_ && runs_ < 2 * wanted_) ++runs_;
}

const char* Repetitions::why_end(std::span<const double> widths, double wanted) {
  const AutoRuns& limits = *automatic_;
  const auto precise = [&](double width) { return width <= 1; };
  if (counted() >= limits.least && std::ranges::all_of(widths, precise)) return kPrecise;
  if (counted() >= limits.most) return "most";
  const double each = elapsed_s() / std::max(1U, run_ - resumed_);
  if (elapsed_s() + each > limits.budget_s) return "budget";
  const double possible = each > 0 ? limits.budget_s / each : wanted;
  expected_ =
      std::max(counted() + 1.0, std::min({wanted, possible, static_cast<double>(limits.most)}));
  return nullptr;
}

SharedBudget::SharedBudget(const std::optional<AutoRuns>& automatic, std::size_t groups,
                           Nanoseconds clock)
    : automatic_(automatic),
      groups_left_(groups),
      clock_(std::move(clock)),
      began_ns_(automatic ? clock_() : 0) {}

std::optional<AutoRuns> SharedBudget::next() {
  if (!automatic_) return std::nullopt;
  const double spent = static_cast<double>(clock_() - began_ns_) * 1e-9;
  AutoRuns part = *automatic_;
  const auto groups = static_cast<double>(std::max<std::size_t>(1, groups_left_));
  part.budget_s = std::max(0.0, automatic_->budget_s - spent) / groups;
  if (groups_left_ > 0) --groups_left_;
  return part;
}

std::vector<std::uint64_t> order_of_points(std::uint32_t run, std::uint64_t points,
                                           std::uint64_t turns) {
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < points; ++i) {
    const std::uint64_t in_turn = i % turns;
    order.push_back(i - in_turn + (in_turn + run - 1) % turns);
  }
  return order;
}

std::vector<std::size_t> turns_of(std::uint32_t run, std::size_t volumes) {
  std::vector<std::size_t> turns;
  for (std::size_t i = 0; i < volumes; ++i) turns.push_back(run % 2 == 0 ? volumes - 1 - i : i);
  return turns;
}

NewMeasurements::NewMeasurements(std::span<Result* const> results,
                                 std::span<const std::size_t> begins) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    begins_.emplace_back(results[i], begins.empty() ? results[i]->measurements.size() : begins[i]);
  }
}

std::vector<Measurement*> NewMeasurements::list() const {
  std::vector<Measurement*> all;
  for (const auto& [result, begin] : begins_) {
    for (std::size_t i = begin; i < result->measurements.size(); ++i) {
      all.push_back(&result->measurements[i]);
    }
  }
  return all;
}

}  // namespace filereel

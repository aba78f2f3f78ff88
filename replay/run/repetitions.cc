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
                         Nanoseconds clock, Agreed agreed)
    : wanted_(runs),
      runs_(runs),
      automatic_(automatic),
      agreed_(std::move(agreed)),
      clock_(std::move(clock)) {
  if (automatic_) expected_ = std::max(1U, automatic_->least);
}

double Repetitions::elapsed_s() const {
  return static_cast<double>(clock_() - began_ns_) * 1e-9;
}

bool Repetitions::next(std::span<Measurement* const> measurements) {
  if (run_ == 0) began_ns_ = clock_();
  if (!automatic_) {
    if (run_ >= runs_) return false;
    ++run_;
    return true;
  }
  std::vector<double> widths;
  double wanted = automatic_->least;
  for (const Measurement* measurement : measurements) {
    const double width = widths.emplace_back(relative_width(*measurement, *automatic_));
    // The width of intervals is proportional to 1 / sqrt(number of samples).
    wanted = std::max(wanted, std::isfinite(width) ? run_ * width * width
                                                   : runs_by_variation(*measurement, *automatic_));
  }
  const char* const why = run_ > 0 ? why_end(widths, wanted) : nullptr;
  if (agreed_(why != nullptr)) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool precise = run_ >= automatic_->least && widths[i] <= 1;
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
  if (run_ >= limits.least && std::ranges::all_of(widths, precise)) return kPrecise;
  if (run_ >= limits.most) return "most";
  const double each = elapsed_s() / run_;
  if (elapsed_s() + each > limits.budget_s) return "budget";
  const double possible = each > 0 ? limits.budget_s / each : wanted;
  expected_ = std::max(run_ + 1.0, std::min({wanted, possible, static_cast<double>(limits.most)}));
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

NewMeasurements::NewMeasurements(std::span<Result* const> results) {
  for (Result* result : results) begins_.emplace_back(result, result->measurements.size());
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

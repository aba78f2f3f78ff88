#include "replay/compare/side_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "replay/statistics/order.h"
#include "replay/statistics/student.h"

namespace filereel {

SideFigures side_figures(const PooledMeasurement& side, Figure figure) {
  return {
      .of = &side, .values = figures_of(side, figure), .control = control_figures_of(side, figure)};
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> list;
  list.reserve(values.size());
  for (const double one : values) list.push_back(std::log(one));
  return list;
}

std::vector<double> logarithms_of(const SideFigures& side, bool controlled) {
  std::vector<double> list = logarithms(side.values);
  for (std::size_t i = 0; controlled && i < list.size(); ++i) list[i] -= std::log(side.control[i]);
  return list;
}

std::vector<double> begins_of(const PooledMeasurement& side) {
  std::vector<double> begins;
  begins.reserve(side.origins.size());
  for (const SampleSource& origin : side.origins) begins.push_back(origin.begun_s);
  return begins;
}

std::vector<double> figures_by_state(std::span<const double> begins,
                                     std::span<const double> values) {
  std::vector<std::pair<double, double>> order;
  for (std::size_t i = 0; i < values.size(); ++i) order.emplace_back(begins[i], values[i]);
  std::ranges::sort(order);
  std::vector<double> figures, state;
  double first = 0;
  for (const auto& [begin, value] : order) {
    if (!state.empty() && begin - first >= kSameState) {
      figures.push_back(median(state));
      state.clear();
    }
    if (state.empty()) first = begin;
    state.push_back(value);
  }
  if (!state.empty()) figures.push_back(median(state));
  return figures;
}

void StateSpread::add(std::span<const double> figures) {
  if (figures.size() < 2) return;
  freedom += static_cast<double>(figures.size() - 1);
  squares += variance(figures) * static_cast<double>(figures.size() - 1);
}

double error_of_runs(const Ratio& ratio, std::span<const double> base,
                     std::span<const double> fresh) {
  if (ratio.interval) {  // of 95 %
    const auto freedom = static_cast<double>(base.size() + fresh.size() - 2);
    return std::log(ratio.interval->high / ratio.interval->low) / 2 /
           student_quantile(0.975, freedom);
  }
  double sum = 0;
  for (const std::span<const double>& side : {base, fresh}) {
    if (side.size() > 1) sum += variance(side) / static_cast<double>(side.size());
  }
  return std::sqrt(sum);
}

}  // namespace filereel

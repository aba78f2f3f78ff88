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

std::vector<std::vector<std::size_t>> states_of(const PooledMeasurement& side) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < side.samples.size(); ++i) {
    order.emplace_back(side.origins[i].begun_s, i);
  }
  std::ranges::sort(order);
  std::vector<std::vector<std::size_t>> states;
  double first = 0;
  for (const auto& [begin, position] : order) {
    if (states.empty() || begin - first >= kSameState) {
      states.emplace_back();
      first = begin;
    }
    states.back().push_back(position);
  }
  return states;
}

std::vector<double> figures_by_state(const PooledMeasurement& side,
                                     std::span<const double> values) {
  std::vector<double> figures;
  for (const std::vector<std::size_t>& state : states_of(side)) {
    std::vector<double> runs;
    for (const std::size_t one : state) runs.push_back(values[one]);
    figures.push_back(median(runs));
  }
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

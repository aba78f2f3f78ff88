#include "replay/results/result_sweep.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace filereel {
namespace {

// Finds the point of a measurement by its parameters.
class PointFinder {
 public:
  explicit PointFinder(const std::vector<SweepAxis>& axes) : axes_(axes), positions_(axes.size()) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      for (const std::string& value : axes[i].values) {
        positions_[i].emplace(value, positions_[i].size());
      }
    }
  }

  std::optional<std::uint64_t> point_of(const Measurement& measurement) const {
    if (measurement.parameters.size() != axes_.size()) return std::nullopt;
    std::uint64_t point = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto& [name, value] = measurement.parameters[i];
      const auto found = positions_[i].find(value);
      if (name != axes_[i].name || found == positions_[i].end()) return std::nullopt;
      point = point * axes_[i].values.size() + found->second;
    }
    return point;
  }

 private:
  const std::vector<SweepAxis>& axes_;
  std::vector<std::unordered_map<std::string, std::uint64_t>> positions_;
};

}  // namespace

std::uint64_t points_of(const std::vector<SweepAxis>& axes) {
  std::uint64_t points = 1;
  for (const SweepAxis& axis : axes) {
    points *= std::min<std::uint64_t>(axis.values.size(), kMostPoints + 1);
    if (points > kMostPoints) return kMostPoints + 1;
  }
  return points;
}

std::vector<SweepCells> cells_of(const Result& result, const JobRecord& job) {
  const PointFinder finder(job.axes);
  std::vector<SweepCells> all;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.workload != job.name) continue;
    const std::optional<std::uint64_t> point = finder.point_of(measurement);
    if (!point) continue;
    auto cells = std::ranges::find_if(all, [&](const SweepCells& other) {
      return other.set == measurement.set && other.file_system == measurement.file_system &&
             other.operation == measurement.operation;
    });
    if (cells == all.end()) {
      cells = all.insert(all.end(),
                         {measurement.set, measurement.file_system, measurement.operation, {}});
      cells->points.resize(points_of(job.axes));
    }
    cells->points[*point] = &measurement;
  }
  return all;
}

}  // namespace filereel

#include "replay/run/stage_estimate.h"

#include <algorithm>
#include <vector>

#include "replay/run/baseline_run.h"
#include "replay/run/plan.h"

namespace filereel {

std::uint32_t runs_of(const Job& job, const RunRequest& request) {
  return request.runs ? *request.runs : runs_of(job);
}

bool is_automatic(const Job& job, const RunRequest& request) {
  return request.auto_runs && !request.runs && !job.options(0).runs;
}

std::size_t count_automatic(const Stage& stage, const RunRequest& request) {
  return static_cast<std::size_t>(std::ranges::count_if(
      stage.parts, [&](const StagedJob& part) { return is_automatic(*part.job, request); }));
}

TimeEstimate estimate_of(const Stage& stage, const RunRequest& request, std::size_t shapes) {
  const auto automatic = static_cast<double>(count_automatic(stage, request));
  std::vector<EstimatedPart> parts;
  for (const StagedJob& part : stage.parts) {
    const Job& job = *part.job;
    const auto points = static_cast<double>(job.points());
    EstimatedPart& one = parts.emplace_back(
        EstimatedPart{.job = &job, .kind = job.record().kind, .points = job.points()});
    one.unit = {part.time.work_s / points, part.time.waits_s / points};
    one.prepare_s = (part.fill_s + preparation_seconds(job)) / points;
    one.runs = runs_of(job, request);
    if (!is_automatic(job, request)) continue;
    one.runs = request.auto_runs->least;
    one.most_s = request.auto_runs->budget_s / automatic;
  }
  const std::size_t sides = stage.sides.size();
  const auto baselines = static_cast<double>(sides - (request.targets.control ? 1 : 0));
  return {parts, sides, baselines * baseline_seconds(shapes), request.began_ns};
}

}  // namespace filereel

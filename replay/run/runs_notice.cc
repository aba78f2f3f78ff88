#include "replay/run/runs_notice.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/wording.h"
#include "replay/results/file_systems.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"

namespace filereel {

PlannedRuns planned_runs(const Stage& stage, bool control, const MeasurementCounts& counts) {
  std::map<const Job*, std::size_t> file_systems;  // by job
  const std::size_t volumes = stage.sides.front().by_part.front().all().size();
  const std::size_t roles = volumes == 0 ? kRoles : volumes;  // without volumes, nothing is skipped
  for (const StagedJob& staged : stage.jobs) ++file_systems[staged.job];
  std::size_t all = 0, on_several = 0, most = 1;
  for (const auto& [job, number] : file_systems) {
    const auto& by_role = counts.at(job);
    const std::size_t measurements =
        job->points() * std::accumulate(by_role.begin(),
                                        by_role.begin() + static_cast<std::ptrdiff_t>(roles),
                                        std::size_t{0});
    all += measurements * number;
    if (number > 1) on_several += measurements;
    most = std::max(most, number);
  }
  const std::size_t sides = stage.sides.size() - (control ? 1 : 0);
  // Volumes are compared or ranked on each file system; one alone has its file systems ranked.
  if (sides > 1) {
    return {.measurements = all, .entries = sides, .of = "volumes", .ranked = sides > 2};
  }
  if (most == 1) return {.measurements = all, .entries = 1};
  return {.measurements = on_several, .entries = most, .ranked = true};
}

std::string runs_notice(const PlannedRuns& planned) {
  const std::string measurements = counted(planned.measurements, "measurement");
  // With fewer, a verdict may be possible, but medians have no interval.
  const auto needed =
      std::max(static_cast<std::uint32_t>(kLeastForInterval),
               planned.ranked ? runs_for_ranking(planned.measurements, planned.entries)
                              : runs_for_comparison(planned.measurements));
  const std::string runs = counted(needed, "run");
  std::string text = planned.ranked
                         ? fmt::format(
                               "{} on each of {} {}: a ranking needs at least {} of each, more "
                               "if differences are small",
                               measurements, planned.entries, planned.of, runs)
                         : fmt::format(
                               "{}: a verdict at {:.0f} % and intervals need at least {} on each "
                               "side, more if differences are small",
                               measurements, kFalseAlarms * 100, runs);
  if (planned.least < needed) {
    text += planned.some_automatic
                ? fmt::format(
                      "; planned: {} for jobs with 'runs' of their own; omit these, or use "
                      "--runs {}",
                      planned.least, needed)
                : fmt::format("; planned: {}; use --runs auto or --runs {}", planned.least, needed);
  }
  return text;
}

bool has_only_replays(const Stage& stage) {
  return std::ranges::all_of(stage.jobs, [](const StagedJob& staged) {
    return info_of(staged.job->record().kind).replays;
  });
}

std::string shared_drive_notice(const Stage& stage) {
  std::set<std::string> drives;
  for (const std::unique_ptr<Volume>& volume : stage.volumes) {
    const std::vector<DeviceIdentity> found = volume->describe().drives;
    drives.insert(found.empty() ? "" : found.front().name);
  }
  if (stage.volumes.size() < 2 || drives.size() != 1 || drives.begin()->empty()) return "";
  const bool copies = std::ranges::any_of(
      stage.jobs, [](const StagedJob& staged) { return staged.job->volume_count().most > 1; });
  std::string_view text;
  const bool far = stage.sides.front().by_part.front().all().size() > 1;
  if (far && copies) text = "copies to far volumes stay on it";
  if (stage.sides.size() > 1) text = "they do not differ by drives";
  return text.empty() ? ""
                      : fmt::format("all volumes are on the drive {}: {}", *drives.begin(), text);
}

std::string control_notice(const Stage& stage) {
  const Volume* const near = stage.sides.front().by_part.front().near;
  const Volume* const control = stage.sides.back().by_part.front().near;
  if (!near || !control || same_kind_of_storage(near->describe(), control->describe())) return "";
  return "the control volume is on another kind of storage than near, so filereel compare will not "
         "use it; name one on the same kind, or omit --control";
}

}  // namespace filereel

#include "replay/plan/drive_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/jobs/job_wrappers.h"
#include "replay/volumes/block_device.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"begin", "middle", "end"};
constexpr std::array<double, 3> kPlaces = {0, 0.5, 1};

DrivePart parse_part(const std::string& text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return {text, kPlaces[i]};
  }
  const std::optional<double> place = parse_percentage(text);
  if (!place || !(*place >= 0 && *place <= 1)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("invalid value '{}' for --parts: expected begin, middle, end, or 0% to 100%",
                    printable(text)));
  }
  return {text, *place};
}

// A job that is measured on each part of near.
class JobOnParts final : public JobAlongAxis {
 public:
  JobOnParts(std::unique_ptr<Job> job, std::vector<std::string> parts)
      : JobAlongAxis(std::move(job), {std::string(kPartAxis), std::move(parts)}) {}

  std::size_t part(std::uint64_t point) const override { return value(point); }
};

}  // namespace

std::span<const std::string_view> drive_part_names() {
  return kNames;
}

std::vector<DrivePart> parse_drive_parts(std::span<const std::string> texts) {
  std::vector<DrivePart> parts;
  for (const std::string& text : texts) {
    DrivePart part = parse_part(text);
    if (const auto* same = find_or_null(parts, part.place, &DrivePart::place)) {
      throw Error(ErrorKind::usage, fmt::format("--parts: {} and {} are the same part; remove one",
                                                same->name, part.name));
    }
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) {
    throw Error(ErrorKind::usage,
                "--parts needs two or more parts, such as begin,middle,end; for a single part, use "
                "--near DEVICE,start=32G,size=32G");
  }
  return parts;
}

std::vector<Target> place_parts(const Target& whole, std::span<const DrivePart> parts,
                                std::string_view option) {
  if (whole.kind != TargetKind::block_device || whole.size == 0 || whole.start != 0) {
    throw Error(ErrorKind::usage,
                fmt::format("--parts needs a block device with a size and without a start, such as "
                            "{} /dev/sdb,size=32G",
                            option));
  }
  Target device = whole;
  device.size = 0;
  const DiskRange range = range_of(device), of_part = range_of(whole);
  std::vector<Target> targets;
  for (const DrivePart& part : parts) {
    constexpr std::uint64_t kGrain = 1 << 20;  // starts are whole MiB
    const std::uint64_t room = range.size() - of_part.size();
    const auto exact = static_cast<std::uint64_t>(part.place * static_cast<double>(room));
    Target& target = targets.emplace_back(whole);
    target.start = std::min(exact, room) / kGrain * kGrain;
  }
  return targets;
}

void measure_on_parts(Plan& plan, std::vector<DrivePart> parts) {
  if (parts.empty()) return;
  std::vector<std::string> names;
  for (const DrivePart& part : parts) names.push_back(part.name);
  for (std::unique_ptr<Job>& job : plan.jobs) {
    const JobRecord record = job->record();
    if (job->points() > kMostPoints / parts.size() || record.axes.size() >= kMostAxes) {
      throw Error(ErrorKind::usage,
                  fmt::format("the sweep of {} over {} exceeds {} points or {} axes: "
                              "use fewer",
                              record.name, counted(parts.size(), "part"), kMostPoints, kMostAxes));
    }
    if (contains(record.axes, kPartAxis, &SweepAxis::name)) {
      throw Error(ErrorKind::usage, fmt::format("{} already sweeps a key '{}': omit --parts",
                                                record.name, kPartAxis));
    }
    job = std::make_unique<JobOnParts>(std::move(job), names);
  }
  plan.parts = std::move(parts);
}

}  // namespace filereel

#include "replay/run/drive_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/volumes/device_part.h"

namespace filereel {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 3> kNames = {
    {{"begin", 0.0}, {"middle", 0.5}, {"end", 1.0}}};

DrivePart parse_part(const std::string& text) {
  for (const auto& [name, place] : kNames) {
    if (text == name) return {text, place};
  }
  double percent = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view rest(stop, text.data() + text.size());
  if (error != std::errc() || (rest != "%" && rest != " %") || !(percent >= 0 && percent <= 100)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("invalid value '{}' for --parts: expected begin, middle, end, or 0% to 100%",
                    printable(text)));
  }
  return {text, percent / 100};
}

// Wraps a job that is measured on each part of near.
class JobOnParts final : public Job {
 public:
  JobOnParts(std::unique_ptr<Job> job, std::vector<std::string> parts)
      : job_(std::move(job)), parts_(std::move(parts)) {}

  JobRecord record() const override {
    JobRecord record = job_->record();
    record.axes.insert(record.axes.begin(), {std::string(kPartAxis), parts_});
    return record;
  }
  std::string set() const override { return job_->set(); }

  std::uint64_t points() const override { return job_->points() * parts_.size(); }
  Parameters parameters(std::uint64_t point) const override {
    Parameters parameters = job_->parameters(on_part(point));
    parameters.insert(parameters.begin(), {std::string(kPartAxis), parts_[part(point)]});
    return parameters;
  }
  JobOptions options(std::uint64_t point) const override { return job_->options(on_part(point)); }
  bool follows(std::uint64_t before, std::uint64_t point) const override {
    return part(before) == part(point) && job_->follows(on_part(before), on_part(point));
  }
  std::size_t part(std::uint64_t point) const override { return point / job_->points(); }

  std::vector<FileSystemKind> file_systems() const override { return job_->file_systems(); }
  std::optional<std::uint32_t> runs() const override { return job_->runs(); }
  VolumeCount volume_count() const override { return job_->volume_count(); }
  JobNeeds needs(std::span<const FileSystemKind> kinds, std::size_t volumes) const override {
    JobNeeds needs = job_->needs(kinds, volumes);
    needs.seconds *= static_cast<double>(parts_.size());
    return needs;
  }
  std::vector<AccessShape> shapes() const override { return job_->shapes(); }
  std::string_view room_advice() const override { return job_->room_advice(); }
  bool may_diverge() const override { return job_->may_diverge(); }
  std::optional<ReplayParameters> replay_parameters(std::uint64_t point) const override {
    return job_->replay_parameters(on_part(point));
  }
  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    return job_->fit(on_part(point), place);
  }

 private:
  std::uint64_t on_part(std::uint64_t point) const { return point % job_->points(); }

  std::unique_ptr<Job> job_;
  std::vector<std::string> parts_;
};

}  // namespace

std::vector<DrivePart> parse_drive_parts(std::span<const std::string> texts) {
  std::vector<DrivePart> parts;
  for (const std::string& text : texts) {
    DrivePart part = parse_part(text);
    const auto same = std::ranges::find(parts, part.place, &DrivePart::place);
    if (same != parts.end()) {
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
                  fmt::format("the sweep of {} over {} parts exceeds {} points or {} axes: "
                              "use fewer",
                              record.name, parts.size(), kMostPoints, kMostAxes));
    }
    if (std::ranges::find(record.axes, kPartAxis, &SweepAxis::name) != record.axes.end()) {
      throw Error(ErrorKind::usage, fmt::format("{} already sweeps a key '{}': omit --parts",
                                                record.name, kPartAxis));
    }
    job = std::make_unique<JobOnParts>(std::move(job), names);
  }
  plan.parts = std::move(parts);
}

}  // namespace filereel

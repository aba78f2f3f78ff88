// Jobs around another job: everything is as in the inner job, except what a wrapper changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/jobs/job.h"

namespace filereel {

// Forwards everything. All functions of Job are pure, so a new one that is not forwarded here does
// not compile.
class JobAround : public Job {
 public:
  explicit JobAround(std::unique_ptr<Job> inner) : inner_(std::move(inner)) {}

  JobRecord record() const override { return inner_->record(); }
  std::string set() const override { return inner_->set(); }
  WorkRecord work() const override { return inner_->work(); }
  std::string work_digest(std::uint64_t point) const override {
    return inner_->work_digest(of_inner(point));
  }
  std::uint64_t points() const override { return inner_->points(); }
  Parameters parameters(std::uint64_t point) const override {
    return inner_->parameters(of_inner(point));
  }
  JobOptions options(std::uint64_t point) const override {
    return inner_->options(of_inner(point));
  }
  bool follows(std::uint64_t before, std::uint64_t point) const override {
    return inner_->follows(of_inner(before), of_inner(point));
  }
  std::uint64_t turns() const override { return inner_->turns(); }
  std::uint32_t clients(std::uint64_t point) const override {
    return inner_->clients(of_inner(point));
  }
  std::size_t part(std::uint64_t point) const override { return inner_->part(of_inner(point)); }
  std::vector<FileSystemKind> file_systems() const override { return inner_->file_systems(); }
  std::optional<std::uint32_t> runs() const override { return inner_->runs(); }
  VolumeCount volume_count() const override { return inner_->volume_count(); }
  JobNeeds needs(const PlannedVolumes& volumes) const override { return inner_->needs(volumes); }
  void check(const PlannedVolumes& volumes) const override { inner_->check(volumes); }
  std::vector<AccessShape> shapes() const override { return inner_->shapes(); }
  std::string_view room_advice() const override { return inner_->room_advice(); }
  bool scales() const override { return inner_->scales(); }
  bool may_diverge() const override { return inner_->may_diverge(); }
  std::optional<ReplayParameters> replay_parameters(std::uint64_t point) const override {
    return inner_->replay_parameters(of_inner(point));
  }
  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    return inner_->fit(of_inner(point), place);
  }

 protected:
  const Job& inner() const { return *inner_; }
  // The point of the inner job.
  virtual std::uint64_t of_inner(std::uint64_t point) const { return point; }

 private:
  std::unique_ptr<Job> inner_;
};

// All points of the inner job for each value of one more axis, which comes first and varies
// slowest.
class JobAlongAxis : public JobAround {
 public:
  JobAlongAxis(std::unique_ptr<Job> inner, SweepAxis axis)
      : JobAround(std::move(inner)), axis_(std::move(axis)) {}

  JobRecord record() const override {
    JobRecord record = inner().record();
    record.axes.insert(record.axes.begin(), axis_);
    return record;
  }
  std::uint64_t points() const override { return axis_.values.size() * inner().points(); }
  Parameters parameters(std::uint64_t point) const override {
    Parameters list = JobAround::parameters(point);
    list.insert(list.begin(), {axis_.name, axis_.values[value(point)]});
    return list;
  }
  bool follows(std::uint64_t before, std::uint64_t point) const override {
    return value(before) == value(point) && JobAround::follows(before, point);
  }
  JobNeeds needs(const PlannedVolumes& volumes) const override {
    JobNeeds needs = inner().needs(volumes);
    for (double* const time : {&needs.seconds, &needs.waits_s, &needs.fill_s}) {
      *time *= static_cast<double>(axis_.values.size());
    }
    return needs;
  }

 protected:
  // The number of the point's value.
  std::size_t value(std::uint64_t point) const { return point / inner().points(); }
  std::uint64_t of_inner(std::uint64_t point) const override { return point % inner().points(); }

 private:
  SweepAxis axis_;
};

// The job under each of these conditions of the drive (JobParameter::condition), one after another,
// as an axis of its sweep that varies slowest. Throws SweepError for invalid values.
std::unique_ptr<Job> along_condition(std::unique_ptr<Job> job, const JobParameter& parameter,
                                     std::span<const std::string> values);

// --- Jobs of several clients: a number of them that varies, and a reel for each.

// The job with this number of clients; `swept`: with these, one after another, as an axis of its
// sweep, which varies slowest. Throws SweepError for invalid numbers.
std::unique_ptr<Job> with_clients(std::unique_ptr<Job> job, std::span<const std::string> counts,
                                  bool swept);

// One job in which client N replays the N-th of these recorded traces, and starts over after the
// last one. Throws Error(usage) for other kinds of jobs and for different sweeps.
std::unique_ptr<Job> reel_per_client(std::vector<std::unique_ptr<Job>> jobs);

}  // namespace filereel

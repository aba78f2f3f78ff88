#include "replay/jobs/job_wrappers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "replay/jobs/work_digest.h"

namespace filereel {
namespace {

constexpr const char* kAxis = "clients";

// One number of clients at all points.
class WithClients final : public JobAround {
 public:
  WithClients(std::unique_ptr<Job> inner, std::uint32_t count)
      : JobAround(std::move(inner)), count_(count) {}

  std::uint32_t clients(std::uint64_t) const override { return count_; }

 private:
  std::uint32_t count_;
};

// Numbers of clients as an axis.
class SweptClients final : public JobAlongAxis {
 public:
  SweptClients(std::unique_ptr<Job> inner, const std::vector<std::uint32_t>& counts)
      : JobAlongAxis(std::move(inner), axis_of(counts)), counts_(counts) {}

  std::uint32_t clients(std::uint64_t point) const override { return counts_[value(point)]; }

 private:
  static SweepAxis axis_of(const std::vector<std::uint32_t>& counts) {
    SweepAxis axis{kAxis, {}};
    for (const std::uint32_t count : counts) axis.values.push_back(std::to_string(count));
    return axis;
  }

  std::vector<std::uint32_t> counts_;
};

// A condition of the drive as an axis.
class SweptCondition final : public JobAlongAxis {
 public:
  SweptCondition(std::unique_ptr<Job> inner, const JobParameter& parameter, const SweepAxis& axis,
                 std::vector<std::string> values)
      : JobAlongAxis(std::move(inner), axis), parameter_(parameter), values_(std::move(values)) {}

  JobRecord record() const override {
    JobRecord record = JobAlongAxis::record();
    std::erase_if(record.settings, [&](const auto& one) { return one.first == parameter_.key; });
    return record;
  }
  JobOptions options(std::uint64_t point) const override {
    JobOptions options = JobAlongAxis::options(point);
    parameter_.set(options, {&values_[value(point)], 1});
    return options;
  }

 private:
  const JobParameter& parameter_;
  std::vector<std::string> values_;  // as written
};

// The first reel is the inner job.
class ReelPerClient final : public JobAround {
 public:
  explicit ReelPerClient(std::vector<std::unique_ptr<Job>> jobs)
      : JobAround(std::move(jobs.front())), others_(std::move(jobs)) {
    others_.erase(others_.begin());
  }

  JobRecord record() const override {
    JobRecord record = inner().record();
    for (const std::unique_ptr<Job>& job : others_) record.name += "+" + job->record().name;
    return record;
  }
  WorkRecord work() const override {
    WorkRecord work = inner().work();
    work.job = record().name;
    for (const std::unique_ptr<Job>& job : others_) work.add(job->work().does);
    return work;
  }
  std::string work_digest(std::uint64_t point) const override {
    std::string all = inner().work_digest(point);
    for (const std::unique_ptr<Job>& job : others_) all += job->work_digest(point);
    return digest_of(all);
  }
  JobNeeds needs(const PlannedVolumes& volumes) const override {
    JobNeeds needs = inner().needs(volumes);
    for (const std::unique_ptr<Job>& job : others_) {
      const JobNeeds job_needs = job->needs(volumes);
      if (job_needs.seconds > needs.seconds) {
        needs.seconds = job_needs.seconds;
        needs.waits_s = job_needs.waits_s;
      }
      needs.fill_s += job_needs.fill_s;
      for (std::size_t i = 0; i < kRoles; ++i) {
        if (needs.volumes[i].least < job_needs.volumes[i].least)
          needs.volumes[i] = job_needs.volumes[i];
      }
    }
    return needs;
  }
  void check(const PlannedVolumes& volumes) const override {
    inner().check(volumes);
    for (const std::unique_ptr<Job>& job : others_) job->check(volumes);
  }
  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    const std::size_t number = place.client.client % (others_.size() + 1);
    return number == 0 ? inner().fit(point, place) : others_[number - 1]->fit(point, place);
  }

 private:
  std::vector<std::unique_ptr<Job>> others_;
};

// Throws SweepError if a sweep of the job over `more` values has too many points or axes.
void check_sweep(const Job& job, std::size_t more, bool is_axis, const std::string& key,
                 const std::string& what) {
  const JobRecord record = job.record();
  if (job.points() <= kMostPoints / more && record.axes.size() + is_axis <= kMostAxes) return;
  throw SweepError(SweepError::Fault::values, key,
                   fmt::format("the sweep of {} over {} exceeds {} points or {} axes: use fewer",
                               printable(record.name), what, kMostPoints, kMostAxes));
}

[[noreturn]] void refuse_counts(const std::string& text) {
  throw SweepError(SweepError::Fault::values, kAxis, text);
}

std::uint32_t client_count(const std::string& text) {
  if (const auto count = parse_number_in<std::uint32_t>(text, 1, UINT32_MAX)) return *count;
  refuse_counts(fmt::format("clients={}: must be a number from 1", printable(text)));
}

}  // namespace

std::unique_ptr<Job> with_clients(std::unique_ptr<Job> job, std::span<const std::string> counts,
                                  bool swept) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& text : counts) {
    numbers.push_back(client_count(text));
    if (std::ranges::count(numbers, numbers.back()) == 1) continue;
    refuse_counts(fmt::format("clients={}: occurs twice", numbers.back()));
  }
  check_sweep(*job, numbers.size(), swept, kAxis,
              counted(numbers.size(), "number") + " of clients");
  if (!swept) return std::make_unique<WithClients>(std::move(job), numbers.front());
  return std::make_unique<SweptClients>(std::move(job), numbers);
}

std::unique_ptr<Job> along_condition(std::unique_ptr<Job> job, const JobParameter& parameter,
                                     std::span<const std::string> values) {
  const std::string key(parameter.key);
  SweepAxis axis{key, {}};
  for (const std::string& value : values) {
    JobOptions options;
    try {
      parameter.set(options, {&value, 1});
    } catch (const Error& error) {
      throw SweepError(SweepError::Fault::values, key,
                       fmt::format("{}={}: {}", key, printable(value), error.what()));
    }
    axis.values.push_back(condition_value(options.condition, key));
    if (std::ranges::count(axis.values, axis.values.back()) == 1) continue;
    throw SweepError(SweepError::Fault::values, key,
                     fmt::format("{}={}: occurs twice", key, printable(value)));
  }
  check_sweep(*job, values.size(), true, key, counted(values.size(), "value") + " of " + key);
  return std::make_unique<SweptCondition>(std::move(job), parameter, axis,
                                          std::vector<std::string>(values.begin(), values.end()));
}

std::unique_ptr<Job> reel_per_client(std::vector<std::unique_ptr<Job>> jobs) {
  for (const std::unique_ptr<Job>& job : jobs) {
    if (job->record().kind != JobKind::trace) {
      throw Error(ErrorKind::usage,
                  fmt::format("--reel-per-client does not apply to {}: it distributes recorded "
                              "traces",
                              printable(job->record().name)));
    }
    if (job->record().axes == jobs.front()->record().axes) continue;
    throw Error(ErrorKind::usage, "--reel-per-client needs the same sweep for all reels");
  }
  return jobs.size() == 1 ? std::move(jobs.front())
                          : std::make_unique<ReelPerClient>(std::move(jobs));
}

}  // namespace filereel

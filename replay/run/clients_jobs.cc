#include "replay/run/clients_jobs.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

// Everything as in another job.
class JobAround : public Job {
 public:
  explicit JobAround(std::unique_ptr<Job> inner) : inner_(std::move(inner)) {}

  JobRecord record() const override { return inner_->record(); }
  std::string set() const override { return inner_->set(); }
  std::uint64_t points() const override { return inner_->points(); }
  Parameters parameters(std::uint64_t point) const override { return inner_->parameters(point); }
  JobOptions options(std::uint64_t point) const override { return inner_->options(point); }
  bool follows(std::uint64_t before, std::uint64_t point) const override {
    return inner_->follows(before, point);
  }
  bool takes_turns() const override { return inner_->takes_turns(); }
  std::uint32_t clients(std::uint64_t point) const override { return inner_->clients(point); }
  std::size_t part(std::uint64_t point) const override { return inner_->part(point); }
  std::vector<FileSystemKind> file_systems() const override { return inner_->file_systems(); }
  std::optional<std::uint32_t> runs() const override { return inner_->runs(); }
  VolumeCount volume_count() const override { return inner_->volume_count(); }
  JobNeeds needs(std::span<const FileSystemKind> kinds, std::size_t volumes) const override {
    return inner_->needs(kinds, volumes);
  }
  std::vector<AccessShape> shapes() const override { return inner_->shapes(); }
  std::string_view room_advice() const override { return inner_->room_advice(); }
  bool scales() const override { return inner_->scales(); }
  bool may_diverge() const override { return inner_->may_diverge(); }
  std::optional<ReplayParameters> replay_parameters(std::uint64_t point) const override {
    return inner_->replay_parameters(point);
  }
  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    return inner_->fit(point, place);
  }

 protected:
  const Job& inner() const { return *inner_; }

 private:
  std::unique_ptr<Job> inner_;
};

constexpr const char* kAxis = "clients";

// The points of the inner job for each number of clients.
class WithClients final : public JobAround {
 public:
  WithClients(std::unique_ptr<Job> inner, std::vector<std::uint32_t> counts, bool swept)
      : JobAround(std::move(inner)), counts_(std::move(counts)), swept_(swept) {}

  JobRecord record() const override {
    JobRecord record = inner().record();
    if (!swept_) return record;
    SweepAxis axis{kAxis, {}};
    for (const std::uint32_t count : counts_) axis.values.push_back(std::to_string(count));
    record.axes.insert(record.axes.begin(), std::move(axis));
    return record;
  }
  std::uint64_t points() const override { return counts_.size() * inner().points(); }
  Parameters parameters(std::uint64_t point) const override {
    Parameters list = inner().parameters(of_inner(point));
    if (swept_) list.insert(list.begin(), {kAxis, std::to_string(clients(point))});
    return list;
  }
  JobOptions options(std::uint64_t point) const override {
    return inner().options(of_inner(point));
  }
  bool follows(std::uint64_t before, std::uint64_t point) const override {
    return clients(before) == clients(point) && inner().follows(of_inner(before), of_inner(point));
  }
  std::uint32_t clients(std::uint64_t point) const override {
    return counts_[point / inner().points()];
  }
  JobNeeds needs(std::span<const FileSystemKind> kinds, std::size_t volumes) const override {
    JobNeeds needs = inner().needs(kinds, volumes);
    needs.seconds *= static_cast<double>(counts_.size());
    return needs;
  }
  std::optional<ReplayParameters> replay_parameters(std::uint64_t point) const override {
    return inner().replay_parameters(of_inner(point));
  }
  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    return inner().fit(of_inner(point), place);
  }

 private:
  std::uint64_t of_inner(std::uint64_t point) const { return point % inner().points(); }

  std::vector<std::uint32_t> counts_;
  bool swept_;
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
  JobNeeds needs(std::span<const FileSystemKind> kinds, std::size_t volumes) const override {
    JobNeeds needs = inner().needs(kinds, volumes);
    for (const std::unique_ptr<Job>& job : others_) {
      const JobNeeds one = job->needs(kinds, volumes);
      needs.seconds = std::max(needs.seconds, one.seconds);
      for (std::size_t i = 0; i < kRoles; ++i) {
        if (needs.volumes[i].least < one.volumes[i].least) needs.volumes[i] = one.volumes[i];
      }
    }
    return needs;
  }
  std::unique_ptr<FittedJob> fit(std::uint64_t point, const FittingPlace& place) const override {
    const std::size_t number = place.client.client % (others_.size() + 1);
    return number == 0 ? inner().fit(point, place) : others_[number - 1]->fit(point, place);
  }

 private:
  std::vector<std::unique_ptr<Job>> others_;
};

std::uint32_t parse_count(const std::string& text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && stop == end && count > 0) return count;
  throw Error(ErrorKind::usage,
              fmt::format("clients={}: must be a number from 1", printable(text)));
}

}  // namespace

std::unique_ptr<Job> with_clients(std::unique_ptr<Job> job, std::span<const std::string> counts,
                                  bool swept) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& text : counts) {
    numbers.push_back(parse_count(text));
    if (std::ranges::count(numbers, numbers.back()) == 1) continue;
    throw Error(ErrorKind::usage, fmt::format("clients={}: occurs twice", numbers.back()));
  }
  const JobRecord record = job->record();
  if (job->points() > kMostPoints / numbers.size() || record.axes.size() + swept > kMostAxes) {
    throw Error(ErrorKind::usage,
                fmt::format("the sweep of {} over {} numbers of clients exceeds {} points or {} "
                            "axes: use fewer",
                            printable(record.name), numbers.size(), kMostPoints, kMostAxes));
  }
  return std::make_unique<WithClients>(std::move(job), std::move(numbers), swept);
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

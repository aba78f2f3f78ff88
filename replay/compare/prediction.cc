#include "replay/compare/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/random.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/compare/sessions.h"
#include "replay/statistics/significance.h"
#include "replay/statistics/summary.h"
#include "traces/reel/reel_summary.h"

namespace filereel {
namespace {

constexpr std::array kSyncs = {OperationKind::sync, OperationKind::sync_data};

struct SyncedFile {
  std::uint64_t syncs = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> times = {};  // begin and end, ns
  std::set<std::uint32_t> threads = {};
  std::uint32_t last = 0;     // thread
  std::uint64_t changes = 0;  // syncs by another thread than the one before
};

constexpr double kSecond = 1e9;  // in nanoseconds

// The time in which at least one is in progress. Sorts them.
double covered_s(std::vector<std::pair<std::uint64_t, std::uint64_t>>& times) {
  std::ranges::sort(times);
  std::uint64_t covered = 0, until = 0;
  for (const auto& [begin, end] : times) {
    if (end <= until) continue;
    covered += end - std::max(begin, until);
    until = end;
  }
  return static_cast<double>(covered) / kSecond;
}

}  // namespace

std::optional<GroupedCommits> grouped_commits(RecordedSource& source, double recorded_s) {
  // A background thread of the server makes a few: only clients that take turns can share a sync.
  constexpr std::uint64_t kLeastChanges = 2, kOneIn = 20;
  std::unordered_map<FileId, SyncedFile> files;
  GroupedCommits all{.recorded_s = recorded_s};
  std::vector<RecordedOperation> block(4096);
  while (const std::size_t count = source.next(block)) {
    for (const auto& [operation, start_ns, duration_ns, data] : std::span(block).first(count)) {
      if (is_sync(operation)) ++all.all_syncs;
      if (!contains(kSyncs, operation.kind)) continue;
      if (operation.entry == kNoFileId) continue;
      SyncedFile& file = files[operation.entry];
      if (file.syncs > 0 && file.last != operation.thread) ++file.changes;
      ++file.syncs;
      file.times.emplace_back(start_ns, start_ns + duration_ns);
      file.last = operation.thread;
      file.threads.insert(operation.thread);
    }
  }
  double seconds = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> times;
  for (const auto& [id, file] : files) {
    if (file.changes < kLeastChanges || kOneIn * file.changes < file.syncs) continue;
    all.syncs += file.syncs;
    for (const auto& [begin, end] : file.times) seconds += static_cast<double>(end - begin);
    times.insert(times.end(), file.times.begin(), file.times.end());
    all.threads = std::max(all.threads, static_cast<std::uint32_t>(file.threads.size()));
  }
  if (all.syncs == 0) return std::nullopt;
  all.in_progress_s = covered_s(times);
  all.sync_s = seconds / kSecond / static_cast<double>(all.syncs);
  return all;
}

double most_saved(const GroupedCommits& commits, const Sample& sample) {
  double seconds = 0, count = 0;
  for (const OperationKind kind : kSyncs) {
    const auto found = sample.latency.find(std::string(operation_info(kind).name));
    if (found == sample.latency.end()) continue;
    seconds += found->second.total_us * 1e-6;
    count += static_cast<double>(found->second.count);
  }
  if (count == 0 || !(sample.elapsed_s > 0)) return 0;
  const double each = seconds / count, number = static_cast<double>(commits.syncs);
  double group = commits.threads;
  if (commits.sync_s > 0) group = std::min(group, each / commits.sync_s);
  if (commits.recorded_s > 0) group = std::min(group, 1 + number * each / commits.recorded_s);
  if (group <= 1) return 0;
  double at_a_time = 1;  // that are in progress
  if (commits.in_progress_s > 0) {
    at_a_time = std::max(at_a_time, number * commits.sync_s / commits.in_progress_s);
  }
  const double share = std::min(1.0, number * each / at_a_time / sample.elapsed_s);
  const double most = std::max(0.0, 1 - commits.recorded_s / sample.elapsed_s);
  return std::min(share * (1 - 1 / group), most);
}

std::string grouped_commits_text(const GroupedCommits& commits, double lowered) {
  constexpr double kWorthTelling = 0.005;
  if (lowered < kWorthTelling) return "";
  return fmt::format(
      "{:.0f} % of the syncs are commits that a server can combine on a slow disk, which a replay "
      "does not do: intervals start up to {:.0f} % lower to allow for it",
      static_cast<double>(commits.syncs) / static_cast<double>(commits.all_syncs) * 100,
      lowered * 100);
}

namespace {

constexpr double kDeviations = 1.96;  // standard errors on either side of a 95 % interval
constexpr double kLevel = 0.05;       // of all comparisons together

// A time, and its standard error on the logarithmic scale.
struct ReplayedTime {
  PredictedTime time;
  double spread = 0;
};

ReplayedTime replayed(std::span<const ReplayedVolume> volumes, std::size_t number) {
  const ReplayedVolume& volume = volumes[number];
  ReplayedTime one{.time = {.volume = number}};
  if (!volume.seconds.empty()) one.time.median_s = median(volume.seconds);
  const std::optional<Interval> interval = median_interval(volume.seconds);
  one.time.reason = volume.obstacle;
  if (!interval && one.time.reason.empty()) {
    one.time.reason =
        fmt::format("{} of the {} repetitions needed {} complete", volume.seconds.size(),
                    kLeastForInterval, agreeing(volume.seconds.size(), "is", "are"));
    if (volume.stopped > 0) {
      one.time.reason +=
          fmt::format(": filereel was stopped or frozen, or the machine suspended, during {}",
                      counted(volume.stopped, "repetition"));
    }
  }
  if (!one.time.reason.empty()) return one;
  one.time.rank = 1;
  one.spread = std::log(interval->high / interval->low) / (2 * kDeviations);
  return one;
}

// The logarithms of the ratios of the replays of each turn; empty without turns, as between the
// file systems of one volume.
std::vector<double> turns_of(const ReplayedVolume& replayed, const ReplayedVolume& other) {
  std::vector<double> ratios;
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < replayed.runs.size(); ++i) {
    const auto found = std::ranges::find(other.runs, replayed.runs[i]);
    if (found == other.runs.end()) continue;
    const auto at = static_cast<std::size_t>(found - other.runs.begin());
    ratios.push_back(std::log(replayed.seconds[i] / other.seconds[at]));
    turns.push_back({"", replayed.begins_s[i], other.begins_s[at]});
  }
  return alternate(turns) ? ratios : std::vector<double>();
}

// The errors of a ratio apart from the repetitions'.
struct RatioErrors {
  double accuracy = 0, sessions = 0;
};

// The difference of two volumes on the logarithmic scale, as far as it counts, and the variances of
// its errors: that of the repetitions shrinks with their number, the rest does not.
struct TimeDifference {
  double size = 0;
  double runs = 0;  // repetitions
  double of_runs = 0, fixed = 0;
  bool first_slower = false;

  // The probability of a difference at least as large between two volumes of the same speed.
  double two_sided() const {
    const double error = std::sqrt(of_runs + fixed);
    if (error == 0) return size == 0 ? 1 : 0;
    return 2 * normal_tail(size / error);
  }

  // How many repetitions make it significant at the level; nothing if that is not worth it.
  std::optional<std::uint32_t> deciding_runs(double level) const {
    const double quantile = normal_quantile(1 - level / 2);
    const double left = size * size / (quantile * quantile) - fixed;
    if (left <= 0) return std::nullopt;
    const double wanted = std::ceil(runs * of_runs / left);
    if (wanted > kMostAdvisedRuns) return std::nullopt;
    return static_cast<std::uint32_t>(wanted);
  }
};

TimeDifference difference_of(const ReplayedTime& replayed, const ReplayedTime& other,
                             std::span<const ReplayedVolume> volumes, const RatioErrors& errors) {
  const ReplayedVolume &first = volumes[replayed.time.volume], &second = volumes[other.time.volume];
  const std::vector<double> turns = turns_of(first, second);
  double ratio = std::log(replayed.time.median_s / other.time.median_s);
  TimeDifference found{.fixed = errors.accuracy * errors.accuracy};
  if (turns.size() < kLeastForInterval) {
    found.runs = static_cast<double>(std::min(first.seconds.size(), second.seconds.size()));
    found.of_runs = replayed.spread * replayed.spread + other.spread * other.spread;
    found.fixed += 2 * errors.sessions * errors.sessions;
  } else {
    ratio = mean(turns);
    found.runs = static_cast<double>(turns.size());
    found.of_runs = variance(turns) / found.runs;
  }
  const double saved = -std::log1p(-(ratio > 0 ? first : second).most_saved);  // by the slower one
  found.size = std::max(0.0, std::abs(ratio) - saved);
  found.first_slower = ratio > 0;
  return found;
}

void rank(std::span<ReplayedTime> times, std::span<const ReplayedVolume> volumes,
          const RatioErrors& errors) {
  std::vector<std::pair<ReplayedTime*, ReplayedTime*>> pairs;  // the faster one first
  std::vector<double> p;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t j = i + 1; j < times.size(); ++j) {
      if (times[i].time.rank == 0 || times[j].time.rank == 0) continue;
      const TimeDifference found = difference_of(times[i], times[j], volumes, errors);
      pairs.emplace_back(&times[found.first_slower ? j : i], &times[found.first_slower ? i : j]);
      p.push_back(found.two_sided());
    }
  }
  const std::vector<double> adjusted = holm_adjusted(p, std::vector<double>(p.size(), 1));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (adjusted[i] > kLevel) continue;
    PredictedTime& slower = pairs[i].second->time;
    slower.faster.push_back(pairs[i].first->time.volume);
    ++slower.rank;
  }
}

// Of the two fastest of `times`, if neither is shown to be faster, and a number may decide.
std::optional<std::uint32_t> deciding_runs(std::span<const ReplayedTime> times,
                                           std::span<const ReplayedVolume> volumes,
                                           const RatioErrors& errors) {
  std::vector<const ReplayedTime*> ranked;
  for (const ReplayedTime& replayed_time : times) {
    if (replayed_time.time.rank > 0) ranked.push_back(&replayed_time);
  }
  if (ranked.size() < 2) return std::nullopt;
  std::ranges::sort(ranked, {}, [](const ReplayedTime* replayed) {
    return std::tuple(replayed->time.rank, replayed->time.median_s);
  });
  const ReplayedTime &first = *ranked[0], &second = *ranked[1];
  if (contains(second.time.faster, first.time.volume)) return std::nullopt;
  const std::size_t pairs = ranked.size() * (ranked.size() - 1) / 2;
  return difference_of(first, second, volumes, errors)
      .deciding_runs(kLevel / static_cast<double>(pairs));
}

}  // namespace

std::uint32_t last_rank(const PredictedTime& predicted, const Prediction& prediction) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(prediction.times, [&](const PredictedTime& other) {
        return other.rank > 0 && !contains(other.faster, predicted.volume);
      }));
}

Prediction predict_times(std::span<const ReplayedVolume> volumes,
                         const std::optional<ReplayAccuracy>& accuracy, double sessions) {
  std::vector<ReplayedTime> times;
  for (std::size_t i = 0; i < volumes.size(); ++i) times.push_back(replayed(volumes, i));
  const RatioErrors errors{accuracy ? accuracy->between : 0, sessions};
  rank(times, volumes, errors);
  Prediction prediction{.accuracy = accuracy,
                        .times = {},
                        .sessions = sessions,
                        .deciding_runs = deciding_runs(times, volumes, errors)};
  for (ReplayedTime& replayed_time : times) {
    if (replayed_time.time.rank > 0) {
      const double width =
          std::exp(kDeviations *
                   std::hypot(replayed_time.spread, accuracy ? accuracy->single : 0, sessions));
      const ReplayedVolume& volume = volumes[replayed_time.time.volume];
      const double low = replayed_time.time.median_s / width;
      const double saved = std::max(low * (1 - volume.most_saved), volume.saved_to_s);
      replayed_time.time.interval = {std::min(low, saved), replayed_time.time.median_s * width};
      replayed_time.time.lowered = 1 - replayed_time.time.interval->low / low;
    }
    prediction.times.push_back(std::move(replayed_time.time));
  }
  std::ranges::stable_sort(prediction.times, {}, [](const PredictedTime& predicted) {
    return std::tuple(predicted.rank == 0, predicted.rank, predicted.median_s);
  });
  return prediction;
}

}  // namespace filereel

#include "replay/compare/grouped_commits.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/search.h"
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

}  // namespace filereel

#include "replay/compare/grouped_commits.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "traces/reel/reel_summary.h"

namespace filereel {
namespace {

constexpr std::array kSyncs = {OperationKind::sync, OperationKind::sync_data};

struct SyncedFile {
  std::uint64_t syncs = 0;
  double seconds = 0;
  std::set<std::uint32_t> threads = {};
  std::uint32_t last = 0;     // thread
  std::uint64_t changes = 0;  // syncs by another thread than the one before
};

}  // namespace

std::optional<GroupedCommits> grouped_commits(RecordedSource& source, double recorded_s) {
  constexpr std::uint64_t kLeastChanges = 2;  // one is a file that is handed over
  std::unordered_map<FileId, SyncedFile> files;
  GroupedCommits all{.recorded_s = recorded_s};
  std::vector<RecordedOperation> block(4096);
  while (const std::size_t count = source.next(block)) {
    for (const auto& [operation, start_ns, duration_ns, data] : std::span(block).first(count)) {
      if (is_sync(operation.kind)) ++all.all_syncs;
      if (std::ranges::find(kSyncs, operation.kind) == kSyncs.end()) continue;
      if (operation.entry == kNoFileId) continue;
      SyncedFile& file = files[operation.entry];
      if (file.syncs > 0 && file.last != operation.thread) ++file.changes;
      ++file.syncs;
      file.seconds += static_cast<double>(duration_ns) * 1e-9;
      file.last = operation.thread;
      file.threads.insert(operation.thread);
    }
  }
  double seconds = 0;
  for (const auto& [id, file] : files) {
    if (file.changes < kLeastChanges) continue;
    all.syncs += file.syncs;
    seconds += file.seconds;
    all.threads = std::max(all.threads, static_cast<std::uint32_t>(file.threads.size()));
  }
  if (all.syncs == 0) return std::nullopt;
  all.sync_s = seconds / static_cast<double>(all.syncs);
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
  return std::min(1.0, number * each / sample.elapsed_s) * (1 - 1 / group);
}

std::string grouped_commits_text(const GroupedCommits& commits, double most) {
  return fmt::format(
      "{:.0f} % of the syncs are commits that a server can combine on a slow disk{}",
      static_cast<double>(commits.syncs) / static_cast<double>(commits.all_syncs) * 100,
      most > 0 ? fmt::format(". The program may be faster than shown there; the lower ends of the "
                             "intervals allow for it (up to {:.0f} %)",
                             most * 100)
               : "; here they are as fast as in the recording, so that saves nothing");
}

}  // namespace filereel

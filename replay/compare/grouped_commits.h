// Syncs of one file by several threads: the mark of a server that groups its commits.
//
// Such a server makes one sync for all transactions that have committed since the last one. On a
// slow disk more of them wait, so it makes fewer syncs than it did where it was recorded. A replay
// makes the recorded ones. What this can save is bounded:
// - A group has at most one commit of each thread.
// - It grows in proportion to the duration of a sync, compared with the recorded one.
// - During a sync, no more commits arrive than the recorded rate of syncs allows.
// - Only the time in which such syncs are in progress shrinks. Threads sync at the same time, so
//   this is less than the sum of their syncs: at least as many are in progress at a time as there
//   were in the recording, where they ended sooner.
// - It saves nothing where it takes as long as in the recording, whose syncs were faster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replay/results/result.h"
#include "traces/recorded_operation.h"

namespace filereel {

struct GroupedCommits {
  std::uint64_t syncs = 0;      // of files that several threads sync in turn
  std::uint64_t all_syncs = 0;  // all that make something durable (is_sync), of all files
  std::uint32_t threads = 0;    // the most that sync one of these files
  double sync_s = 0;            // recorded mean duration of `syncs`
  double in_progress_s = 0;     // recorded time in which some of them were in progress
  double recorded_s = 0;        // time of the recording
};

// Nothing if no file has such syncs. Reads the whole trace.
std::optional<GroupedCommits> grouped_commits(RecordedSource& source, double recorded_s);

// The largest share of the time of a replay that the program can save by larger groups, below 1.
double most_saved(const GroupedCommits& commits, const Sample& sample);

// What that means, as a sentence without the final full stop; "" if it does not matter. `lowered`:
// the largest share of all volumes by which it lowers the begin of an interval.
std::string grouped_commits_text(const GroupedCommits& commits, double lowered);

}  // namespace filereel

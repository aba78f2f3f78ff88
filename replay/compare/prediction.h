// Predicts the run time of a recorded program on several volumes from replays at pace `think`.
//
// The method works on the logarithms of times, so errors are factors:
// - The repetitions have a spread. The 95 % interval of their median (summary.h) is taken as
//   1.96 standard errors on either side.
// - A replay is not the program. The standard error of its time as a prediction of the program's
//   time is ReplayAccuracy::single, independent of the spread.
// - The machine differs from session to session (assumed_spread), a busy one by more, and so does
//   the program's time.
// - The interval of a time is its median times and divided by
//   exp(1.96 × sqrt(spread² + single² + sessions²)).
// - The ratio of two volumes that took turns has the standard error sqrt(pairs² + between²), where
//   `pairs` is that of the mean logarithm of the ratios of the two replays of each turn, and an
//   error of a reel that is the same on all volumes would cancel. Of two that were measured one
//   after the other, such as two file systems of one volume, it is sqrt(spread1² + spread2² +
//   between² + 2 sessions²). A volume is shown to be slower than another if the two-sided p of the
//   normal distribution, corrected for all pairs (significance.h), is at most 5 %.
// - What grouped commits may save lowers the begin of an interval, but not
//   below the recorded time, and the time of the slower one of two volumes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"
#include "replay/statistics/summary.h"
#include "traces/recorded_trace.h"

namespace filereel {

// --- Syncs of one file by several threads: the mark of a server that groups its commits.
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

// The accuracy of replays at pace think of reels with the waits of threads: the root mean square of
// ln(time of the replay / time of the program).
struct ReplayAccuracy {
  double single = 0;   // of a time on any volume
  double between = 0;  // of the ratio of the times on two volumes
};
// Measured with programs of several kinds on several file systems: docs/replay-accuracy.md.
inline constexpr ReplayAccuracy kReplayAccuracy = {.single = 0.08, .between = 0.10};

struct ReplayedVolume {
  std::string name;
  std::string file_system;
  std::vector<double> seconds = {};  // of complete repetitions, above 0
  // The numbers of these repetitions, ascending, and when they began, in seconds of one clock.
  std::vector<std::uint32_t> runs = {};
  std::vector<double> begins_s = {};
  std::size_t stopped = 0;    // repetitions during which filereel was stopped, or the machine
  std::string obstacle = {};  // why the replays predict nothing; "" if they do
  double most_saved = 0;      // share of the time that grouped commits may save
  double saved_to_s = 0;      // no such savings below this time
};

struct PredictedTime {
  std::size_t volume = 0;                 // index
  double median_s = 0;                    // of the repetitions; 0 without any
  std::optional<Interval> interval = {};  // 95 %; only with a rank
  double lowered = 0;                     // share by which grouped commits lower its begin
  std::uint32_t rank = 0;                 // 1 + the number of `faster`; 0: `reason` says why
  std::vector<std::size_t> faster = {};   // volumes shown to be faster
  std::string reason = {};
};

struct Prediction {
  std::optional<ReplayAccuracy> accuracy;  // nothing: only the spread and that of sessions count
  std::vector<PredictedTime> times;        // by rank, then by median; those without a rank last
  double sessions = 0;                     // see predict_times
  // The share of the CPU time that others took during the replays; nothing if unknown.
  std::optional<double> busy = {};
  // If the two fastest volumes are not shown to differ: the number of repetitions with which their
  // present difference would be significant; nothing if that is not worth it.
  std::optional<std::uint32_t> deciding_runs = {};
};

// The last rank that a volume may have: all ranked ones that are not shown to be slower may be
// faster.
std::uint32_t last_rank(const PredictedTime& predicted, const Prediction& prediction);

// `sessions`: the standard deviation of the logarithms of what sessions differ by.
Prediction predict_times(std::span<const ReplayedVolume> volumes,
                         const std::optional<ReplayAccuracy>& accuracy, double sessions);

}  // namespace filereel

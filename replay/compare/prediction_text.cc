#include "replay/compare/prediction_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/compare/ranking.h"
#include "replay/results/checks.h"
#include "replay/results/failures.h"
#include "replay/results/latency.h"
#include "replay/statistics/significance.h"
#include "traces/operation.h"

namespace filereel {
namespace {

// Seconds of all threads in the calls of each kind, of all samples that did not fail.
std::map<std::string, double> seconds_by_kind(const Measurement& measurement, double& elapsed_s) {
  std::map<std::string, double> seconds;
  for (const Sample& sample : measurement.samples) {
    if (has_failed(sample)) continue;
    elapsed_s += sample.elapsed_s;
    for (const auto& [kind, latency] : sample.latency) {
      OperationKind known{};
      if (!find_operation_kind(kind, known) || !operation_info(known).is_call) continue;
      seconds[kind] += latency.total_us * 1e-6;
    }
  }
  return seconds;
}

std::string limit_text(const Measurement& measurement, std::uint64_t threads) {
  double elapsed_s = 0, in_calls = 0;
  std::pair<std::string, double> largest;
  for (const auto& [kind, seconds] : seconds_by_kind(measurement, elapsed_s)) {
    in_calls += seconds;
    if (seconds > largest.second) largest = {kind, seconds};
  }
  if (!(elapsed_s > 0) || in_calls == 0) return "";
  const double share = in_calls / elapsed_s;
  const std::string most =
      fmt::format("mostly {} ({:.0f} %)", largest.first, largest.second / in_calls * 100);
  // Requests of one thread can be in flight together, too.
  if (threads != 1 || share > 1) {
    const std::string none =
        share < 1
            ? fmt::format("; none for at least {:.0f} % of the time, which no storage shortens",
                          (1 - share) * 100)
            : "";
    return fmt::format("{} file operations in progress on average, {}{}", format_number(share),
                       most, none);
  }
  return fmt::format(
      "file operations {:.0f} % of the time, {}; the program itself and its pauses {:.0f} %",
      share * 100, most, (1 - share) * 100);
}

}  // namespace

std::string volume_name(const Result& result, const Measurement& measurement) {
  for (const VolumeDescription& volume : result.volumes) {
    if (volume.file_system == measurement.file_system) return volume.target;
  }
  return result.label;
}

std::vector<TimeLimit> time_limits(const StoredPrediction& stored) {
  std::vector<TimeLimit> limits;
  for (const Result& result : stored.results) {
    for (const Measurement& measurement : result.measurements) {
      std::string text = limit_text(measurement, stored.program.threads);
      if (text.empty()) continue;
      limits.push_back(
          {volume_name(result, measurement), measurement.file_system, std::move(text)});
    }
  }
  const std::vector<PredictedTime>& times = stored.prediction.times;
  std::ranges::stable_sort(limits, {}, [&](const TimeLimit& limit) {
    return std::ranges::find_if(times,
                                [&](const PredictedTime& predicted) {
                                  const ReplayedVolume& volume = stored.volumes[predicted.volume];
                                  return volume.name == limit.volume &&
                                         volume.file_system == limit.file_system;
                                }) -
           times.begin();
  });
  return limits;
}

namespace {

constexpr std::size_t kLongestCommand = 60;
constexpr std::string_view kUncertain = "In replays of unknown accuracy: ";

using Times = std::vector<const PredictedTime*>;

Times ranked(const Prediction& prediction) {
  Times list;
  for (const PredictedTime& predicted : prediction.times) {
    if (predicted.rank > 0) list.push_back(&predicted);
  }
  return list;
}

// Those with the same rank as the one at `first`.
Times equals(const Times& times, std::size_t first) {
  Times list;
  for (std::size_t i = first; i < times.size() && times[i]->rank == times[first]->rank; ++i) {
    list.push_back(times[i]);
  }
  return list;
}

// "a", "a and b", "a, b and c".
std::string names_of(const Times& times, std::span<const ReplayedVolume> volumes) {
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0) text += i + 1 == times.size() ? " and " : ", ";
    text += volume_text(volumes[times[i]->volume]);
  }
  return text;
}

// Whether none of them is shown to be faster than another.
bool indistinct(const Times& times) {
  return std::ranges::none_of(times, [&](const PredictedTime* predicted) {
    return std::ranges::any_of(times, [&](const PredictedTime* other) {
      return contains(predicted->faster, other->volume);
    });
  });
}

// What would tell the two fastest apart.
std::string deciding_text(const std::optional<std::uint32_t>& runs) {
  return runs ? fmt::format("About {} (--runs) may decide between the two fastest.",
                            counted(*runs, "run"))
              : fmt::format("Up to {} would not decide between the two fastest.",
                            counted(kMostAdvisedRuns, "run"));
}

// Whether others used so much of the CPUs that the intervals are wide for it.
bool was_busy(const Prediction& prediction) {
  return prediction.busy.value_or(0) > kMuchOtherCpu;
}

std::string busy_text(const Prediction& prediction) {
  if (!was_busy(prediction)) return "";
  return fmt::format(" Measured on a busy machine: other programs took {:.0f} % of the CPU time.",
                     *prediction.busy * 100);
}

// How the repetitions on several volumes followed each other: ", in turns".
std::string order_of(std::span<const ReplayedVolume> volumes) {
  std::set<std::string> names;
  for (const ReplayedVolume& volume : volumes) names.insert(volume.name);
  const bool in_sequence = names.size() < volumes.size();  // file systems of one volume
  return fmt::format("{}{}", names.size() > 1 ? ", in turns" : "",
                     in_sequence ? ", the file systems one after the other" : "");
}

// ", from cold caches"; "" if unknown.
std::string_view caches_of(const StoredPrediction& stored) {
  if (stored.results.empty() || stored.results.front().plan.jobs.empty()) return "";
  const bool any_warm = std::ranges::any_of(stored.results, [](const Result& result) {
    return !roles_in_memory(result.volumes).empty() ||
           contains(result.warnings, "not-cold", &Warning::code);
  });
  if (any_warm) return "";
  return stored.results.front().plan.jobs.front().warm ? ", with warm caches"
                                                       : ", from cold caches";
}

// What the replays do not repeat; "" for nothing.
std::string refusals_text(const StoredPrediction& stored) {
  for (const Result& result : stored.results) {
    for (const Measurement& measurement : result.measurements) {
      const Differences all = differences_of(measurement);
      if (all.refused == 0) continue;
      std::vector<std::string> what;
      for (const auto& [name, count] : all.refusals) what.push_back(printable(name));
      return fmt::format(
          "a replay leaves out {} of the program{}, whose time is missing from the prediction{}",
          counted(all.refused / all.runs, "operation"),
          what.empty() ? "" : fmt::format(" ({})", fmt::join(what, ", ")),
          all.refusals.contains("owners") ? "; --owners changes owners, as root" : "");
    }
  }
  return "";
}

// What grouped commits can save; "" if the trace has none, or no replay has a time.
std::string savings_text(const StoredPrediction& stored) {
  const bool replayed = std::ranges::any_of(
      stored.volumes, [](const ReplayedVolume& one) { return !one.seconds.empty(); });
  if (!stored.program.commits || !replayed) return "";
  double lowered = 0;
  for (const PredictedTime& predicted : stored.prediction.times) {
    lowered = std::max(lowered, predicted.lowered);
  }
  return grouped_commits_text(*stored.program.commits, lowered);
}

}  // namespace

std::string program_name(const PredictedProgram& program) {
  const std::string& command = program.command;
  if (!program.label.empty()) return printable(program.label, kLongestCommand);
  if (command.empty()) return printable(program.reel, kLongestCommand);
  const std::string part = program.running ? "the recorded part of " : "";
  if (command.size() <= kLongestCommand) return part + printable(command);
  const std::string path = command.substr(0, command.find(' '));  // of the program
  return part + printable(path.substr(path.rfind('/') + 1), kLongestCommand);
}

std::vector<std::string> program_names(std::span<const StoredPrediction> predictions) {
  std::vector<std::string> names;
  for (const StoredPrediction& prediction : predictions)
    names.push_back(program_name(prediction.program));
  const auto is_repeated = [&](const std::string& name) {
    return std::ranges::count(names, name) > 1;
  };
  std::vector<std::string> apart = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_repeated(names[i])) continue;
    apart[i] += fmt::format(" ({})", printable(predictions[i].program.reel, kLongestCommand));
  }
  names = apart;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto before = std::ranges::count(std::span(names).first(i), names[i]);
    if (before > 0) apart[i] += fmt::format(" ({})", before + 1);
  }
  return apart;
}

std::string volume_text(const ReplayedVolume& volume) {
  return printable(fmt::format("{} ({})", volume.name, volume.file_system));
}

std::string_view interval_name(const Prediction& prediction) {
  return prediction.accuracy ? kBetweenSessions : "95 %, replays alone";
}

std::string range_text(const Interval& interval) {
  return fmt::format("{} to {}", format_duration(interval.low), format_duration(interval.high));
}

std::string rank_text(const PredictedTime& predicted, const Prediction& prediction) {
  return rank_text(predicted.rank, last_rank(predicted, prediction));
}

std::string conclusion_text(const StoredPrediction& stored) {
  const std::span<const ReplayedVolume> volumes = stored.volumes;
  const Prediction& prediction = stored.prediction;
  const Times times = ranked(prediction);
  if (times.empty()) return "No volume has a prediction.";
  const PredictedTime& first = *times.front();
  if (times.size() == 1 && !prediction.accuracy) {
    return fmt::format("{}{} on {}.{}", kUncertain, format_duration(first.median_s),
                       volume_text(volumes[first.volume]), busy_text(prediction));
  }
  if (times.size() == 1) {
    return fmt::format("{} on {}, with 95 % confidence {}.{}", format_duration(first.median_s),
                       volume_text(volumes[first.volume]), range_text(*first.interval),
                       busy_text(prediction));
  }
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < times.size();) {
    const Times group = equals(times, i);
    if (i == 0 && group.size() == 1) {
      sentences.push_back(fmt::format("Fastest: {}.", volume_text(volumes[first.volume])));
    } else if (group.size() > 1 && indistinct(group)) {
      sentences.push_back(fmt::format("{}{}: no significant difference.",
                                      i == 0 && group.size() < times.size() ? "Fastest: " : "",
                                      names_of(group, volumes)));
    }
    i += group.size();
  }
  if (indistinct({times[0], times[1]})) {
    sentences.push_back(deciding_text(prediction.deciding_runs));
  }
  const PredictedTime& last = *times.back();
  if (last.faster.size() + 1 == times.size()) {  // slower than all others
    sentences.push_back(fmt::format("Slowest: {}, {:.2f} times as long as the fastest.",
                                    volume_text(volumes[last.volume]),
                                    last.median_s / first.median_s));
  }
  return fmt::format("{}{}{}", prediction.accuracy ? "" : kUncertain, fmt::join(sentences, " "),
                     busy_text(prediction));
}

std::string reliability_text(const StoredPrediction& stored) {
  const Prediction& prediction = stored.prediction;
  const auto runs =
      std::ranges::minmax(stored.volumes, {}, [](const auto& one) { return one.seconds.size(); });
  const std::size_t least = runs.min.seconds.size(), most = runs.max.seconds.size();
  const std::string text =
      fmt::format("time from the first to the last operation{}; median of {}{}{}",
                  caches_of(stored), least == most ? "" : fmt::format("{} to ", least),
                  counted(most, "repetition"), order_of(stored.volumes));
  const std::string_view sessions =
      was_busy(prediction) ? "sessions on a busy machine are" : "sessions are";
  if (prediction.accuracy) {
    return text +
           fmt::format(
               "; intervals combine their spread, the accuracy of replays, {:.0f} % ({:.0f} % for "
               "the ratio of two volumes; see docs/replay.md), and {:.0f} % by which {} "
               "assumed to differ; ranks overlap where no difference is proven",
               prediction.accuracy->single * 100, prediction.accuracy->between * 100,
               prediction.sessions * 100, sessions);
  }
  return text + fmt::format(
                    "; intervals contain only their spread, and {:.0f} % by which {} "
                    "assumed to differ",
                    prediction.sessions * 100, sessions);
}

std::string unknown_accuracy_text(const PredictedProgram& program) {
  if (program.unknown_accuracy.empty()) return "";
  return fmt::format(
      "ACCURACY UNKNOWN: {}. The program can take longer or shorter than its "
      "replay, on any of the volumes.",
      program.unknown_accuracy);
}

std::vector<std::string> remarks_of(const StoredPrediction& stored) {
  std::vector<std::string> remarks = stored.program.remarks;
  for (std::string& text : std::array{savings_text(stored), refusals_text(stored)}) {
    if (!text.empty()) remarks.push_back(std::move(text));
  }
  return remarks;
}

}  // namespace filereel

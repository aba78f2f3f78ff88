#include "tools/prediction_table.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "tools/compare_table.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestCommand = 60;

using Times = std::vector<const PredictedTime*>;

std::string full_name(const ReplayedVolume& volume) {
  return printable(fmt::format("{} ({})", volume.name, volume.file_system));
}

Times ranked(const Prediction& prediction) {
  Times list;
  for (const PredictedTime& one : prediction.times) {
    if (one.rank > 0) list.push_back(&one);
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

// "719 ms to 912 ms".
std::string range_text(const Interval& interval) {
  return fmt::format("{} to {}", time_text(interval.low), time_text(interval.high));
}

std::string program_line(const PredictedProgram& program) {
  const std::string& name = program.command.empty() ? program.reel : program.command;
  return fmt::format("{}: {} where it was recorded\n", printable(name, kLongestCommand),
                     time_text(program.recorded_s));
}

std::string time_table(const PredictedProgram& program, std::span<const ReplayedVolume> volumes,
                       const Prediction& prediction, const Bold& bold) {
  Rows rows = {{"volume", "rank", "expected time", "95 % interval", "vs recorded"}};
  for (const PredictedTime& one : prediction.times) {
    const auto same = std::ranges::count(prediction.times, one.rank, &PredictedTime::rank);
    rows.push_back({full_name(volumes[one.volume]),
                    one.rank > 0 ? fmt::format("{}{}", one.rank, same > 1 ? "=" : "") : "-",
                    one.median_s > 0 ? time_text(one.median_s) : "-",
                    one.interval ? range_text(*one.interval) : "-",
                    one.median_s > 0 && program.recorded_s > 0
                        ? fmt::format("{:.2f} x", one.median_s / program.recorded_s)
                        : "-"});
  }
  return format_table(rows, bold);
}

// "a", "a and b", "a, b and c".
std::string names_of(const Times& times, std::span<const ReplayedVolume> volumes) {
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0) text += i + 1 == times.size() ? " and " : ", ";
    text += full_name(volumes[times[i]->volume]);
  }
  return text;
}

// Whether none of them is shown to be faster than another.
bool indistinct(const Times& times) {
  return std::ranges::none_of(times, [&](const PredictedTime* one) {
    return std::ranges::any_of(times, [&](const PredictedTime* other) {
      return std::ranges::find(one->faster, other->volume) != one->faster.end();
    });
  });
}

// The conclusion, as sentences.
std::string in_words(std::span<const ReplayedVolume> volumes, const Prediction& prediction) {
  const Times times = ranked(prediction);
  if (times.empty()) return "No volume has a prediction.";
  const PredictedTime& first = *times.front();
  if (times.size() == 1 && !prediction.accuracy) {
    return fmt::format("In the replays: {} on {}.", time_text(first.median_s),
                       full_name(volumes[first.volume]));
  }
  if (times.size() == 1) {
    return fmt::format("{} on {}, with 95 % confidence {}.", time_text(first.median_s),
                       full_name(volumes[first.volume]), range_text(*first.interval));
  }
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < times.size();) {
    const Times group = equals(times, i);
    if (i == 0 && group.size() == 1) {
      sentences.push_back(fmt::format("Fastest: {}.", full_name(volumes[first.volume])));
    } else if (group.size() > 1 && indistinct(group)) {
      sentences.push_back(fmt::format("{}{}: no significant difference.",
                                      i == 0 && group.size() < times.size() ? "Fastest: " : "",
                                      names_of(group, volumes)));
    }
    i += group.size();
  }
  const PredictedTime& last = *times.back();
  if (last.rank > 1) {
    sentences.push_back(fmt::format("Slowest: {}, {:.2f} times as long as the fastest.",
                                    full_name(volumes[last.volume]),
                                    last.median_s / first.median_s));
  }
  return fmt::format("{}{}",
                     prediction.accuracy ? "" : "In the replays: ", fmt::join(sentences, " "));
}

// What the figures mean.
std::string reliability(const PredictedProgram& program, std::span<const ReplayedVolume> volumes,
                        const Prediction& prediction) {
  const auto runs =
      std::ranges::minmax(volumes, {}, [](const auto& one) { return one.seconds.size(); });
  const std::size_t least = runs.min.seconds.size(), most = runs.max.seconds.size();
  std::string text =
      fmt::format("time from the first to the last operation; median of {}{}, in turns",
                  least == most ? "" : fmt::format("{} to ", least), counted(most, "repetition"));
  if (prediction.accuracy) {
    text += fmt::format(
        "; intervals combine their spread, the accuracy of replays, {:.0f} % ({:.0f} % for the "
        "ratio of two volumes; see docs/replay.md), and {:.0f} % by which sessions are assumed to "
        "differ; equal ranks: no significant difference",
        prediction.accuracy->single * 100, prediction.accuracy->between * 100,
        prediction.sessions * 100);
    return wrapped(text, 2);
  }
  text += fmt::format(
      "; intervals contain only their spread, and {:.0f} % by which sessions are assumed to differ",
      prediction.sessions * 100);
  return wrapped(text, 2) +
         wrapped(
             fmt::format("ACCURACY UNKNOWN: {}. The program can take longer or shorter than its "
                         "replay, on any of the volumes.",
                         program.unknown_accuracy),
             2);
}

}  // namespace

std::string format_prediction(const PredictedProgram& program,
                              std::span<const ReplayedVolume> volumes, const Prediction& prediction,
                              const Bold& bold) {
  std::string text = program_line(program) + "\n" + time_table(program, volumes, prediction, bold);
  for (const PredictedTime& one : prediction.times) {
    if (one.rank > 0) continue;
    text += wrapped(
        fmt::format("{}: no prediction: {}", full_name(volumes[one.volume]), one.reason), 2);
  }
  return text + "\n" + wrapped(in_words(volumes, prediction), 0) +
         reliability(program, volumes, prediction);
}

}  // namespace filereel

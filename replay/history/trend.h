// Trends of measurements in a history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/history/history.h"
#include "replay/statistics/summary.h"

namespace filereel {

// Selects part of a history; an empty list selects everything.
struct TrendFilter {
  std::vector<std::string> devices = {};  // names or directories of drives
  std::vector<std::string> sets = {}, operations = {}, file_systems = {};
};

struct TrendPoint {
  std::uint32_t entry = 0;   // HistoryEntry::number
  std::string machine = {};  // HostInfo::machine
  double begun_s = 0;        // since the epoch; 0 if unknown
  double busy = 0;           // share of the CPU time that other programs used; 0 if unknown
  std::string started, firmware;
  bool complete = true;  // of the result
  Spread figure;
};

// One measurement of the same work, with the same driver and settings.
struct TrendSeries {
  MeasurementKey key;
  // Settings and work: "scale 0.02, warm caches"; "" if all series of the key have the same.
  std::string options;
  std::string unit;                // "MB/s", "files/s", "operations/s", "µs p99.9 read"
  Aspect aspect = Aspect::time;    // Aspect::tail: a latency
  std::vector<TrendPoint> points;  // by time; at least one

  // Changes of the medians as shares: 0.05 is 5 % more.
  std::optional<double> change = {};  // from the first to the last; empty if there is only one
  // With the last firmware relative to the one before: geometric means of the states (sessions.h).
  std::optional<double> firmware_change = {};
  // Its 95 % interval, which contains the spread between sessions, as shares; see sessions.h.
  std::optional<Interval> firmware_interval = {};
};

struct TrendFirmware {
  std::string name;     // "" if unknown
  std::string started;  // of the first result with it
};

struct DeviceTrend {
  std::string device;
  std::vector<TrendFirmware> firmware;  // in the order of their first results
  std::vector<TrendSeries> series;      // in the order of occurrence
  // Measurements whose work was not done, and why: a line each. They are in no series.
  std::vector<std::string> left_out = {};
};

// By device, in the order of the first results. Figures are the main rates (MB/s for
// FC-Test, files/s for steps that move no data, operations/s for workloads and replays) and the
// tails in microseconds: p99.9 for each kind of operation with 10,000 in a typical run, p99 with
// 1,000. Tails are those of all samples of a result together, as in its table.
std::vector<DeviceTrend> trends_of(const HistoryDirectory& history, const TrendFilter& filter = {});

}  // namespace filereel

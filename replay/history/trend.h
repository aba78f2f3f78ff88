// How measurements of a history went over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/compare/comparison.h"
#include "replay/history/history.h"

namespace filereel {

// What of a history is looked at; an empty list leaves nothing out.
struct TrendFilter {
  std::vector<std::string> devices = {};  // names or folders of drives
  std::vector<std::string> sets = {}, operations = {}, file_systems = {};
};

struct TrendPoint {
  std::uint32_t entry = 0;  // HistoryEntry::number
  std::string started, firmware;
  bool complete = true;  // its result
  Spread figure;
};

// One measurement, always with the same driver and options.
struct TrendSeries {
  MeasurementKey key;
  std::string options;  // "scale 0.02, warm caches"; "" where all series of the key have the same
  std::string unit;     // "MB/s", "files/s", "operations/s", "us p99.9 read"
  std::vector<TrendPoint> points;  // by time; at least one

  // Of the medians; shares: 0.05 is 5 % more.
  double change = 0;                           // from the first to the last
  std::optional<double> firmware_change = {};  // median of all with the last firmware by that of
                                               // all with the one before it
};

struct TrendFirmware {
  std::string name;     // "" if the drive does not say
  std::string started;  // of the first result with it
};

struct DeviceTrend {
  std::string device;
  std::vector<TrendFirmware> firmware;  // in the order of their first results
  std::vector<TrendSeries> series;      // in the order in which they appear
};

// By device, in the order of the first results. Figures are the headline's rates: MB/s until
// durable for FC-Test, files/s for what moves no data, operations/s for workloads and replays; and
// the tails: p99.9 of each kind of operation of which a usual run has 10,000, p99 where it has
// 1,000, in microseconds.
std::vector<DeviceTrend> trends_of(const HistoryFolder& history, const TrendFilter& filter = {});

}  // namespace filereel

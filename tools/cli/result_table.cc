#include "tools/cli/result_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "replay/report/figures.h"
#include "replay/report/write_cache.h"
#include "replay/results/block_baseline.h"
#include "replay/results/failures.h"
#include "replay/results/metrics.h"
#include "tools/cli/job_tables.h"
#include "traces/fc_test.h"

namespace filereel {
namespace {

// Each figure once: one baseline is valid for all file systems on a volume. They are named if the
// baselines differ in them.
std::string baselines(const Result& result, const Bold& bold) {
  Rows rows = {
      {"block level (fio)", "on", "blocks", "depth", "MB/s", "IOPS", "mean", "p99", "max"}};
  const auto latency = [](const BlockBaseline& baseline, double BlockLatency::* figure) {
    return baseline.latency ? format_duration((*baseline.latency).*figure * 1e-6) : "-";
  };
  const std::vector<SharedBaseline> list = shared_baselines(result.baselines);
  const auto of_all = [&](const SharedBaseline& shared_baseline) {
    return shared_baseline.file_systems == list.front().file_systems;
  };
  const bool same = std::ranges::all_of(list, of_all);
  for (const auto& [one, file_systems] : list) {
    const std::string of = same ? "" : fmt::format("{} ", fmt::join(file_systems, ", "));
    rows.push_back({printable(of + one.pattern), printable(one.on),
                    format_binary_size(one.block_size), fmt::format("{}", one.depth),
                    format_number(one.mb_per_s), format_number(one.iops),
                    latency(one, &BlockLatency::mean_us), latency(one, &BlockLatency::p99_us),
                    latency(one, &BlockLatency::max_us)});
  }
  return format_table(rows, bold);
}

std::string name_of(const Measurement& measurement) {
  std::string name = measurement.file_system + " " +
                     (measurement.set.empty() ? measurement.workload : measurement.set);
  return printable(name + " " + measurement.operation + point_text(measurement.parameters));
}

std::string ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string percentage(const std::optional<double>& share) {
  if (!share) return "-";
  const double percent = *share * 100;
  return percent < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string shares(const Result& result, const Bold& bold) {
  Rows rows = {{"file/block level", "speed", "latency share", "device/file written", "read"}};
  for (const Measurement& measurement : result.measurements) {
    const std::optional<double> share = block_share(result, measurement);
    const std::optional<double> latency = latency_share(result, measurement);
    const DeviceBytes device = device_bytes_per_file_byte(measurement);
    if (!share && !device.written && !device.read) continue;
    rows.push_back({name_of(measurement), percentage(share), percentage(latency),
                    ratio(device.written), ratio(device.read)});
  }
  return rows.size() > 1 ? format_table(rows, bold) : "";
}

}  // namespace

std::string format_efficiency(const Result& result, const Bold& bold) {
  if (result.baselines.empty()) return "";
  return baselines(result, bold) + "\n" + shares(result, bold) + "\n";
}

namespace {

// A figure of a measurement; nothing if its kind has none.
using CellOf = std::function<std::optional<Cell>(const Measurement&)>;

CellOf rate(std::optional<Spread> Summary::* quantity) {
  return [quantity](const Measurement& measurement) -> std::optional<Cell> {
    const std::optional<Spread> spread = measurement.summary().*quantity;
    const bool no_data = std::ranges::any_of(measurement.samples, &Sample::moved_no_data);
    const bool rate_of_data = quantity != &Summary::files_per_s;
    if (!spread && measurement.operation == fc_step_name(FcStep::remove) && rate_of_data) return {};
    return no_data && rate_of_data ? "no data moved" : spread_cell(spread);
  };
}

// Of all runs, so that a step that hung is seen.
CellOf longest_operation(const Result& result) {
  return [&result](const Measurement& measurement) -> std::optional<Cell> {
    const Metric& metric = *find_metric("max_us");
    const std::optional<Spread> spread = spread_of(metric, result, measurement);
    if (!spread) return {};
    return figure_text(metric.unit, spread->median);
  };
}

// Adds a block for one metric on one file system: file sets down, steps across.
void add_block(const std::vector<const Measurement*>& measurements, std::string_view metric,
               const CellOf& cell_of, Rows& rows) {
  std::vector<std::string> sets, operations;
  std::map<std::pair<std::string, std::string>, Cell> cells;
  for (const Measurement* measurement : measurements) {
    std::optional<Cell> found = cell_of(*measurement);
    if (!found) continue;
    if (!contains(sets, measurement->set)) sets.push_back(measurement->set);
    if (!contains(operations, measurement->operation)) {
      operations.push_back(measurement->operation);
    }
    cells.insert_or_assign({measurement->set, measurement->operation}, *std::move(found));
  }
  if (cells.empty()) return;
  Row& heading = rows.emplace_back(1, std::string(find_metric(metric)->heading));
  heading.insert(heading.end(), operations.begin(), operations.end());
  for (const std::string& set : sets) {
    Row& row = rows.emplace_back(1, "  " + set);
    for (const std::string& operation : operations) {
      const auto cell = cells.find({set, operation});
      row.push_back(cell == cells.end() ? "" : cell->second);
    }
  }
}

// All figures of one file system in the same columns.
std::string blocks(const Result& result, const std::vector<const Measurement*>& measurements,
                   const Bold& bold) {
  Rows rows;
  add_block(measurements, "mb_per_s", rate(&Summary::mb_per_s), rows);
  add_block(measurements, "mb_per_s_elapsed", rate(&Summary::mb_per_s_elapsed), rows);
  add_block(measurements, "files_per_s", rate(&Summary::files_per_s), rows);
  add_block(measurements, "max_us", longest_operation(result), rows);
  return format_columns(rows, [&](std::size_t row, std::string line) {
    return rows[row].front().text.starts_with(' ') ? line : bold(line);
  });
}

// Measurements of a job on a file system that have samples.
std::vector<const Measurement*> measurements_of(const Result& result, const std::string& job,
                                                const std::string& file_system) {
  std::vector<const Measurement*> list;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.workload != job || measurement.file_system != file_system ||
        measurement.samples.empty())
      continue;
    list.push_back(&measurement);
  }
  return list;
}

std::string job_table(const Result& result, const JobRecord& job, const std::string& file_system,
                      const Bold& bold) {
  const auto list = measurements_of(result, job.name, file_system);
  if (list.empty()) return "";
  if (job.axes.empty() && info_of(job.kind).by_set) {
    const std::string name =
        job.name == info_of(job.kind).name ? "" : bold(printable(job.name)) + "\n";
    return name + blocks(result, list, bold) + "\n";
  }
  return job.axes.empty() ? phase_table(result, job.name, list, bold)
                          : sweep_table(result, job, file_system, bold);
}

std::string file_system_tables(const Result& result, const std::string& file_system,
                               const Bold& bold) {
  std::string text = heading(describe_volumes(result, file_system), bold);
  std::vector<const Measurement*> traces;
  for (const JobRecord& job : result.plan.jobs) {
    if (info_of(job.kind).replays) {
      std::ranges::copy(measurements_of(result, job.name, file_system), std::back_inserter(traces));
    } else {
      text += job_table(result, job, file_system, bold);
    }
  }
  if (!traces.empty()) text += replay_table(traces, bold) + "\n";
  return text + clients_table(result, file_system, bold);
}

std::string write_cache_table(const WriteCacheReport& report, const Bold& bold) {
  std::string text = wrapped(
      printable_line(fmt::format("write cache of {}: {}", report.subject, report.finding)), 2);
  if (!report.rows.empty()) {
    Rows rows = {{"write cache", "", "95 % interval"}};
    for (const WriteCacheReport::Row& row : report.rows) {
      rows.push_back({row.what, row.figure, row.interval});
    }
    text += format_table(rows, bold);
  }
  for (const std::string& note : report.notes) text += wrapped(note, 2);
  return text + "\n";
}

std::string control_line(const Result& result) {
  std::vector<std::string> targets;
  for (const Result& control : result.control) {
    for (const VolumeDescription& volume : control.volumes) {
      const std::string text = printable(volume.target);
      if (!contains(targets, text)) targets.push_back(text);
    }
  }
  if (targets.empty()) return "";
  return wrapped(fmt::format("control volume, in turns: {}", fmt::join(targets, ", ")), 2);
}

// Failed verifications, and work that could not be done.
std::string differences(const Result& result) {
  const auto line = [](std::string_view what, const std::string& text) {
    return text.empty() ? "" : wrapped(fmt::format("{}: {}", what, printable(text)), 2);
  };
  return line("VERIFICATION FAILED", verification_failures_of(result)) +
         line("NOT ALL WORK WAS DONE", work_failures_of(result));
}

std::string tables(const Result& result, const Bold& bold) {
  std::string text;
  for (const std::string& name : file_systems_of(result)) {
    text += file_system_tables(result, name, bold);
  }
  for (const WriteCacheReport& report : write_caches_of(result)) {
    text += write_cache_table(report, bold);
  }
  const bool single = result.measurements.size() == 1;
  if (single && result.measurements.front().replay) {
    text += replay_details(result.measurements.front(), bold);
  }
  return text + format_efficiency(result, bold);
}

// What the cells of the tables are: ": median, range below"; "" for single runs.
std::string cells_text(const Result& result) {
  bool repeated = false, intervals = false, ranges = false;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.samples.size() < 2) continue;
    repeated = true;
    if (result.job_of(measurement).axes.size() > 1) continue;  // grids have no room
    const std::optional<Spread> spread = measurement.seconds(&Sample::elapsed_s);
    if (spread) (spread->interval ? intervals : ranges) = true;
  }
  if (!repeated) return "";
  return fmt::format(": median{}{}; percentiles and maxima of all runs together",
                     intervals ? ", 95 % interval below"
                     : ranges  ? ", range below"
                               : "",
                     intervals && ranges ? " (of fewer than six runs, the range)" : "");
}

// How the figures are to be read, settings, machine and warnings.
std::vector<std::string> below_tables(const Result& result) {
  std::vector<std::string> list = {
      wrapped(fmt::format("{}{}; MB/s = 10^6 bytes per second, until durable if the work writes; "
                          "operations/s and MB/s (elapsed) until calls return",
                          describe_runs(result), cells_text(result)),
              2)};
  for (const std::string& setting : describe_settings(result)) {
    list.push_back(wrapped(printable_line(setting), 2));
  }
  list.push_back(control_line(result));
  list.push_back(differences(result));
  std::ranges::move(remarks(result), std::back_inserter(list));
  return list;
}

}  // namespace

std::string format_result(const Result& result, const Bold& bold) {
  return fmt::format("{}{}", tables(result, bold), fmt::join(below_tables(result), ""));
}

std::string format_results(std::span<const Result* const> results, const Bold& bold) {
  std::vector<std::vector<std::string>> below;
  for (const Result* result : results) below.push_back(below_tables(*result));
  const auto is_common = [&](const std::string& one) {
    return std::ranges::all_of(
        below, [&](const std::vector<std::string>& list) { return contains(list, one); });
  };
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    text += tables(*results[i], bold);
    for (const std::string& one : below[i]) text += is_common(one) ? "" : one;
    text += "\n";
  }
  for (const std::string& one : below.front()) text += is_common(one) ? one : "";
  return text + "\n";
}

}  // namespace filereel

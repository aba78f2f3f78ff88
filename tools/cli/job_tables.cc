#include "tools/cli/job_tables.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/report/figures.h"
#include "replay/results/client_samples.h"
#include "replay/results/failures.h"
#include "replay/results/latency.h"
#include "replay/results/metrics.h"
#include "replay/results/result_sweep.h"

namespace filereel {
namespace {

std::string duration(double us) {
  return format_duration(us * 1e-6);
}

// "-" without samples that count.
std::string latency_cell(const LatencySummary& latency, double LatencySummary::* figure) {
  return latency.count > 0 ? duration(latency.*figure) : "-";
}

// In 10^6 bytes per second.
std::string speed(std::uint64_t bytes, double seconds) {
  if (seconds <= 0) return "-";
  return format_number(static_cast<double>(bytes) / 1e6 / seconds) + " MB/s";
}

// A sample that failed or was cut short has amounts, but no rates.
std::string totals(const Measurement& measurement, const Sample& sample) {
  std::string text;
  const bool failed = has_failed(sample);
  const auto line = [&](std::string_view what, const std::string& figure) {
    text += fmt::format("{:<12} {}\n", what, figure);
  };
  const auto done = [&](std::string_view what, std::uint64_t number) {
    if (failed) return line(what, fmt::format("{}", number));
    const double rate = sample.elapsed_s > 0 ? static_cast<double>(number) / sample.elapsed_s : 0.0;
    line(what, fmt::format("{}, {}/s", number, format_number(rate)));
  };
  const ReelSample& reel = *sample.reel;
  done("operations", sample.operations);
  if (sample.transactions) done("transactions", *sample.transactions);
  double Sample::* const until = rate_time(measurement);
  const auto moved = [&](std::string_view what, std::uint64_t bytes) {
    if (bytes == 0) return;
    if (failed) return line(what, format_size(bytes));
    line(what, fmt::format("{}, {}", format_size(bytes), speed(bytes, sample.*until)));
  };
  moved("read", reel.bytes_read);
  moved("written", reel.bytes_written);
  moved("copied", reel.bytes_copied);
  line("waits", fmt::format("{} between threads", reel.waits));
  if (reel.lateness && !failed) {
    line("lateness", fmt::format("p50 {}, p99 {}, max {}", duration(reel.lateness->p50_us),
                                 duration(reel.lateness->p99_us), duration(reel.lateness->max_us)));
  }
  return text;
}

// Of all runs, as in reports.
std::string kinds(const Measurement& measurement, const Bold& bold) {
  Rows rows = {{"operation", "count", "errors", "bytes", "p50", "p99", "p99.9", "max"}};
  std::vector<KindShare> order = shares_of_kinds(measurement);
  std::ranges::stable_sort(order, std::greater{}, &KindShare::count);
  PooledLatencies pooled(measurement);
  for (const KindShare& share : order) {
    const LatencySummary& latency = pooled.summary(share.kind);
    rows.push_back({share.kind, fmt::format("{}", share.count),
                    share.errors > 0 ? fmt::format("{}", share.errors) : "-",
                    share.bytes > 0 ? format_size(share.bytes) : "-",
                    latency_cell(latency, &LatencySummary::p50_us),
                    latency_cell(latency, &LatencySummary::p99_us),
                    latency_cell(latency, &LatencySummary::p999_us),
                    latency_cell(latency, &LatencySummary::max_us)});
  }
  return format_table(rows, bold);
}

std::string result_verdict(const Differences& all) {
  std::string text;
  if (all.results == 0) {
    text = "all results match the trace" + in_runs(all);
  } else {
    std::string classes;
    for (const auto& [name, count] : all.by_class) {
      classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", count, printable(name));
    }
    text = fmt::format("{} from the trace{}: {}",
                       counted(all.results, "result differs", "results differ"), in_runs(all),
                       classes);
  }
  if (all.unverified > 0) {
    text +=
        fmt::format("; {} not compared: the recording lacks what they depend on", all.unverified);
  }
  if (all.refused == 0) return text;
  std::string what;
  for (const auto& [name, count] : all.refusals) {
    what += fmt::format("{}{}: {}", what.empty() ? "" : ", ", printable(name), count);
  }
  text += fmt::format("; {} refused{}", all.refused, what.empty() ? "" : " (" + what + ")");
  return all.refusals.contains("owners") ? text + "; --owners changes owners, as root" : text;
}

std::string verdict(const Measurement& measurement, const Sample& sample) {
  const Differences all = differences_of(measurement);
  std::string text = wrapped(result_verdict(all), 2);
  for (const DivergenceExample& example : sample.examples) {
    text += wrapped(
        fmt::format("  {} ({})", describe_divergence(example), printable(example.divergence_class)),
        4);
  }
  if (!sample.tree) return text;
  const TreeComparison& tree = *sample.tree;
  std::string about =
      all.in_tree == 0
          ? fmt::format("the tree matches the trace: {}", counted(tree.entries, "entry", "entries"))
          : fmt::format("{} from the recorded tree{}",
                        counted(all.in_tree, "difference", "differences"), in_runs(all));
  if (all.left_out_of_tree > 0) {
    about += fmt::format("; {} left out: not supported by {}",
                         counted(all.left_out_of_tree, "link"), printable(measurement.file_system));
  }
  text += wrapped(about, 2);
  for (const TreeDifference& difference : tree.examples) {
    text +=
        wrapped(fmt::format("  {} {}", printable(difference.path), printable(difference.text)), 4);
  }
  return text;
}

std::string conditions(const ReplayParameters& how) {
  std::string text = fmt::format("order {}, pace {}, engine {}", printable(how.order),
                                 printable(how.pace), printable(how.engine));
  if (how.depth > 0) text += fmt::format(" at depth {}", how.depth);
  text += fmt::format(", verify {}", printable(how.verify));
  if (how.clients > 1) text += "; " + counted(how.clients, "client");
  return text + "\n";
}

}  // namespace

std::string replay_table(const std::vector<const Measurement*>& list, const Bold& bold) {
  const bool durable = list.front()->file_system != "none";
  const bool transactions = std::ranges::any_of(list, [](const Measurement* measurement) {
    return measurement->summary().transactions_per_s.has_value();
  });
  Rows rows = {{"recorded trace", "time", "recorded", "divergences"}};
  if (durable) rows.front().push_back("durable");
  if (transactions) rows.front().push_back("transactions/s");
  for (const Measurement* one : list) {
    const double recorded = one->replay ? one->replay->recorded_s : 0;
    rows.push_back({printable(subject_of(*one)),
                    spread_cell(one->seconds(&Sample::elapsed_s), format_duration),
                    recorded > 0 ? format_duration(recorded) : "-", divergences_text(*one)});
    if (durable) {
      rows.back().push_back(spread_cell(one->seconds(&Sample::durable_s), format_duration));
    }
    if (transactions) rows.back().push_back(spread_cell(one->summary().transactions_per_s));
  }
  return format_table(rows, bold);
}

std::string replay_details(const Measurement& measurement, const Bold& bold) {
  const Sample* sample = typical_sample(measurement);
  if (!sample || !sample->reel || !measurement.replay) return "";
  const std::size_t runs = measurement.samples.size();
  const std::string run =
      runs > 1 ? fmt::format("run {} of {}, nearest to the median time\n", sample->run, runs) : "";
  const std::string all =
      runs > 1 ? fmt::format("operations of {} together\n", counted(runs, "run")) : "";
  return run + totals(measurement, *sample) + "\n" + all + kinds(measurement, bold) + "\n" +
         verdict(measurement, *sample) + conditions(*measurement.replay) + "\n";
}

namespace {

using Measurements = std::vector<const Measurement*>;  // null: not measured

// "MB/s (first ended)": the part in parentheses goes below.
Cell column_heading(std::string_view heading) {
  const std::size_t note = heading.find(" (");
  if (note == std::string_view::npos) return std::string(heading);
  Cell cell = std::string(heading.substr(0, note));
  cell.below = heading.substr(note + 2, heading.size() - note - 3);
  return cell;
}

// Rates with the range of their samples.
Cell cell_of(const Metric& metric, const std::optional<Spread>& spread) {
  const bool rate = is_rate(metric.unit);
  if (spread && rate) return spread_cell(spread);
  return spread ? figure_text(metric.unit, spread->median) : "-";
}

std::vector<const Metric*> brief_metrics() {
  std::vector<const Metric*> list;
  for (const Metric& metric : metrics()) {
    if (metric.brief) list.push_back(&metric);
  }
  return list;
}

// A row for each measurement, labelled by `names`; a column for each of the metrics with a figure.
std::string rows_table(const Result& result, const std::string& corner,
                       const std::vector<std::string>& names, const Measurements& rows,
                       const std::vector<const Metric*>& columns, const Bold& bold) {
  Rows table(1, Row(1, corner));
  for (const std::string& name : names) table.emplace_back(1, name);
  for (const Metric* metric : columns) {
    Row column(1, column_heading(metric->heading));
    bool any = false;
    for (const Measurement* row : rows) {
      const auto spread = row ? spread_of(*metric, result, *row) : std::nullopt;
      any = any || spread.has_value();
      column.push_back(cell_of(*metric, spread));
    }
    for (std::size_t i = 0; any && i < table.size(); ++i) table[i].push_back(column[i]);
  }
  return format_table(table, bold);
}

// One metric over the last two axes, the first of them down and the second across.
std::string matrix(const Result& result, const Metric& metric, const std::string& title,
                   const SweepAxis& down, const SweepAxis& across, const Measurements& cells,
                   const Bold& bold) {
  Rows table(1, Row(1, fmt::format("{} \\ {}", down.name, across.name)));
  std::ranges::copy(across.values, std::back_inserter(table.front()));
  auto cell = cells.begin();
  for (const std::string& value : down.values) {
    Row& row = table.emplace_back(1, value);
    for (std::size_t i = 0; i < across.values.size(); ++i, ++cell) {
      const auto spread = *cell ? spread_of(metric, result, **cell) : std::nullopt;
      row.push_back(spread ? figure_text(metric.unit, spread->median) : "-");
    }
  }
  return bold(title) + "\n" + format_table(table, bold);
}

std::string heading_of(const std::vector<SweepAxis>& axes, std::size_t count, std::size_t number) {
  std::string text;
  for (std::size_t i = count; i-- > 0; number /= axes[i].values.size()) {
    text = fmt::format(", {} {}", axes[i].name,
                       printable(axes[i].values[number % axes[i].values.size()])) +
           text;
  }
  return text;
}

// One step at the points of a sweep of two or more axes.
std::string matrices(const Result& result, const std::string& what,
                     const std::vector<SweepAxis>& axes, const Measurements& points,
                     const Bold& bold) {
  const std::size_t outer = axes.size() - 2;
  const SweepAxis& down = axes[outer];
  const SweepAxis& across = axes[outer + 1];
  const std::size_t size = down.values.size() * across.values.size();
  std::string text;
  for (std::size_t i = 0; i < points.size() / size; ++i) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * size);
    const Measurements cells(first, first + static_cast<std::ptrdiff_t>(size));
    for (const Metric* metric : default_metrics(cells)) {
      const std::string title =
          fmt::format("{}{}: {}", what, heading_of(axes, outer, i), metric->heading);
      text += matrix(result, *metric, title, down, across, cells, bold) + "\n";
    }
  }
  return text + "medians alone; filereel report shows intervals and tails\n\n";
}

SweepAxis printable_axis(const SweepAxis& axis) {
  SweepAxis clean{printable(axis.name), {}};
  for (const std::string& value : axis.values) clean.values.push_back(printable(value));
  return clean;
}

}  // namespace

std::string sweep_table(const Result& result, const JobRecord& job, const std::string& file_system,
                        const Bold& bold) {
  std::vector<SweepAxis> axes;
  for (const SweepAxis& axis : job.axes) axes.push_back(printable_axis(axis));
  std::string text;
  for (const SweepCells& cells : cells_of(result, job)) {
    if (cells.file_system != file_system) continue;
    std::string title = job.name;
    for (const std::string* part : {&cells.operation, &cells.set}) {
      if (!part->empty() && *part != "run") title += " " + *part;
    }
    title = printable(title);
    if (axes.size() > 1) {
      text += matrices(result, title, axes, cells.points, bold);
      continue;
    }
    text += bold(title) + "\n" +
            rows_table(result, axes.front().name, axes.front().values, cells.points,
                       brief_metrics(), bold) +
            "\n";
  }
  return text;
}

std::string phase_table(const Result& result, const std::string& job,
                        const std::vector<const Measurement*>& list, const Bold& bold) {
  std::vector<std::string> names;
  for (const Measurement* measurement : list) names.push_back(printable(measurement->operation));
  return rows_table(result, printable(job), names, list, brief_metrics(), bold) + "\n";
}

std::string clients_table(const Result& result, const std::string& file_system, const Bold& bold) {
  std::vector<const Measurement*> list;
  std::vector<std::string> names;
  for (const Measurement& measurement : result.measurements) {
    if (measurement.file_system != file_system || !has_clients(measurement)) continue;
    list.push_back(&measurement);
    names.push_back(printable(subject_of(measurement)));
  }
  const std::string clients = clients_text(list);
  if (clients.empty()) return "";
  std::vector<const Metric*> columns;
  for (const std::string_view name : kClientMetrics) columns.push_back(find_metric(name));
  return bold(clients) + "\n" + rows_table(result, "", names, list, columns, bold) + "\n";
}

}  // namespace filereel

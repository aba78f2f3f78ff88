#include "tools/replay_table.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "filesets/system/counted.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/figures.h"
#include "replay/report/formatting.h"
#include "replay/results/failures.h"

namespace filereel {
namespace {

std::string duration(double us) {
  return format_duration(us * 1e-6);
}

// In 10^6 bytes per second.
std::string speed(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.3g} MB/s", static_cast<double>(bytes) / 1e6 / seconds) : "-";
}

std::string totals(const Sample& sample) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& figure) {
    text += fmt::format("{:<12} {}\n", what, figure);
  };
  const auto done = [&](std::string_view what, std::uint64_t number) {
    const double rate = sample.elapsed_s > 0 ? static_cast<double>(number) / sample.elapsed_s : 0.0;
    line(what, fmt::format("{}, {:.0f}/s", number, rate));
  };
  const ReelSample& reel = *sample.reel;
  done("operations", sample.operations);
  if (sample.transactions) done("transactions", *sample.transactions);
  const auto moved = [&](std::string_view what, std::uint64_t bytes) {
    if (bytes == 0) return;
    line(what, fmt::format("{}, {}", format_size(bytes), speed(bytes, sample.elapsed_s)));
  };
  moved("read", reel.bytes_read);
  moved("written", reel.bytes_written);
  moved("copied", reel.bytes_copied);
  line("waits", fmt::format("{} between threads", reel.waits));
  if (reel.lateness) {
    line("lateness", fmt::format("p50 {}, p99 {}, max {}", duration(reel.lateness->p50_us),
                                 duration(reel.lateness->p99_us), duration(reel.lateness->max_us)));
  }
  return text;
}

std::string kinds(const Sample& sample, const Bold& bold) {
  Rows rows = {{"operation", "count", "errors", "bytes", "p50", "p99", "p99.9", "max"}};
  std::vector<const std::pair<const std::string, LatencySummary>*> order;
  for (const auto& one : sample.latency) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater{},
                           [](const auto* one) { return one->second.count; });
  for (const auto* one : order) {
    const LatencySummary& latency = one->second;
    rows.push_back({one->first, fmt::format("{}", latency.count),
                    latency.errors > 0 ? fmt::format("{}", latency.errors) : "-",
                    latency.bytes > 0 ? format_size(latency.bytes) : "-", duration(latency.p50_us),
                    duration(latency.p99_us), duration(latency.p999_us), duration(latency.max_us)});
  }
  return format_table(rows, bold);
}

std::string verdict(const Measurement& measurement, const Sample& sample) {
  const ReelSample& reel = *sample.reel;
  std::string text;
  if (sample.divergences == 0) {
    text += "all results match the trace";
  } else {
    std::string classes;
    for (const auto& [name, count] : reel.divergences) {
      classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", count, printable(name));
    }
    text += fmt::format("{} from the trace: {}",
                        counted(sample.divergences, "result differs", "results differ"), classes);
  }
  if (reel.unverified > 0) {
    text += fmt::format("; {} not compared", reel.unverified);
  }
  if (reel.refused > 0) {
    std::string what;
    for (const auto& [name, count] : reel.refusals) {
      what += fmt::format("{}{}: {}", what.empty() ? "" : ", ", printable(name), count);
    }
    text += fmt::format("; {} refused{}", reel.refused, what.empty() ? "" : " (" + what + ")");
  }
  text = wrapped(text, 2);
  for (const DivergenceExample& one : sample.examples) {
    text += wrapped(fmt::format("  {} ({})", describe_divergence(one), printable(one.kind_of)), 4);
  }
  if (!sample.tree) return text;
  const TreeComparison& tree = *sample.tree;
  std::string about =
      tree.differences == 0
          ? fmt::format("the tree matches the trace: {}", counted(tree.entries, "entry", "entries"))
          : fmt::format("{} from the recorded tree",
                        counted(tree.differences, "difference", "differences"));
  if (tree.left_out > 0) {
    about += fmt::format("; {} left out: not supported by {}", counted(tree.left_out, "link"),
                         printable(measurement.file_system));
  }
  text += wrapped(about, 2);
  for (const TreeDifference& one : tree.examples) {
    text += wrapped(fmt::format("  {} {}", printable(one.path), printable(one.text)), 4);
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

// The median of a time with its confidence interval below, or with the range of samples that are
// too few for one.
Cell time_cell(const Measurement& one, double Sample::* time) {
  std::optional<Spread> spread = one.seconds(time);
  if (spread && spread->interval) {
    std::tie(spread->low, spread->high) = std::tie(spread->interval->low, spread->interval->high);
  }
  return spread_cell(spread, format_duration);
}

}  // namespace

std::string replay_table(const std::vector<const Measurement*>& list, const Bold& bold) {
  const bool durable = list.front()->file_system != "none";
  const bool transactions = std::ranges::any_of(
      list, [](const Measurement* one) { return one->summary().transactions_per_s.has_value(); });
  Rows rows = {{"recorded trace", "time", "recorded", "divergences"}};
  const auto has_interval = [](const Measurement* one) {
    const std::optional<Spread> spread = one->seconds(&Sample::elapsed_s);
    return spread && spread->interval;
  };
  if (durable) rows.front().push_back("durable");
  if (std::ranges::any_of(list, has_interval)) {
    rows.front()[1].below = "95 % interval";
    if (durable) rows.front().back().below = "95 % interval";
  }
  if (transactions) rows.front().push_back("transactions/s");
  for (const Measurement* one : list) {
    const double recorded = one->replay ? one->replay->recorded_s : 0;
    rows.push_back({printable(subject_of(*one)), time_cell(*one, &Sample::elapsed_s),
                    recorded > 0 ? format_duration(recorded) : "-", divergences_text(*one)});
    if (durable) rows.back().push_back(time_cell(*one, &Sample::durable_s));
    if (transactions) rows.back().push_back(spread_cell(one->summary().transactions_per_s));
  }
  return format_table(rows, bold);
}

std::string replay_details(const Measurement& measurement, const Bold& bold) {
  const Sample* sample = typical_sample(measurement);
  if (!sample || !sample->reel || !measurement.replay) return "";
  return totals(*sample) + "\n" + kinds(*sample, bold) + "\n" + verdict(measurement, *sample) +
         conditions(*measurement.replay) + "\n";
}

}  // namespace filereel

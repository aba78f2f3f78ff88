#include "tools/replay_table.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/figures.h"
#include "replay/results/failures.h"
#include "tools/efficiency_table.h"

namespace filereel {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string duration(double us) {
  return format_duration(us * 1e-6);
}

// 10^6 bytes a second.
std::string speed(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.3g} MB/s", static_cast<double>(bytes) / 1e6 / seconds) : "-";
}

std::string extremes(const std::vector<Sample>& samples, double Sample::* time) {
  if (samples.size() < 2) return "";
  const auto [low, high] = std::ranges::minmax_element(samples, {}, time);
  return fmt::format("  ({} – {} in {} runs)", format_duration((*low).*time),
                     format_duration((*high).*time), samples.size());
}

std::string totals(const Measurement& measurement, const Sample& sample) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& figure) {
    text += fmt::format("{:<12} {}\n", what, figure);
  };
  const ReelSample& reel = *sample.reel;
  line("elapsed",
       format_duration(sample.elapsed_s) + extremes(measurement.samples, &Sample::elapsed_s));
  if (measurement.file_system != "none") {
    line("durable",
         format_duration(sample.durable_s) + extremes(measurement.samples, &Sample::durable_s));
  }
  line("operations",
       fmt::format(
           "{}, {:.0f}/s", sample.operations,
           sample.elapsed_s > 0 ? static_cast<double>(sample.operations) / sample.elapsed_s : 0.0));
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
    text += "every result is that of the trace";
  } else {
    std::string classes;
    for (const auto& [name, count] : reel.divergences) {
      classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", count, printable(name));
    }
    text += fmt::format("{} differ from the trace: {}",
                        counted(sample.divergences, "result", "results"), classes);
  }
  if (reel.unverified > 0) {
    text += fmt::format("; {} not compared", reel.unverified);
  }
  if (reel.refused > 0) text += fmt::format("; {} refused", reel.refused);
  text += '\n';
  for (const DivergenceExample& one : sample.examples) {
    text += fmt::format("  {} ({})\n", describe_divergence(one), printable(one.kind_of));
  }
  if (!reel.tree) return text;
  const TreeComparison& tree = *reel.tree;
  text += tree.differences == 0
              ? fmt::format("the tree is as after the trace: {}",
                            counted(tree.entries, "entry", "entries"))
              : fmt::format("{} from the tree after the trace",
                            counted(tree.differences, "difference", "differences"));
  if (tree.left_out > 0) {
    text += fmt::format("; {} links that {} cannot hold", tree.left_out,
                        printable(measurement.file_system));
  }
  text += '\n';
  for (const TreeDifference& one : tree.examples) {
    text += fmt::format("  {} {}\n", printable(one.path), printable(one.text));
  }
  return text;
}

std::string heading(const Result& result, const Measurement& measurement) {
  if (result.volumes.empty()) {
    return fmt::format("{} replayed without a volume", printable_line(measurement.set));
  }
  const VolumeDescription& volume = result.volumes.front();
  std::string text =
      fmt::format("{} on {}: {} ({})", measurement.set, volume.target, measurement.file_system,
                  measurement.driver == "kernel" ? "kernel driver" : "FUSE: " + measurement.driver);
  const std::string drives = describe_drives(volume);
  return printable_line(drives.empty() ? text : text + ", " + drives);
}

std::string conditions(const ReelParameters& reel) {
  std::string text = fmt::format("order {}, pace {}, engine {}", printable(reel.order),
                                 printable(reel.pace), printable(reel.engine));
  if (reel.depth > 0) text += fmt::format(" at depth {}", reel.depth);
  text += fmt::format(", verified: {}", printable(reel.verify));
  if (reel.clients > 1) text += fmt::format("; {} clients", reel.clients);
  return text + "\n";
}

}  // namespace

std::string format_replay(const Result& result, const Bold& bold) {
  std::string text;
  for (const Measurement& measurement : result.measurements) {
    const Sample* sample = typical_sample(measurement);
    if (!sample || !sample->reel || !measurement.reel) continue;
    text += bold(heading(result, measurement)) + "\n" + totals(measurement, *sample) + "\n" +
            kinds(*sample, bold) + "\n" + verdict(measurement, *sample) +
            conditions(*measurement.reel);
  }
  const std::string efficiency = format_efficiency(result, bold);
  if (!efficiency.empty()) text += "\n" + efficiency;
  if (result.plan.auto_runs) text += describe_runs(result) + "\n";
  return text + remarks(result);
}

}  // namespace filereel

#include "tools/replay_table.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "replay/report/figures.h"
#include "replay/report/wording.h"
#include "replay/results/failures.h"

namespace filereel {
namespace {

std::string duration(double us) {
  return format_duration(us * 1e-6);
}

// 10^6 bytes a second.
std::string speed(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.3g} MB/s", static_cast<double>(bytes) / 1e6 / seconds) : "-";
}

std::string totals(const Sample& sample) {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& figure) {
    text += fmt::format("{:<12} {}\n", what, figure);
  };
  const ReelSample& reel = *sample.reel;
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
  if (!sample.tree) return text;
  const TreeComparison& tree = *sample.tree;
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

std::string conditions(const ReplayParameters& how) {
  std::string text = fmt::format("order {}, pace {}, engine {}", printable(how.order),
                                 printable(how.pace), printable(how.engine));
  if (how.depth > 0) text += fmt::format(" at depth {}", how.depth);
  text += fmt::format(", verified: {}", printable(how.verify));
  if (how.clients > 1) text += fmt::format("; {} clients", how.clients);
  return text + "\n";
}

// In seconds, with what is known of how sure that is.
std::string seconds_cell(const Measurement& one, double Sample::* time) {
  const std::optional<Spread> spread = one.seconds(time);
  if (!spread) return "-";
  std::string text = format_duration(spread->median);
  if (spread->low == spread->high) return text;
  return fmt::format("{} ({} – {})", text, format_duration(spread->low),
                     format_duration(spread->high));
}

std::string interval_cell(const Measurement& one) {
  const std::optional<Spread> spread = one.seconds(&Sample::elapsed_s);
  if (!spread || !spread->interval) return "-";
  return fmt::format("{} – {}", format_duration(spread->interval->low),
                     format_duration(spread->interval->high));
}

}  // namespace

std::string replay_table(const std::vector<const Measurement*>& list, const Bold& bold) {
  const bool durable = list.front()->file_system != "none";
  Rows rows = {{"recorded trace", "time", "95 % interval", "recorded", "divergences"}};
  if (durable) rows.front().push_back("durable");
  for (const Measurement* one : list) {
    const double recorded = one->replay ? one->replay->recorded_s : 0;
    rows.push_back({printable(subject_of(*one)), seconds_cell(*one, &Sample::elapsed_s),
                    interval_cell(*one), recorded > 0 ? format_duration(recorded) : "-",
                    divergences_text(*one)});
    if (durable) rows.back().push_back(seconds_cell(*one, &Sample::durable_s));
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

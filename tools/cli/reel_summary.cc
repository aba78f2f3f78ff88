#include "tools/cli/reel_summary.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <ranges>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/json.h"
#include "tools/cli/progress.h"
#include "tools/cli/reel_output.h"
#include "tools/cli/signals.h"
#include "tools/cli/table.h"
#include "traces/check/check_text.h"
#include "traces/export/dump.h"
#include "traces/reel/reel_format.h"
#include "traces/reel/reel_reader.h"
#include "traces/reel/reel_summary.h"

namespace filereel {
namespace {

constexpr std::size_t kListed = 12;  // threads

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.0f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The kinds that occur, most frequent first.
std::vector<OperationKind> kinds_of(const ReelSummary& summary) {
  std::vector<OperationKind> kinds;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    if (summary.kinds[i].count > 0) kinds.push_back(static_cast<OperationKind>(i));
  }
  std::ranges::stable_sort(kinds, std::greater{}, [&](OperationKind kind) {
    return summary.kinds[static_cast<std::size_t>(kind)].count;
  });
  return kinds;
}

std::string describe_set(const FileSet& set) {
  const FileSetTotals totals = set.totals();
  std::string text =
      fmt::format("{}, {}, {}", counted(totals.files, "file", "files"), format_size(totals.bytes),
                  counted(totals.directories, "directory", "directories"));
  if (totals.symlinks > 0) {
    text += ", " + counted(totals.symlinks, "symbolic link", "symbolic links");
  }
  if (totals.hard_links > 0) text += ", " + counted(totals.hard_links, "hard link", "hard links");
  return text;
}

std::string describe_pattern(const AccessCounts& pattern) {
  return fmt::format("{} of {}, {} sequential ({} of the bytes)",
                     counted(pattern.accesses, "access", "accesses"), format_size(pattern.bytes),
                     percent(pattern.sequential, pattern.accesses),
                     percent(pattern.sequential_bytes, pattern.bytes));
}

std::string kind_table(const ReelSummary& summary, bool timed) {
  Rows rows = {{"operation", "count", "share", "errors", "bytes"}};
  if (timed) rows[0].push_back("time");
  for (const OperationKind kind : kinds_of(summary)) {
    const ReelSummary::Kind& one = summary.kinds[static_cast<std::size_t>(kind)];
    Row& row = rows.emplace_back();
    row = {std::string(operation_info(kind).name), fmt::format("{}", one.count),
           percent(one.count, summary.operations),
           one.errors > 0 ? fmt::format("{}", one.errors) : "-",
           one.bytes > 0 ? format_size(one.bytes) : "-"};
    if (timed) {
      row.push_back(one.total_ns > 0 ? format_duration(static_cast<double>(one.total_ns) * 1e-9)
                                     : "-");
    }
  }
  return format_columns(rows);
}

std::string thread_table(const TraceInfo& info) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < info.threads.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return info.threads[i].operations; });
  Rows rows = {{"thread", "process", "parent", "operations", "program"}};
  for (const std::size_t i : order | std::views::take(kListed)) {
    const TraceThread& thread = info.threads[i];
    rows.push_back(
        {fmt::format("{}", i), fmt::format("{}", thread.process),
         thread.parent == TraceThread::kNoParent ? "-" : fmt::format("{}", thread.parent),
         fmt::format("{}", thread.operations), printable(thread.name, 40)});
  }
  std::string text = format_columns(rows);
  if (order.size() > kListed) text += fmt::format("and {} more\n", order.size() - kListed);
  return text;
}

std::string describe(const std::string& path, const ReelReader& reader, const ReelSummary& summary,
                     const Session& session) {
  const TraceInfo& info = reader.info();
  std::string text = session.bold(printable_line(base_name(path)), STDOUT_FILENO) + "\n";
  const auto line = [&](std::string_view what, const std::string& finding) {
    text += wrapped(fmt::format("{:<16} {}", what, finding), 17);
  };
  if (!info.complete) {
    text += "TRUNCATED: the file is incomplete; the figures cover its complete blocks\n";
  }
  for (const auto& [name, value] : info.facts) line(printable(name, 16), printable(value));
  line("operations",
       fmt::format("{}, including {}", summary.operations, counted(summary.calls, "call")));
  if (info.timed) line("duration", format_duration(static_cast<double>(info.duration_ns) * 1e-9));
  if (info.recorder_ns > 0) {
    line("overhead",
         fmt::format("{} ns of the recorder between two calls of a thread", info.recorder_ns));
  }
  if (info.waits) line("waits", "recorded: pace think repeats the work between operations");
  line("threads", fmt::format("{}", info.threads.size()));
  line("files", fmt::format("{}", info.files));
  line("before", describe_set(reader.trees().initial));
  line("absent", counted(reader.trees().absent, "path", "paths"));
  line("after", describe_set(reader.trees().final));
  line("reads", describe_pattern(summary.reads));
  line("writes", describe_pattern(summary.writes));
  line("syncs", fmt::format("{}", summary.syncs));
  if (summary.asynchronous > 0) line("asynchronous", fmt::format("{}", summary.asynchronous));
  std::string errors = fmt::format("{}", summary.errors);
  for (const auto& [number, count] : summary.errors_by_number) {
    errors += fmt::format(", {} {}", count, errno_name(number));
  }
  line("failed calls", errors);
  text += "\n" + kind_table(summary, info.timed) + "\n" + thread_table(info);
  for (const auto& [reason, count] : info.lost) {
    text += wrapped(fmt::format("not in the trace: {} ({})", printable(reason), count), 2);
  }
  for (const auto& [reason, count] : info.approximated) {
    text += wrapped(fmt::format("approximated: {} ({})", printable(reason), count), 2);
  }
  for (const std::string& told : describe_check(info.check)) {
    text += wrapped(told, told.starts_with(" ") ? 4 : 2);
  }
  return text;
}

Json to_json(const AccessCounts& pattern) {
  return {{"accesses", pattern.accesses},
          {"bytes", pattern.bytes},
          {"sequential_share", share(pattern.sequential, pattern.accesses)},
          {"sequential_bytes_share", share(pattern.sequential_bytes, pattern.bytes)}};
}

Json to_json(const FileSet& set) {
  const FileSetTotals totals = set.totals();
  return {{"files", totals.files},
          {"bytes", totals.bytes},
          {"directories", totals.directories},
          {"symlinks", totals.symlinks},
          {"hard_links", totals.hard_links}};
}

Json to_json(const RecordingCheck& check) {
  return {{"done", check.done},
          {"why_not", check.why_not},
          {"names", check.names},
          {"unchecked", check.unchecked},
          {"differing", check.differing},
          {"changed_later", check.changed_later},
          {"by_others", check.by_others},
          {"writes", check.writes},
          {"differences", check.differences},
          {"others", check.others}};
}

Json to_json(const ReelReader& reader, const ReelSummary& summary) {
  const TraceInfo& info = reader.info();
  Json json = {{"kind", "reel"},
               {"reel_version", reader.version()},
               {"complete", info.complete},
               {"facts", info.facts},
               {"timed", info.timed},
               {"duration_s", static_cast<double>(info.duration_ns) * 1e-9},
               {"recorder_ns", info.recorder_ns},
               {"waits", info.waits},
               {"operations", summary.operations},
               {"calls", summary.calls},
               {"asynchronous", summary.asynchronous},
               {"files", info.files},
               {"bytes_read", info.bytes_read},
               {"bytes_written", info.bytes_written},
               {"initial", to_json(reader.trees().initial)},
               {"absent", reader.trees().absent},
               {"final", to_json(reader.trees().final)},
               {"reads", to_json(summary.reads)},
               {"writes", to_json(summary.writes)},
               {"syncs", summary.syncs},
               {"errors", Json::object()},
               {"kinds", Json::object()},
               {"threads", Json::array()},
               {"lost", info.lost},
               {"approximated", info.approximated},
               {"check", to_json(info.check)}};
  for (const auto& [number, count] : summary.errors_by_number) {
    json["errors"][errno_name(number)] = count;
  }
  for (const OperationKind kind : kinds_of(summary)) {
    const ReelSummary::Kind& one = summary.kinds[static_cast<std::size_t>(kind)];
    json["kinds"][std::string(operation_info(kind).name)] = {
        {"count", one.count},
        {"errors", one.errors},
        {"bytes", one.bytes},
        {"total_s", static_cast<double>(one.total_ns) * 1e-9}};
  }
  for (const TraceThread& thread : info.threads) {
    Json one = {{"process", thread.process}, {"thread", thread.thread}};
    if (thread.parent != TraceThread::kNoParent) one["parent"] = thread.parent;
    one["name"] = thread.name;
    one["operations"] = thread.operations;
    json["threads"].push_back(std::move(one));
  }
  return json;
}

std::optional<ReelSummary> summarise(ReelReader& reader, Session& session) {
  const SignalWatch signals;
  std::atomic<std::uint64_t> read = 0;
  WatchedSource source(reader, read, signals.token());
  ReelSummary summary;
  {
    const ProgressLine line(
        session, [&] { return counted_of(read.load(), reader.info().operations, "operation"); });
    summary = summarise_trace(source, reader.info(), signals.token());
  }
  if (!signals.requested()) return summary;
  session.notice("filereel: interrupted");
  session.exit_code = Session::kInterrupted;
  return {};
}

}  // namespace

std::optional<std::string> describe_reel(ReelReader& reader, const std::string& name,
                                         Session& session) {
  const auto summary = summarise(reader, session);
  return summary ? std::optional(describe(name, reader, *summary, session)) : std::nullopt;
}

std::optional<Json> reel_to_json(ReelReader& reader, Session& session) {
  const auto summary = summarise(reader, session);
  return summary ? std::optional(to_json(reader, *summary)) : std::nullopt;
}

void dump_reel(ReelReader& reader, const std::string& name, Session& session) {
  constexpr std::size_t kPiece = 64 << 10;
  std::vector<RecordedOperation> batch(1024);
  std::string text;
  for (bool more = true; more;) {
    const std::size_t filled = reader.next(batch);
    more = filled > 0;
    for (std::size_t i = 0; i < filled; ++i) {
      append_dump_line(batch[i], reader.tables(), reader.info().timed, text);
    }
    if (text.size() < kPiece && more) continue;
    if (!session.pipe(printable_lines(text))) return;
    text.clear();
  }
  if (!reader.info().complete) {
    session.notice(fmt::format("{} is truncated: its complete blocks have {}", name,
                               counted(reader.info().operations, "operation")));
  }
}

}  // namespace filereel

#include "tools/cli/reel_output.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "tools/cli/table.h"
#include "traces/check/check_text.h"
#include "traces/recorded_trace.h"

namespace filereel {

std::size_t WatchedSource::next(std::span<RecordedOperation> out) {
  if (stop_.stop_requested()) return 0;
  const std::size_t filled = source_.next(out);
  count_.fetch_add(filled, std::memory_order_relaxed);
  return filled;
}

ReelOutput::ReelOutput(const std::string& path, const ReelWriterOptions& options)
    : path_(path), writer_(path, tables_, options), builder_(tables_, *this) {}

void ReelOutput::add(const RecordedOperation& operation) {
  writer_.add(operation);
  last_.add(operation);
  if (samples_) samples_->add(operation);
  count_.fetch_add(1, std::memory_order_relaxed);
  const Operation& op = operation.operation;
  if (operation_info(op.kind).is_call) in_files_ns_ += operation.duration_ns;
  if (op.kind == OperationKind::wait && op.flags == wait_flags::kForOutside) {
    outside_ns_ += operation.duration_ns;
  }
  if (op.kind == OperationKind::wait && op.flags != wait_flags::kForRecorder) {
    const bool ready = op.flags == wait_flags::kForProcessor;
    ready_ns_ += operation.duration_ns - (ready ? 0 : std::min(op.length, operation.duration_ns));
  }
  if (operation_info(op.kind).moves_data && op.expected > 0) {
    bytes_.fetch_add(static_cast<std::uint64_t>(op.expected), std::memory_order_relaxed);
  }
}

const RecordingCheck& ReelOutput::check(const CheckRequest& request) {
  const RecordingCheck& made = builder_.info().check;
  if (made.why_not.empty()) {
    const CheckOutcome outcome = check_recording({.model = builder_.model(),
                                                  .tables = tables_,
                                                  .last = last_,
                                                  .content = samples_ ? &*samples_ : nullptr},
                                                 request);
    builder_.checked(outcome.check);
    for (const TreeModel::ExistingFile& file : outcome.existing) {
      builder_.model().learn_existing(file);
    }
  }
  return made;
}

TraceInfo ReelOutput::complete(bool timed, const Session& session) {
  TraceInfo info = builder_.info();
  info.timed = timed;
  if (marks_clients_ && works_elsewhere(info)) {
    info.facts.emplace(kClientFact,
                       "the program mostly waited, and hardly used files: if a server uses them "
                       "for it, record the server (--pid)");
  }
  const std::string elsewhere = writer_.finish(info, builder_.trees());
  if (!elsewhere.empty()) {
    session.warn(elsewhere);
    path_ = writer_.path();
  }
  return info;
}

void ReelOutput::finish(bool timed, const Session& session) {
  if (path_ == "-") return finish_quietly(timed, session);
  const TraceInfo info = complete(timed, session);
  session.print(fmt::format("{}: {}\n", printable_line(path_), describe_trace(info)));
  remark(info, session);
}

void ReelOutput::finish_quietly(bool timed, const Session& session) {
  const TraceInfo info = complete(timed, session);
  session.notice(
      fmt::format("{}: {}", path_ == "-" ? "standard output" : path_, describe_trace(info)));
  remark(info, session);
}

// Such as the client of a database: it waits for a socket, and another program uses the files.
bool ReelOutput::works_elsewhere(const TraceInfo& info) const {
  constexpr double kMuch = 0.5, kLittle = 0.02;
  const auto all = static_cast<double>(info.duration_ns);
  return info.timed && static_cast<double>(outside_ns_) > kMuch * all &&
         static_cast<double>(in_files_ns_) < kLittle * all;
}

void ReelOutput::remark(const TraceInfo& info, const Session& session) const {
  for (const std::string& remark : recording_remarks(info)) session.notice(remark);
  notice_of_losses(info, session);
  if (samples_ && info.check.done && info.check.writes == 0) {
    session.notice("content not compared with reality: no write could be compared");
  }
}

bool checks_content(const std::string& what) {
  constexpr std::array<std::string_view, 2> kKinds = {"tree", "content"};
  if (!contains(kKinds, what)) {
    throw Error(ErrorKind::usage,
                fmt::format("unknown check '{}'{}", printable(what), use_one_of(what, kKinds)));
  }
  return what == "content";
}

void notice_of_losses(const TraceInfo& info, const Session& session) {
  for (const auto& [reason, count] : info.lost) {
    session.notice(fmt::format("not in the trace: {} ({})", printable(reason), count));
  }
  if (const auto line = info.facts.find(std::string(kUnrecognisedFact)); line != info.facts.end()) {
    session.notice(fmt::format("the first unrecognised line: {}", printable(line->second)));
  }
  for (const auto& [reason, count] : info.approximated) {
    session.notice(fmt::format("approximated: {} ({})", printable(reason), count));
  }
  for (const std::string_view name : {kStoppedFact, kThrottledFact}) {
    const auto fact = info.facts.find(std::string(name));
    if (fact == info.facts.end()) continue;
    session.notice(
        fmt::format("{}, so predictions from this reel have no known accuracy; record "
                    "again without it",
                    printable(fact->second)));
  }
  for (const std::string& line : describe_check(info.check)) session.notice(line);
}

}  // namespace filereel

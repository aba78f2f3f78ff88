#include "traces/model/trace_builder.h"

#include <algorithm>
#include <climits>
#include <functional>

#include <fmt/format.h>
#include <xxhash.h>

#include "filesets/file_set.h"
#include "filesets/system/units.h"

namespace filereel {

void TraceCounter::add(const RecordedOperation& recorded) {
  const Operation& op = recorded.operation;
  const OperationInfo& kind = operation_info(op.kind);
  const bool copies = op.kind == OperationKind::copy_range;
  if (op.thread >= counts_.threads.size()) counts_.threads.resize(std::size_t{op.thread} + 1);
  TraceThread& thread = counts_.threads[op.thread];
  if (thread.operations++ == 0) thread.first = op.position;
  thread.last = op.position;
  ++counts_.operations;
  ++counts_.by_kind[static_cast<std::size_t>(op.kind)];
  if (kind.moves_data && op.expected > 0) {
    const auto moved = static_cast<std::uint64_t>(op.expected);
    if (op.kind != OperationKind::write) counts_.bytes_read += moved;
    if (op.kind != OperationKind::read) counts_.bytes_written += moved;
  }
  if (kind.moves_data && !copies) {
    counts_.largest_io = std::max(counts_.largest_io, std::min(op.length, kMaxTransfer));
  }
  if (op.file != kNoFile) counts_.slots = std::max(counts_.slots, op.file + 1);
  if (op.source != kNoFile) {
    std::uint32_t& numbers = copies ? counts_.slots : counts_.mappings;
    numbers = std::max(numbers, op.source + 1);
  }
  if (op.entry != kNoFileId) counts_.files = std::max(counts_.files, op.entry + 1);
  begin_ = std::min(begin_, recorded.start_ns);
  end_ = std::max(end_, recorded.start_ns + recorded.duration_ns);
}

void TraceCounter::fill(TraceInfo& info) const {
  info.operations = counts_.operations;
  info.by_kind = counts_.by_kind;
  info.bytes_read = counts_.bytes_read;
  info.bytes_written = counts_.bytes_written;
  info.duration_ns = counts_.operations == 0 ? 0 : end_ - begin_;
  info.slots = std::max(info.slots, counts_.slots);
  info.mappings = std::max(info.mappings, counts_.mappings);
  info.files = std::max(info.files, counts_.files);
  info.largest_io = counts_.largest_io;
  if (info.threads.size() < counts_.threads.size()) info.threads.resize(counts_.threads.size());
  for (TraceThread& thread : info.threads) thread.operations = thread.first = thread.last = 0;
  for (std::size_t i = 0; i < counts_.threads.size(); ++i) {
    info.threads[i].operations = counts_.threads[i].operations;
    info.threads[i].first = counts_.threads[i].first;
    info.threads[i].last = counts_.threads[i].last;
  }
}

namespace {

constexpr std::size_t kKeptOfLongName = 200;

FileSlot take(std::vector<FileSlot>& free, std::uint32_t& end) {
  if (free.empty()) return end++;
  std::ranges::pop_heap(free, std::greater{});
  const FileSlot slot = free.back();
  free.pop_back();
  return slot;
}

void give_back(std::vector<FileSlot>& free, FileSlot slot) {
  free.push_back(slot);
  std::ranges::push_heap(free, std::greater{});
}

}  // namespace

TraceBuilder::TraceBuilder(TraceTables& tables, OperationSink& sink)
    : tables_(tables), sink_(sink), model_(tables) {}

PathId TraceBuilder::path(std::string_view path) {
  path = path.substr(0, path.find('\0'));  // the kernel stops reading here
  PathId at = PathTable::root(Role::near);
  std::size_t length = 0;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      length -= std::min(length, tables_.paths.node(at).name.size() + 1);
      at = tables_.paths.node(at).parent;
      continue;
    }
    if (name.size() > kMaxComponent) {
      approximated("names over 255 bytes");
      at = tables_.paths.add(at, fmt::format("{}{:016x}", name.substr(0, kKeptOfLongName),
                                             XXH3_64bits(name.data(), name.size())));
    } else {
      at = tables_.paths.add(at, name);
    }
    length += tables_.paths.node(at).name.size() + 1;
  }
  if (length > PATH_MAX + 1) approximated("paths over 4096 bytes");
  return at;
}

std::uint32_t TraceBuilder::add_thread(const TraceThread& thread) {
  info_.threads.push_back(thread);
  last_starts_.push_back(0);
  return static_cast<std::uint32_t>(info_.threads.size() - 1);
}

FileSlot TraceBuilder::take_slot() {
  return take(free_slots_, info_.slots);
}
void TraceBuilder::free_slot(FileSlot slot) {
  give_back(free_slots_, slot);
}
FileSlot TraceBuilder::take_mapping() {
  return take(free_mappings_, info_.mappings);
}
void TraceBuilder::free_mapping(FileSlot mapping) {
  give_back(free_mappings_, mapping);
}

void TraceBuilder::add(RecordedOperation recorded) {
  Operation& operation = recorded.operation;
  operation.position = counter_.operations();
  std::uint64_t& last_start = last_starts_.at(operation.thread);
  recorded.start_ns = last_start = std::max(last_start, recorded.start_ns);
  model_.apply(operation);
  counter_.add(recorded);
  sink_.add(recorded);
}

void TraceBuilder::lost(std::string_view what, std::uint64_t count) {
  info_.lost[std::string(what)] += count;
}

void TraceBuilder::approximated(std::string_view what, std::uint64_t count) {
  info_.approximated[std::string(what)] += count;
}

void TraceBuilder::fact(std::string_view name, std::string_view value) {
  info_.facts[std::string(name)] = value;
}

void TraceBuilder::stopped(std::uint64_t ns) {
  if (ns == 0) return;
  fact(kStoppedFact, fmt::format("SIGSTOP or Ctrl-Z stopped the program for {}",
                                 format_duration(static_cast<double>(ns) * 1e-9)));
}

void TraceBuilder::recorder_added(std::uint32_t ns) {
  info_.recorder_ns = std::max(info_.recorder_ns, ns);
}

void TraceBuilder::waits_recorded(bool recorded) {
  info_.waits = recorded && !some_without_waits_;
  some_without_waits_ = !info_.waits;
}

void TraceBuilder::add_check(const RecordingCheck& check) {
  RecordingCheck& sum = info_.check;
  sum.done |= check.done;
  if (!check.done || sum.why_not.empty()) sum.why_not = check.why_not;
  sum.names += check.names;
  sum.unchecked += check.unchecked;
  sum.differing += check.differing;
  sum.changed_later += check.changed_later;
  sum.by_others += check.by_others;
  sum.writes += check.writes;
}

const TraceInfo& TraceBuilder::info() {
  counter_.fill(info_);
  info_.files = model_.files();
  info_.timed = counter_.end_ns() != 0;
  return info_;
}

}  // namespace filereel

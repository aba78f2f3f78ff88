#include "traces/model/trace_builder.h"

#include <algorithm>
#include <climits>
#include <functional>

#include <fmt/format.h>
#include <xxhash.h>

namespace filereel {
namespace {

constexpr std::size_t kMaxComponent = 255;  // bytes: NAME_MAX of every Linux file system
constexpr std::size_t kKeptOfLongName = 200;
constexpr std::uint64_t kMaxIo = 0x7ffff000;  // Linux moves no more in one call

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
  path = path.substr(0, path.find('\0'));  // where the kernel stops reading
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
  TraceThread& thread = info_.threads.at(operation.thread);
  operation.position = info_.operations++;
  if (thread.operations++ == 0) thread.first = operation.position;
  thread.last = operation.position;

  std::uint64_t& last_start = last_starts_[operation.thread];
  recorded.start_ns = last_start = std::max(last_start, recorded.start_ns);
  begin_ns_ = std::min(begin_ns_, recorded.start_ns);
  end_ns_ = std::max(end_ns_, recorded.start_ns + recorded.duration_ns);

  model_.apply(operation);
  ++info_.by_kind[static_cast<std::size_t>(operation.kind)];
  count_data(operation);
  sink_.add(recorded);
}

void TraceBuilder::count_data(const Operation& operation) {
  using enum OperationKind;
  const bool io = operation.kind == read || operation.kind == write;
  if (io) info_.largest_io = std::max(info_.largest_io, std::min(operation.length, kMaxIo));
  if (operation.expected > 0) {
    const auto bytes = static_cast<std::uint64_t>(operation.expected);
    if (operation.kind == read || operation.kind == copy_range) info_.bytes_read += bytes;
    if (operation.kind == write || operation.kind == copy_range) info_.bytes_written += bytes;
  }
  if (operation.file != kNoFile) info_.slots = std::max(info_.slots, operation.file + 1);
  if (operation.source != kNoFile && operation.kind != copy_range && operation.kind != await) {
    info_.mappings = std::max(info_.mappings, operation.source + 1);
  }
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

const TraceInfo& TraceBuilder::info() {
  info_.files = model_.files();
  info_.duration_ns = end_ns_ - std::min(begin_ns_, end_ns_);
  info_.timed = end_ns_ != 0;
  return info_;
}

}  // namespace filereel

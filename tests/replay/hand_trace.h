// Recorded traces written by hand, and what a schedule makes of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "replay/schedule/schedule.h"
#include "tests/traces/recorded.h"
#include "traces/recorded_trace.h"

struct HandTrace {
  filereel::TraceTables tables;
  filereel::TraceInfo info;
  VectorRecordedSource source;

  // The next operation of the trace, to be completed by the caller before the next one. `path` may
  // be empty.
  filereel::Operation& add(std::uint32_t thread, filereel::OperationKind kind,
                           std::string_view path = {}) {
    filereel::RecordedOperation recorded;
    recorded.operation.kind = kind;
    recorded.operation.thread = thread;
    recorded.operation.position = source.operations.size();
    if (!path.empty()) recorded.operation.path = this->path(path);
    source.operations.push_back(recorded);
    return source.operations.back().operation;
  }
  filereel::PathId path(std::string_view text) {
    return tables.paths.add(filereel::Role::near, text);
  }

  void open(std::uint32_t thread, filereel::FileSlot slot, std::string_view path,
            filereel::FileId entry, std::uint32_t flags = O_RDWR) {
    filereel::Operation& op = add(thread, filereel::OperationKind::open, path);
    op.file = slot;
    op.entry = entry;
    op.flags = flags;
    op.mode = 0644;
  }
  void close(std::uint32_t thread, filereel::FileSlot slot, filereel::FileId entry) {
    filereel::Operation& op = add(thread, filereel::OperationKind::close);
    op.file = slot;
    op.entry = entry;
  }
  filereel::Operation& on(std::uint32_t thread, filereel::OperationKind kind,
                          filereel::FileSlot slot, filereel::FileId entry, std::uint64_t offset = 0,
                          std::uint64_t length = 0) {
    filereel::Operation& op = add(thread, kind);
    op.file = slot;
    op.entry = entry;
    op.offset = offset;
    op.length = length;
    if (filereel::operation_info(kind).moves_data) {
      op.expected = static_cast<std::int64_t>(length);
    }
    return op;
  }
  filereel::Operation& rename(std::uint32_t thread, std::string_view from, std::string_view to) {
    filereel::Operation& op = add(thread, filereel::OperationKind::rename, to);
    op.old_path = path(from);
    return op;
  }

  // Fills in what follows from the operations; to be called before they are scheduled.
  void finish() {
    for (const filereel::RecordedOperation& recorded : source.operations) {
      const filereel::Operation& op = recorded.operation;
      if (op.thread >= info.threads.size()) info.threads.resize(op.thread + 1);
      filereel::TraceThread& thread = info.threads[op.thread];
      if (thread.operations++ == 0) thread.first = op.position;
      thread.last = op.position;
      if (op.kind == filereel::OperationKind::fork && op.second >= info.threads.size()) {
        info.threads.resize(op.second + 1);
      }
      ++info.by_kind[static_cast<std::size_t>(op.kind)];
      ++info.operations;
      if (op.file != filereel::kNoFile) info.slots = std::max(info.slots, op.file + 1);
      if (op.source != filereel::kNoFile) {
        info.slots = std::max(info.slots, op.source + 1);
        info.mappings = std::max(info.mappings, op.source + 1);
      }
      if (op.entry != filereel::kNoFileId) info.files = std::max(info.files, op.entry + 1);
      info.largest_io = std::max(info.largest_io, op.length);
    }
  }
};

// The lanes of a schedule, run to their ends in the order that they allow.
struct CompiledLanes {
  std::vector<std::vector<filereel::Operation>> lanes;
  std::uint64_t awaits = 0;
  bool finished = false;  // no lane waits for what never comes

  explicit CompiledLanes(filereel::Schedule& schedule) {
    filereel::Trace trace = schedule.trace();
    lanes.resize(trace.threads.size());
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      std::array<filereel::Operation, 7> some;
      while (const std::size_t count = trace.threads[lane]->next(some)) {
        lanes[lane].insert(lanes[lane].end(), some.begin(),
                           some.begin() + static_cast<std::ptrdiff_t>(count));
      }
    }
    run();
  }

  // Whether every replay does the operation at position `a` before it begins the one at `b`.
  bool before(std::uint64_t a, std::uint64_t b) const { return known_[b][lane_[a]] >= count_[a]; }
  // The awaits directly before the operation at `position`.
  std::vector<filereel::Operation> awaits_of(std::uint64_t position) const {
    std::vector<filereel::Operation> result;
    for (const filereel::Operation& op : lanes[lane_[position]]) {
      if (op.position == position && op.kind == filereel::OperationKind::await) {
        result.push_back(op);
      }
    }
    return result;
  }
  std::uint32_t lane_of(std::uint64_t position) const { return lane_[position]; }

 private:
  using Clock = std::vector<std::uint64_t>;

  void run() {
    using filereel::OperationKind;
    std::vector<Clock> clocks(lanes.size(), Clock(lanes.size()));
    std::vector<std::size_t> next(lanes.size());
    std::vector<std::vector<Clock>> ends(lanes.size());  // by lane and count
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        for (; next[lane] < lanes[lane].size(); ++next[lane], moved = true) {
          const filereel::Operation& op = lanes[lane][next[lane]];
          if (op.kind == OperationKind::pace) continue;
          Clock& clock = clocks[lane];
          if (op.kind == OperationKind::await) {
            if (ends[op.source].size() < op.second) break;
            ++awaits;
            const Clock& other = ends[op.source][op.second - 1];
            for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
            continue;
          }
          if (op.position >= known_.size()) {
            known_.resize(op.position + 1);
            lane_.resize(op.position + 1);
            count_.resize(op.position + 1);
          }
          known_[op.position] = clock;
          lane_[op.position] = lane;
          count_[op.position] = ends[lane].size() + 1;
          clock[lane] = ends[lane].size() + 1;
          ends[lane].push_back(clock);
        }
      }
    }
    finished = true;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      finished = finished && next[i] == lanes[i].size();
    }
  }

  std::vector<Clock> known_;  // by position: what is done when it begins
  std::vector<std::uint32_t> lane_;
  std::vector<std::uint64_t> count_;
};

inline CompiledLanes compile(HandTrace& trace, const filereel::ScheduleOptions& options = {}) {
  trace.finish();
  filereel::Schedule schedule(trace.source, trace.tables, trace.info, options);
  CompiledLanes lanes(schedule);
  schedule.check();
  CHECK(lanes.finished);
  return lanes;
}

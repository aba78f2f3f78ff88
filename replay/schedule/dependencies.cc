// Turns each operation into the moments that it must wait for: a lane, and a number of its
// operations. docs/replay.md lists the rules. They are those of ROOT (Weiss et al., SOSP 2013),
// whose idea is that operations need the order of the trace only where they use the same resource:
// an open file, a name, bytes of a file, attributes, a lock.
//
// The results in the trace decide what an operation is (`expected`). An unlink that failed has only
// looked at the name. So it is ordered as a reader: the name must still be as the operation found
// it, and two such operations need no order. A missing rule shows as divergences that come and go.
// A superfluous one makes the replay slow, which nothing reports.
//
// Invariants:
// - Operations come in the order of the trace, each once, with the moment of its completion. All
//   waits are for earlier operations. So the first incomplete operation of the trace can always
//   continue, and a replay cannot deadlock, whatever the rules. A rule that needs a later operation
//   would break that.
// - rename_slots() comes first: all rules use the new numbers of open files and mappings.
// - An operation enters itself into the state after it has asked for its waits. HappensBefore
//   ignores a lane's own moments, so an operation on two names of one directory does not wait for
//   itself.
// - known_.take() comes last: begin() and take() enclose the rules of one operation.
//
// State grows with what the trace uses (files, names, open files), not with its length; pieces of
// data are bounded (resource_dependencies.cc). One thread owns all of it: the feeder's.
#include "replay/schedule/dependencies.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>

namespace filereel {

// A number is in two lists while it is free: of all free numbers, and of those freed by the same
// lane. Both are in the order of freeing and are linked through one array, so that each step takes
// constant time and no memory. The number freed first is taken first, because its close is the most
// likely one to be complete when the open begins. The first of all is therefore the first of its
// lane, too, which take_out() relies on.
//
// Sizes: a number for each open file of the trace, the spare ones, one for opens that fail while
// all others are in use, and never_opened(), which is in no list. With these, take() always finds
// one.

// One more than can be open, for opens that fail.
SlotRenaming::SlotRenaming(std::size_t slots, std::size_t spare, std::size_t lanes)
    : numbers_(slots + spare + 2), free_of_lane_(lanes) {
  renamed_.assign(slots, never_opened());
}

FileSlot SlotRenaming::opened(FileSlot slot, std::uint32_t lane) {
  if (slot >= renamed_.size()) return failed(lane);
  if (renamed_[slot] != never_opened()) give_back(renamed_[slot], lane);
  return renamed_[slot] = take(lane);
}

FileSlot SlotRenaming::closed(FileSlot slot, std::uint32_t lane) {
  if (slot >= renamed_.size()) return never_opened();
  const FileSlot was = std::exchange(renamed_[slot], never_opened());
  if (was != never_opened()) give_back(was, lane);
  return was;
}

FileSlot SlotRenaming::failed(std::uint32_t lane) {
  const FileSlot number = take(lane);
  give_back(number, lane);
  return number;
}

FileSlot SlotRenaming::take(std::uint32_t lane) {
  FileSlot number = free_of_lane_[lane].first;
  if (number == kNone) {
    if (unused_ != never_opened()) return unused_++;
    number = free_.first;
  }
  take_out(number);
  return number;
}

// `number` is the first free one of its lane.
void SlotRenaming::take_out(FileSlot number) {
  const Number& it = numbers_[number];
  Ends& own = free_of_lane_[it.lane];
  own.first = it.after_in_lane;
  if (own.first == kNone) own.last = kNone;
  (it.before == kNone ? free_.first : numbers_[it.before].after) = it.after;
  (it.after == kNone ? free_.last : numbers_[it.after].before) = it.before;
}

void SlotRenaming::give_back(FileSlot number, std::uint32_t lane) {
  Ends& own = free_of_lane_[lane];
  numbers_[number] = {.before = free_.last, .lane = lane};
  (free_.last == kNone ? free_.first : numbers_[free_.last].after) = number;
  (own.last == kNone ? own.first : numbers_[own.last].after_in_lane) = number;
  free_.last = own.last = number;
}

namespace {

std::uint64_t moved(const Operation& op) {
  return std::max(op.length, op.expected > 0 ? static_cast<std::uint64_t>(op.expected) : 0);
}

// A read that reached the end of the file must not run after the file has grown.
ByteRange read_range(const Operation& op) {
  const bool met_end = op.expected >= 0 && static_cast<std::uint64_t>(op.expected) < op.length;
  return met_end ? ByteRange::from(op.offset) : ByteRange::of(op.offset, op.length);
}

ByteRange allocated_range(const Operation& op) {
  const bool moves_the_rest = (op.flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0;
  return moves_the_rest ? ByteRange::from(op.offset) : ByteRange::of(op.offset, op.length);
}

}  // namespace

Dependencies::Dependencies(Order order, const TraceTables& tables, const TraceInfo& info,
                           std::size_t lanes, Spare spare)
    : order_(order),
      known_(lanes),
      slots_(info.slots, spare.slots, lanes),
      mappings_(info.mappings, spare.mappings, lanes),
      open_files_(slots_.size(), known_),
      open_mappings_(mappings_.size(), known_),
      data_(known_),
      changes_(lanes),
      threads_(info.threads.size()) {
  if (order == Order::resource) names_.emplace(tables.paths, known_);
}

std::span<const LanePosition> Dependencies::add(Operation& op, LanePosition now) {
  known_.begin(now);
  rename_slots(op, now.lane());
  add_threads(op, now);
  if (order_ == Order::strict) known_.need(previous_);
  if (order_ == Order::resource) add_resources(op, now);
  previous_ = now;
  return known_.take();
}

void Dependencies::rename_slots(Operation& op, std::uint32_t lane) {
  const bool succeeded = op.expected >= 0;
  switch (op.kind) {
    case OperationKind::open:
      if (op.file != kNoFile)
        op.file = succeeded ? slots_.opened(op.file, lane) : slots_.failed(lane);
      return;
    case OperationKind::close:
      op.file = slots_.closed(op.file, lane);
      return;
    case OperationKind::map:
      op.file = slots_.used(op.file);
      op.source = succeeded ? mappings_.opened(op.source, lane) : mappings_.failed(lane);
      return;
    case OperationKind::unmap:
      op.source = mappings_.closed(op.source, lane);
      return;
    case OperationKind::sync_map:
    case OperationKind::fault:
      op.source = mappings_.used(op.source);
      return;
    case OperationKind::copy_range:
      op.file = slots_.used(op.file);
      op.source = slots_.used(op.source);
      return;
    default:
      if (op.file != kNoFile) op.file = slots_.used(op.file);
      return;
  }
}

void Dependencies::add_threads(const Operation& op, LanePosition now) {
  Thread& own = threads_[op.thread];
  if (own.last.is_beginning()) known_.need(own.forked);
  own.last = now;
  if (op.second >= threads_.size()) return;
  if (op.kind == OperationKind::fork) threads_[op.second].forked = now;
  if (op.kind == OperationKind::join && op.second != op.thread) {
    known_.need(threads_[op.second].last);
  }
  if (op.kind == OperationKind::wake) threads_[op.second].woken = now;
  if (op.kind == OperationKind::wait && op.flags == wait_flags::kForThread) {
    // A thread that wakes others while it ends does so after its last operation.
    const LanePosition woken = std::exchange(own.woken, LanePosition());
    known_.need(woken.is_beginning() ? threads_[op.second].last : woken);
  }
}

void Dependencies::add_resources(const Operation& op, LanePosition now) {
  if (names_->add(op, now)) changes_[now.lane()] = now;
  OpenFile* open = add_open_file(op, now);
  // A removed directory cannot be listed, even if it is open.
  if (op.kind == OperationKind::list && open && open->path != PathTable::kNone) {
    names_->read(open->path, now);
  }
  add_data(op, open, now);
  add_attributes(op, now);
  if (op.kind == OperationKind::lock) {
    if (open) open->locked = true;
    add_lock(op.entry, now);
  }
}

Dependencies::OpenFile* Dependencies::add_open_file(const Operation& op, LanePosition now) {
  if (op.file == kNoFile) return nullptr;
  switch (op.kind) {
    case OperationKind::open: {
      OpenFile& open = open_files_.open(op.file, now);
      if (op.expected < 0) {
        open.closed = now;
        return nullptr;
      }
      open.path = op.path;
      open.entry = op.entry;
      if (op.entry != kNoFileId) open.data = &data_.file(op.entry);
      return &open;
    }
    case OperationKind::close: {
      OpenFile& open = open_files_.close(op.file, now);
      if (open.locked) add_lock(open.entry, now);
      return &open;
    }
    default:
      return &open_files_.use(op.file, now);
  }
}

DataDependencies::File* Dependencies::data_of(const Operation& op, const OpenFile* open) {
  if (open) return open->data;
  return op.entry == kNoFileId ? nullptr : &data_.file(op.entry);
}

void Dependencies::write(DataDependencies::File* file, ByteRange range, LanePosition now) {
  changes_[now.lane()] = now;
  if (file) data_.write(*file, range, now);
}

void Dependencies::add_data(const Operation& op, OpenFile* open, LanePosition now) {
  DataDependencies::File* const file = data_of(op, open);
  const bool succeeded = op.expected >= 0;
  switch (op.kind) {
    case OperationKind::read:
      if (!file) return;
      if (op.hole) data_.need_writes(*file);  // one of them extended the file this far
      data_.read(*file, read_range(op), now);
      return;
    case OperationKind::seek:
      if (file) data_.read(*file, ByteRange::from(op.offset), now);
      return;
    case OperationKind::write:
      if (succeeded) write(file, ByteRange::of(op.offset, moved(op)), now);
      return;
    case OperationKind::copy_range: {
      const OpenFile& source = open_files_.use(op.source, now);
      if (source.data) data_.read(*source.data, ByteRange::of(op.second, moved(op)), now);
      if (succeeded) write(file, ByteRange::of(op.offset, moved(op)), now);
      return;
    }
    case OperationKind::truncate:
      if (succeeded) write(file, ByteRange::whole(), now);
      return;
    case OperationKind::open:
      if (succeeded && (op.flags & O_TRUNC) != 0) write(file, ByteRange::whole(), now);
      return;
    case OperationKind::allocate:
      if (succeeded) write(file, allocated_range(op), now);
      return;
    case OperationKind::sync:
    case OperationKind::sync_data:
    case OperationKind::sync_range:
      if (file) data_.need_writes(*file);
      return;
    case OperationKind::sync_volume:
      for (const LanePosition change : changes_) known_.need(change);
      return;
    case OperationKind::map:
    case OperationKind::unmap:
    case OperationKind::sync_map:
    case OperationKind::fault:
      add_mapping(op, open, now);
      return;
    default:
      return;
  }
}

void Dependencies::add_mapping(const Operation& op, const OpenFile* open, LanePosition now) {
  switch (op.kind) {
    case OperationKind::map: {
      OpenFile& mapping = open_mappings_.open(op.source, now);
      if (op.expected < 0) mapping.closed = now;
      mapping.data = open ? open->data : nullptr;
      mapping.offset = op.offset;
      mapping.is_shared = (op.flags >> 8 & MAP_TYPE) != MAP_PRIVATE;
      return;
    }
    case OperationKind::unmap:
      open_mappings_.close(op.source, now);
      return;
    default: {
      const OpenFile& mapping = open_mappings_.use(op.source, now);
      if (!mapping.data) return;
      if (op.kind == OperationKind::sync_map) {
        data_.need_writes(*mapping.data);
        return;
      }
      const std::uint64_t offset = ByteRange::of(mapping.offset, op.offset).end;
      const ByteRange range = ByteRange::of(offset, op.length);
      if ((op.flags & 1) != 0 && mapping.is_shared) {
        write(mapping.data, range, now);
      } else {
        data_.read(*mapping.data, range, now);
      }
      return;
    }
  }
}

void Dependencies::add_attributes(const Operation& op, LanePosition now) {
  switch (op.kind) {
    case OperationKind::change_mode:
    case OperationKind::change_owner:
    case OperationKind::set_times:
    case OperationKind::set_xattr:
    case OperationKind::remove_xattr: {
      if (op.entry == kNoFileId) return;
      Attributes& attributes = attributes_[op.entry];
      known_.need(attributes.change);
      known_.need(attributes.readers);
      attributes.change = now;
      attributes.readers.clear();
      return;
    }
    case OperationKind::get_xattr:
    case OperationKind::list_xattr: {
      if (op.entry == kNoFileId) return;
      Attributes& attributes = attributes_[op.entry];
      known_.need(attributes.change);
      attributes.readers.add(now);
      return;
    }
    default:
      return;
  }
}

void Dependencies::add_lock(FileId file, LanePosition now) {
  if (file == kNoFileId) return;
  LanePosition& last = locks_[file];
  known_.need(last);
  last = now;
}

}  // namespace filereel

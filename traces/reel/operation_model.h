// Predictions of operations: writing and reading predict each member from earlier operations, and
// only differences are stored. Both directions share the code, so that they cannot disagree. See
// docs/reel-format.md, Operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "traces/recorded_trace.h"
#include "traces/reel/bytes.h"
#include "traces/reel/operation_check.h"

namespace filereel {

// The columns of a kind. The values are codes in the file.
enum class Column : std::uint8_t {
  bits = 0,
  length = 1,
  expected = 2,
  file = 3,
  source = 4,
  old_path = 5,
  path = 6,
  flags = 7,
  mode = 8,
  offset = 9,
  second = 10,
  text = 11,
  method = 12,
  entry = 13,
  gap = 14,
  duration = 15,
};
inline constexpr std::size_t kColumns = 16;

// The columns of each kind, one bit each.
using ColumnMask = std::uint16_t;
constexpr ColumnMask bit(Column column) {
  return static_cast<ColumnMask>(1U << static_cast<unsigned>(column));
}
const std::array<ColumnMask, kOperationKinds>& column_masks();

// State at the start of a block, from its header.
struct BlockStart {
  std::uint64_t position = 0;
  std::uint64_t time = 0;  // of the first operation, in units
  std::uint64_t path = 0;  // the next one not used by any operation yet
  std::uint64_t text = 0;
  std::uint64_t file = 0;
};

// The open files (or mappings) as far as the block shows them.
class SlotStates {
 public:
  struct Slot {
    std::uint64_t next = 0;  // offset after the last bytes transferred
    FileId entry = kNoFileId;
    std::uint32_t block = 0;  // block of the last use
    bool free = false;
  };

  void begin_block() {
    ++block_;
    freed_.clear();
    fresh_ = 0;
  }

  Slot& at(FileSlot number) {
    if (number >= slots_.size()) grow(number);
    Slot& slot = slots_[number];
    if (slot.block != block_) slot = {.block = block_};
    return slot;
  }

  // The lowest slot freed in this block and not taken since, otherwise one above the highest.
  FileSlot expected_open() {
    while (!freed_.empty() && !at(freed_.front()).free) pop();
    return freed_.empty() ? fresh_ : freed_.front();
  }
  Slot& seen(FileSlot number) {
    fresh_ = std::max(fresh_, number + 1);
    return at(number);
  }
  void open(FileSlot number) { seen(number) = {.block = block_}; }
  void close(FileSlot number) {
    Slot& slot = seen(number);
    if (slot.free) return;
    slot.free = true;
    freed_.push_back(number);
    std::ranges::push_heap(freed_, std::greater{});
  }

 private:
  void grow(FileSlot number) {
    slots_.resize(std::max<std::size_t>(std::size_t{number} + 1, slots_.size() * 2));
  }
  void pop() {
    std::ranges::pop_heap(freed_, std::greater{});
    freed_.pop_back();
  }

  std::vector<Slot> slots_;
  std::vector<FileSlot> freed_;  // a min-heap
  FileSlot fresh_ = 0;
  std::uint32_t block_ = 0;
};

// `Channel` moves one number between the operation and its column: either
//   kWrites = true   void transfer(Column, std::uint64_t code)
//   kWrites = false  std::uint64_t transfer(Column)
// and throws Damage for invalid numbers.
class OperationModel {
 public:
  // The threads of the block are numbered from 0 to `threads` - 1.
  void begin_block(const BlockStart& start, std::size_t threads) {
    start_ = start;
    threads_.assign(threads, {.end = start.time, .path = start.path});
    files_.begin_block();
    mappings_.begin_block();
    last_offset_.fill(0);
    last_second_.fill(0);
    ++block_;
  }

  // State for the start of the next block, without time and position.
  const BlockStart& next_start() const { return start_; }

  // Codes one operation. `kind` is set, and for writing everything else; for reading, all other
  // members have default values. Times are in units.
  template <typename Channel>
  void code(Channel& channel, std::uint32_t local_thread, const OperationLimits& limits,
            RecordedOperation& recorded) {
    Operation& op = recorded.operation;
    const auto kind = static_cast<std::size_t>(op.kind);
    const ColumnMask mask = masks_[kind];
    const KindRules& rules = rules_[kind];
    Thread& thread = threads_[local_thread];
    const auto used = [mask](Column column) { return (mask & bit(column)) != 0; };

    code_bits(channel, op);
    if (used(Column::length)) code_plain(channel, Column::length, op.length);
    code_expected(channel, op, rules);
    if (used(Column::file)) code_file(channel, op, thread, limits);
    if (used(Column::source)) code_source(channel, op, thread, rules, limits);
    const bool by_path = !used(Column::file) || op.file == kNoFile;
    if (used(Column::old_path)) {
      code_path(channel, Column::old_path, by_path, op.old_path, thread, limits);
    }
    if (used(Column::path)) {
      const bool names = by_path || always_path_[kind];
      code_path(channel, Column::path, names, op.path, thread, limits);
    }
    if (used(Column::flags)) code_plain(channel, Column::flags, op.flags);
    if (used(Column::mode)) code_plain(channel, Column::mode, op.mode);
    SlotStates::Slot* const slot =
        used(Column::file) && op.file != kNoFile ? &files_.at(op.file) : nullptr;
    SlotStates::Slot* const source = used(Column::source) && op.source != kNoFile
                                         ? &slots_of_source(rules).at(op.source)
                                         : nullptr;
    if (used(Column::offset)) {
      const bool follows = rules.moves_data && slot != nullptr;
      code_difference(channel, Column::offset, op.offset,
                      follows ? slot->next : last_offset_[kind]);
      last_offset_[kind] = op.offset;
    }
    if (used(Column::second)) {
      const bool follows = rules.moves_data && source != nullptr;
      code_difference(channel, Column::second, op.second,
                      follows ? source->next : last_second_[kind]);
      last_second_[kind] = op.second;
    }
    if (rules.moves_data && op.expected > 0) {
      const auto moved = static_cast<std::uint64_t>(op.expected);
      if (slot != nullptr) slot->next = op.offset + moved;
      if (source != nullptr) source->next = op.second + moved;
    }
    if (used(Column::text)) code_text(channel, op.text, limits);
    if (used(Column::method)) code_method(channel, op.method);
    if (used(Column::entry)) code_entry(channel, op, mask, slot, source, limits);
    code_difference(channel, Column::gap, recorded.start_ns, thread.end);
    code_plain(channel, Column::duration, recorded.duration_ns);
    thread.end = recorded.start_ns + recorded.duration_ns;
  }

 private:
  struct Thread {
    std::uint64_t end = 0;  // of the last operation
    std::uint64_t path = 0;
    FileSlot file = kNoFile, mapping = kNoFile;
  };
  struct PathState {
    std::uint32_t block = 0;
    FileId entry = kNoFileId;
  };

  template <typename Channel, typename T>
  static void code_plain(Channel& channel, Column column, T& value) {
    if constexpr (Channel::kWrites) {
      channel.transfer(column, value);
    } else {
      const std::uint64_t code = channel.transfer(column);
      value = static_cast<T>(code);
      if (value != code) throw Damage("a number is too large for its column");
    }
  }

  template <typename Channel>
  static void code_difference(Channel& channel, Column column, std::uint64_t& value,
                              std::uint64_t expected) {
    if constexpr (Channel::kWrites) {
      channel.transfer(column, value - expected);
    } else {
      value = expected + channel.transfer(column);
    }
  }

  template <typename Channel>
  static void code_bits(Channel& channel, Operation& op) {
    if constexpr (Channel::kWrites) {
      channel.transfer(Column::bits, (op.data == DataSource::last_read ? 1U : 0U) |
                                         (op.counts_file ? 2U : 0U) | (op.asynchronous ? 4U : 0U) |
                                         (op.loose ? 8U : 0U) | (op.hole ? 16U : 0U));
    } else {
      const std::uint64_t bits = channel.transfer(Column::bits);
      if (bits > 31) throw Damage("an operation has unknown flags");
      op.data = (bits & 1) != 0 ? DataSource::last_read : DataSource::generated;
      op.counts_file = (bits & 2) != 0;
      op.asynchronous = (bits & 4) != 0;
      op.loose = (bits & 8) != 0;
      op.hole = (bits & 16) != 0;
    }
  }

  // 0: predicted, the requested length or success; otherwise 1 plus its zigzag.
  template <typename Channel>
  static void code_expected(Channel& channel, Operation& op, const KindRules& rules) {
    const std::int64_t expected = rules.moves_data ? static_cast<std::int64_t>(op.length) : 0;
    if constexpr (Channel::kWrites) {
      channel.transfer(Column::expected, op.expected == expected
                                             ? 0
                                             : 1 + zigzag(static_cast<std::uint64_t>(op.expected)));
    } else {
      const std::uint64_t code = channel.transfer(Column::expected);
      op.expected = code == 0 ? expected : static_cast<std::int64_t>(unzigzag(code - 1));
    }
  }

  // 0: predicted, 1: none, otherwise 2 plus the number.
  template <typename Channel>
  static void code_slot(Channel& channel, Column column, FileSlot& value, FileSlot expected,
                        std::uint64_t limit) {
    if constexpr (Channel::kWrites) {
      channel.transfer(column, value == expected  ? 0
                               : value == kNoFile ? 1
                                                  : std::uint64_t{value} + 2);
    } else {
      const std::uint64_t code = channel.transfer(column);
      value = code == 0   ? expected
              : code == 1 ? kNoFile
                          : static_cast<FileSlot>(std::min<std::uint64_t>(code - 2, kNoFile - 1));
      if (value != kNoFile && value >= limit) throw Damage("an open file is out of range");
    }
  }

  template <typename Channel>
  void code_file(Channel& channel, Operation& op, Thread& thread, const OperationLimits& limits) {
    if (op.kind == OperationKind::open) {
      const FileSlot expected = op.expected < 0 ? kNoFile : files_.expected_open();
      code_slot(channel, Column::file, op.file, expected, limits.slots);
      if (op.file != kNoFile) files_.open(op.file);
    } else {
      code_slot(channel, Column::file, op.file, thread.file, limits.slots);
      if (op.file == kNoFile) return;
      files_.seen(op.file);
      if (op.kind == OperationKind::close) files_.close(op.file);
    }
    if (op.file != kNoFile) thread.file = op.file;
  }

  template <typename Channel>
  void code_source(Channel& channel, Operation& op, Thread& thread, const KindRules& rules,
                   const OperationLimits& limits) {
    SlotStates& slots = slots_of_source(rules);
    if (op.kind == OperationKind::map) {
      const FileSlot expected = op.expected < 0 ? kNoFile : slots.expected_open();
      code_slot(channel, Column::source, op.source, expected, limits.mappings);
      if (op.source != kNoFile) slots.open(op.source);
    } else {
      code_slot(channel, Column::source, op.source, rules.uses_mapping ? thread.mapping : kNoFile,
                rules.uses_mapping ? limits.mappings : limits.slots);
      if (op.source == kNoFile) return;
      slots.seen(op.source);
      if (op.kind == OperationKind::unmap) slots.close(op.source);
    }
    if (rules.uses_mapping && op.source != kNoFile) thread.mapping = op.source;
  }

  SlotStates& slots_of_source(const KindRules& rules) {
    return rules.uses_mapping ? mappings_ : files_;
  }

  // 0: the next unused one, 1: the thread's last, otherwise 2 plus the zigzag of the difference
  // from that one. For operations without a path the code is 0 and ignored.
  template <typename Channel>
  void code_path(Channel& channel, Column column, bool names, PathId& value, Thread& thread,
                 const OperationLimits& limits) {
    if constexpr (Channel::kWrites) {
      channel.transfer(column, !names || value == start_.path ? 0
                               : value == thread.path
                                   ? 1
                                   : 2 + zigzag(std::uint64_t{value} - thread.path));
      if (!names) return;
    } else {
      const std::uint64_t code = channel.transfer(column);
      if (!names) return;
      const std::uint64_t path = code == 0   ? start_.path
                                 : code == 1 ? thread.path
                                             : thread.path + unzigzag(code - 2);
      if (path >= limits.paths) throw Damage("a path is undefined");
      value = static_cast<PathId>(path);
    }
    thread.path = value;
    start_.path = std::max<std::uint64_t>(start_.path, std::uint64_t{value} + 1);
  }

  // 0: the next unused one, otherwise 1 plus the number.
  template <typename Channel>
  void code_text(Channel& channel, TextId& value, const OperationLimits& limits) {
    if constexpr (Channel::kWrites) {
      channel.transfer(Column::text, value == start_.text ? 0 : std::uint64_t{value} + 1);
    } else {
      const std::uint64_t code = channel.transfer(Column::text);
      const std::uint64_t text = code == 0 ? start_.text : code - 1;
      if (text >= limits.texts) throw Damage("a text is undefined");
      value = static_cast<TextId>(text);
    }
    start_.text = std::max<std::uint64_t>(start_.text, std::uint64_t{value} + 1);
  }

  template <typename Channel>
  static void code_method(Channel& channel, CopyMethod& value) {
    if constexpr (Channel::kWrites) {
      channel.transfer(Column::method, static_cast<std::uint64_t>(value));
    } else {
      const std::uint64_t code = channel.transfer(Column::method);
      if (code > static_cast<std::uint64_t>(CopyMethod::splice)) {
        throw Damage("unknown copy method");
      }
      value = static_cast<CopyMethod>(code);
    }
  }

  // 0: predicted, 1: none, 2: the next new one, otherwise 3 plus the zigzag of the difference from
  // that one.
  template <typename Channel>
  void code_entry(Channel& channel, Operation& op, ColumnMask mask, SlotStates::Slot* slot,
                  SlotStates::Slot* source, const OperationLimits& limits) {
    const bool opens = op.kind == OperationKind::open;
    const bool of_slot = (slot != nullptr || source != nullptr) && !opens;
    PathState* path = nullptr;
    FileId expected = kNoFileId;
    const auto fresh = static_cast<FileId>(start_.file);
    if (of_slot) {
      expected = slot != nullptr ? slot->entry : source->entry;
    } else {
      path = &path_state((mask & bit(Column::old_path)) != 0 ? op.old_path : op.path);
      expected = path->block == block_ ? path->entry : op.expected < 0 ? kNoFileId : fresh;
    }
    if constexpr (Channel::kWrites) {
      channel.transfer(Column::entry, op.entry == expected    ? 0
                                      : op.entry == kNoFileId ? 1
                                      : op.entry == fresh
                                          ? 2
                                          : 3 + zigzag(std::uint64_t{op.entry} - start_.file));
    } else {
      const std::uint64_t code = channel.transfer(Column::entry);
      const std::uint64_t entry = code == 0   ? expected
                                  : code == 1 ? kNoFileId
                                  : code == 2 ? start_.file
                                              : start_.file + unzigzag(code - 3);
      if (entry != kNoFileId && entry >= limits.files) throw Damage("a file is out of range");
      op.entry = static_cast<FileId>(entry);
    }
    if (op.entry != kNoFileId) {
      start_.file = std::max<std::uint64_t>(start_.file, std::uint64_t{op.entry} + 1);
    }
    if (path != nullptr) {
      *path = {block_, op.entry};
      if ((mask & bit(Column::old_path)) != 0) path_state(op.path) = {block_, op.entry};
    }
    if (slot != nullptr) slot->entry = op.entry;
    if (source != nullptr && slot == nullptr) source->entry = op.entry;
    if (source != nullptr && op.kind == OperationKind::map) source->entry = op.entry;
  }

  PathState& path_state(PathId path) {
    if (path >= paths_.size()) {
      paths_.resize(std::max<std::size_t>(std::size_t{path} + 1, paths_.size() * 2));
    }
    return paths_[path];
  }

  const std::array<ColumnMask, kOperationKinds>& masks_ = column_masks();
  const KindRuleTable& rules_ = kind_rules();
  std::array<bool, kOperationKinds> always_path_ = make_always_path();
  static std::array<bool, kOperationKinds> make_always_path();

  BlockStart start_;
  std::uint32_t block_ = 0;
  std::vector<Thread> threads_;
  SlotStates files_, mappings_;
  std::vector<PathState> paths_;
  std::array<std::uint64_t, kOperationKinds> last_offset_{}, last_second_{};
};

}  // namespace filereel

#include "traces/reel/operation_block.h"

#include <algorithm>
#include <bit>

#include "traces/reel/column.h"
#include "traces/reel/reel_format.h"

namespace filereel {
namespace {

constexpr std::array<std::uint64_t, 1> kZero = {0};
const RecordedOperation kBlank{};  // copying is faster than construction

constexpr ColumnNature nature_of(Column column) {
  switch (column) {
    case Column::gap:
    case Column::duration:
      return ColumnNature::noise;
    case Column::offset:
    case Column::second:
      return ColumnNature::difference;
    default:
      return ColumnNature::positive;
  }
}

struct WritingChannel {
  static constexpr bool kWrites = true;
  std::vector<std::uint64_t>* columns;  // of the operation's kind

  void transfer(Column column, std::uint64_t code) const {
    columns[static_cast<std::size_t>(column)].push_back(code);
  }
};

}  // namespace

OperationBlockWriter::Block OperationBlockWriter::write(std::span<RecordedOperation> operations) {
  Block block;
  start_.time = operations[0].start_ns;
  std::string& out = block.bytes;
  put_varint(out, start_.time);
  put_varint(out, start_.path);
  put_varint(out, start_.text);
  put_varint(out, start_.file);
  write_threads(operations, block);
  const std::size_t before_kinds = out.size();
  std::string kinds;
  for (const auto& recorded : operations) kinds += static_cast<char>(recorded.operation.kind);
  packer_.put_packed(out, kinds);
  column_bytes_[kKinds] += out.size() - before_kinds;
  model_.begin_block(start_, block.threads.size());
  block.earliest = block.latest = start_.time;
  const OperationLimits unused;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    RecordedOperation& recorded = operations[i];
    block.earliest = std::min(block.earliest, recorded.start_ns);
    block.latest = std::max(block.latest, recorded.start_ns);
    WritingChannel channel{&columns_[static_cast<std::size_t>(recorded.operation.kind) * kColumns]};
    model_.code(channel, local_[i], unused, recorded);
  }
  start_ = model_.next_start();
  write_columns(out);
  return block;
}

void OperationBlockWriter::write_threads(std::span<const RecordedOperation> operations,
                                         Block& block) {
  const std::size_t before = block.bytes.size();
  std::vector<std::uint32_t>& threads = block.threads;
  for (const auto& recorded : operations) {
    const std::uint32_t thread = recorded.operation.thread;
    if (threads.empty() || threads.back() != thread) threads.push_back(thread);
  }
  std::ranges::sort(threads);
  threads.erase(std::ranges::unique(threads).begin(), threads.end());
  put_varint(block.bytes, threads.size());
  std::uint32_t previous = 0;
  for (const std::uint32_t thread : threads) {
    put_varint(block.bytes, thread - previous);
    previous = thread;
  }
  std::vector<std::uint64_t> run_threads;
  std::vector<std::uint64_t> run_lengths;  // minus 1
  local_.clear();
  for (const auto& recorded : operations) {
    const auto found = std::ranges::lower_bound(threads, recorded.operation.thread);
    const auto local = static_cast<std::uint32_t>(found - threads.begin());
    if (local_.empty() || local_.back() != local) {
      run_threads.push_back(local);
      run_lengths.push_back(0);
    } else {
      ++run_lengths.back();
    }
    local_.push_back(local);
  }
  put_varint(block.bytes, run_threads.size());
  put_column(block.bytes, run_threads, ColumnNature::positive, packer_);
  put_column(block.bytes, run_lengths, ColumnNature::positive, packer_);
  column_bytes_[kThreads] += block.bytes.size() - before;
}

void OperationBlockWriter::write_columns(std::string& out) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::vector<std::uint64_t>& values = columns_[c];
    if (std::ranges::all_of(values, [](auto v) { return v == 0; })) {
      values.clear();
      continue;
    }
    const std::size_t before = out.size();
    const auto column = static_cast<Column>(c % kColumns);
    out += static_cast<char>(c / kColumns);
    out += static_cast<char>(column);
    put_column(out, values, nature_of(column), packer_);
    column_bytes_[c % kColumns] += out.size() - before;
    values.clear();
  }
}

struct OperationBlockReader::ReadingChannel {
  static constexpr bool kWrites = false;
  Cursor* cursors;  // of the operation's kind

  std::uint64_t transfer(Column column) const {
    Cursor& cursor = cursors[static_cast<std::size_t>(column)];
    const std::uint64_t code = *cursor.at;
    cursor.at += cursor.step;
    return code;
  }
};

OperationBlockReader::OperationBlockReader() {
  cursors_.fill({kZero.data(), 0});
}

void OperationBlockReader::open(std::span<const std::byte> bytes, std::uint32_t count,
                                std::uint64_t position, std::uint32_t unit_ns,
                                const OperationLimits& limits) {
  at_ = count_ = 0;
  ByteReader in(bytes);
  limits_ = limits;
  unit_ns_ = unit_ns;
  position_ = position;
  BlockStart start;
  start.position = position;
  start.time = in.varint(limits.latest, "the block's time");
  start.path = in.varint(kMaxReelPaths, "the block's first path");
  start.text = in.varint(kMaxReelText, "the block's first text");
  start.file = in.varint(kMaxReelFiles, "the block's first file");
  count_ = count;
  take_runs(in, limits);
  take_kinds(in);
  take_columns(in);
  in.expect_end();
  model_.begin_block(start, threads_.size());
}

void OperationBlockReader::take_runs(ByteReader& in, const OperationLimits& limits) {
  const std::uint64_t threads = in.varint(count_, "the number of threads of the block");
  threads_.clear();
  std::uint64_t thread = 0;
  for (std::uint64_t i = 0; i < threads; ++i) {
    const std::uint64_t above = in.varint(limits.threads, "a thread");
    if (i > 0 && above == 0) throw Damage("duplicate thread in the block");
    thread += above;
    if (thread >= limits.threads) throw Damage("undefined thread");
    threads_.push_back(static_cast<std::uint32_t>(thread));
  }
  const std::uint64_t runs = in.varint(count_, "the number of thread changes");
  values_.resize(std::max<std::size_t>(values_.size(), 2 * runs));
  const auto run_threads = std::span(values_).first(runs);
  const auto run_lengths = std::span(values_).subspan(runs, runs);
  take_whole_column(in, run_threads, unpacker_);
  take_whole_column(in, run_lengths, unpacker_);
  runs_.clear();
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    if (run_threads[i] >= threads_.size())
      throw Damage("a thread is missing from the block's list");
    if (run_lengths[i] >= count_ - end) throw Damage("there are too many operations of a thread");
    end += run_lengths[i] + 1;
    runs_.push_back({static_cast<std::uint32_t>(run_threads[i]), static_cast<std::uint32_t>(end)});
  }
  if (end != count_) throw Damage("there are too few operations in the thread runs");
  run_ = 0;
}

void OperationBlockReader::take_kinds(ByteReader& in) {
  kinds_ = unpacker_.take_packed(in, count_);
  if (kinds_.size() != count_)
    throw Damage("the number of operation kinds is not the number of operations");
  of_kind_.fill(0);
  const KindRuleTable& rules = kind_rules();
  for (const char c : kinds_) {
    const auto kind = static_cast<std::uint8_t>(c);
    if (kind >= kOperationKinds) throw Damage("unknown kind of operation");
    if (!rules[kind].known) throw Damage("unsupported kind of operation");
    ++of_kind_[kind];
  }
}

void OperationBlockReader::take_columns(ByteReader& in) {
  const auto& masks = column_masks();
  std::size_t needed = 0;
  for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
    needed += std::size_t{of_kind_[kind]} * static_cast<unsigned>(std::popcount(masks[kind]));
  }
  if (values_.size() < needed) values_.resize(needed);
  cursors_.fill({kZero.data(), 0});
  std::span<std::uint64_t> free = values_;
  std::size_t next = 0;  // the lowest possible next column
  while (in.left() > 0) {
    const std::size_t kind = in.u8();
    const std::size_t column = in.u8();
    if (kind >= kOperationKinds || column >= kColumns ||
        (masks[kind] & bit(static_cast<Column>(column))) == 0) {
      throw Damage("a column does not belong to its kind");
    }
    const std::size_t c = kind * kColumns + column;
    if (c < next || of_kind_[kind] == 0) throw Damage("a column is out of order");
    next = c + 1;
    const auto values = free.first(of_kind_[kind]);
    const bool constant = take_column(in, values, unpacker_);
    cursors_[c] = {values.data(), constant ? std::size_t{0} : std::size_t{1}};
    free = free.subspan(constant ? 1 : values.size());
  }
}

void OperationBlockReader::read(std::span<RecordedOperation> out) {
  const KindRuleTable& rules = kind_rules();
  for (RecordedOperation& recorded : out) {
    if (at_ == runs_[run_].end) ++run_;
    const std::uint32_t local = runs_[run_].thread;
    const auto kind = static_cast<std::uint8_t>(kinds_[at_]);
    recorded = kBlank;
    recorded.operation.kind = static_cast<OperationKind>(kind);
    recorded.operation.thread = threads_[local];
    recorded.operation.position = position_ + at_;
    ReadingChannel channel{&cursors_[std::size_t{kind} * kColumns]};
    model_.code(channel, local, limits_, recorded);
    const char* const problem = operation_problem(recorded, rules[kind], limits_);
    if (problem != nullptr) throw Damage(problem);
    recorded.start_ns *= unit_ns_;
    recorded.duration_ns *= unit_ns_;
    ++at_;
  }
}

}  // namespace filereel

// A reel comes from anywhere, so no number in it is trusted. The checksum of a block finds damage,
// not malice. Every number that becomes an index or a size is compared with a limit first
// (OperationLimits, check_info), and the text of both trees is bounded, since a name stored once
// can occur in many paths. A fault throws Damage, which becomes one line with the offset of the
// block (`place`).
//
// load() reads everything except the operations; their blocks are only entered in `blocks`. next()
// unpacks one block at a time and checks its header against that entry, because the file may change
// while it is open. So a replay of any length takes the memory of one block beyond the tables, and
// rewind() costs nothing.
//
// Without the end mark, the file is truncated (load_torn): blocks are read up to the first fault.
// Trees, threads and counts are missing then, so the operations are followed once by a TreeModel,
// as when the trace was recorded. This reads all of them; a complete reel is opened without doing
// so.
//
// The digest of the work is calculated from the checksums of the blocks, not from their bytes, and
// leaves out the information block: facts about the recording, such as its command and date, make
// no other work.
#include "traces/reel/reel_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "traces/model/trace_builder.h"
#include "traces/model/tree_model.h"
#include "traces/reel/info_blocks.h"
#include "traces/reel/operation_block.h"
#include "traces/reel/reel_format.h"
#include "traces/reel/tree_blocks.h"

namespace filereel {
namespace {

// Total bytes of the paths and link texts of both trees.
constexpr std::uint64_t kMaxTreeText = 1u << 30;

struct OperationsAt {
  std::uint64_t offset;
  std::uint64_t first;  // position
  std::uint32_t size, count;
};

}  // namespace

struct ReelReader::State {
  explicit State(ReelInput given) : input(std::move(given)), names(tables, unpacker) {}

  void load();
  std::uint32_t load_header();
  void load_block(std::uint64_t offset, const BlockHeader& header);
  void add_to_digest(const BlockHeader& header);
  std::vector<IndexEntry> load_index(std::uint64_t begin, std::uint64_t end);
  void load_complete(const ReelFooter& footer, std::uint64_t footer_at);
  void check_info() const;
  void load_torn();
  void follow_operations();
  void add_operations(std::uint64_t offset, const BlockHeader& header);
  void open_next_block();
  std::size_t next(std::span<RecordedOperation> out);
  void rewind();

  ReelInput input;
  TraceTables tables;
  TraceInfo info;
  TraceTrees trees;
  Unpacker unpacker;
  NameReader names;
  std::uint64_t tree_text_left = kMaxTreeText;
  bool has_info = false;
  std::uint32_t unit = 1;
  OperationLimits limits;
  std::vector<OperationsAt> blocks;
  std::uint32_t version = 0;
  std::uint64_t operations = 0;  // of all blocks
  std::uint64_t digest = 0;      // of the checksums of all blocks with content
  std::uint64_t place = 0;       // of the current block, for messages
  OperationBlockReader reader;
  std::size_t next_block = 0;
};

void ReelReader::State::load() {
  try {
    place = 0;
    unit = load_header();
    std::array<std::byte, kReelFooterSize> bytes{};
    bool complete = input.size() >= kReelHeaderSize + kReelFooterSize;
    if (complete) {
      place = input.size() - kReelFooterSize;
      input.read(place, bytes);
      const std::string_view end(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      complete = end.ends_with(kReelEndMagic);
    }
    if (complete) {
      load_complete(parse_reel_footer(bytes), place);
    } else {
      load_torn();
    }
    info.digest = XXH3_64bits_withSeed(&unit, sizeof unit, digest);
  } catch (const Damage& damage) {
    input.fail(place, damage.what());
  }
}

std::uint32_t ReelReader::State::load_header() {
  std::array<std::byte, kReelHeaderSize> bytes{};
  const std::size_t size = std::min<std::uint64_t>(input.size(), bytes.size());
  input.read(0, std::span(bytes).first(size));
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), size);
  if (!view.starts_with(kReelMagic)) input.fail_foreign();
  if (size < bytes.size()) throw Damage("unexpected end of file in the header");
  ByteReader in{std::span(bytes).subspan(kReelMagic.size())};
  version = in.u32();
  if (version == 0 || version > kReelFormatVersion) input.fail_version(version);
  const std::uint32_t time_unit = in.u32();
  if (in.u64() != XXH3_64bits(bytes.data(), kReelHeaderSize - sizeof(std::uint64_t))) {
    throw Damage("checksum mismatch in the header");
  }
  if (time_unit == 0 || time_unit > kMaxTimeUnit) throw Damage("the time unit is out of range");
  return time_unit;
}

// The checksums are those of the content, so it need not be read. The information block is about
// the recording: command, time, losses.
void ReelReader::State::add_to_digest(const BlockHeader& header) {
  if (header.type == BlockType::info) return;
  digest = XXH3_64bits_withSeed(&header.checksum, sizeof header.checksum, digest);
}

// Blocks of operations are only indexed here, and read on demand.
void ReelReader::State::load_block(std::uint64_t offset, const BlockHeader& header) {
  add_to_digest(header);
  if (header.type == BlockType::operations) {
    add_operations(offset, header);
    return;
  }
  const ByteReader in(input.block(offset, header));
  const auto follows = [&](std::size_t known) {
    if (header.first != known) throw Damage("the numbering of blocks has a gap");
  };
  switch (header.type) {
    case BlockType::paths:
      follows(tables.paths.size());
      names.take_paths(in, header.count);
      break;
    case BlockType::texts:
      follows(tables.texts.size());
      names.take_texts(in, header.count);
      break;
    case BlockType::initial:
    case BlockType::final: {
      FileSet& set = header.type == BlockType::initial ? trees.initial : trees.final;
      follows(set.entries.size());
      take_entries(in, header.count, tables, unpacker, tree_text_left, set);
      break;
    }
    case BlockType::threads:
      follows(info.threads.size());
      take_threads(in, header.count, unpacker, info);
      break;
    case BlockType::info:
      if (has_info) throw Damage("duplicate information block");
      has_info = true;
      take_info(in, version, unpacker, info, trees);
      break;
    case BlockType::operations:
    case BlockType::index:
      throw Damage("a block is out of order");
  }
}

void ReelReader::State::add_operations(std::uint64_t offset, const BlockHeader& header) {
  if (header.count == 0) throw Damage("an operation block is empty");
  if (header.first != operations) throw Damage("the numbering of blocks has a gap");
  blocks.push_back({offset, operations, header.size, header.count});
  operations += header.count;
}

std::vector<IndexEntry> ReelReader::State::load_index(std::uint64_t begin, std::uint64_t end) {
  std::vector<IndexEntry> index;
  while (begin < end) {
    place = begin;
    const BlockHeader header = input.block_header(begin, end);
    if (header.type != BlockType::index || header.first != index.size()) {
      throw Damage("the index is not at the offset in the footer");
    }
    ByteReader packed(input.block(begin, header));
    const std::string bytes = unpacker.take_packed(packed, kMaxBlockSize);
    packed.expect_end();
    ByteReader in(std::as_bytes(std::span(bytes)));
    for (std::uint32_t i = 0; i < header.count; ++i) index.push_back(take_index_entry(in));
    in.expect_end();
    begin += kBlockHeaderSize + header.size;
  }
  return index;
}

void ReelReader::State::load_complete(const ReelFooter& footer, std::uint64_t footer_at) {
  if (footer.index < kReelHeaderSize || footer.index > footer_at) {
    throw Damage("the index is outside the file");
  }
  const std::vector<IndexEntry> index = load_index(footer.index, footer_at);
  std::uint64_t offset = kReelHeaderSize;
  for (const IndexEntry& entry : index) {
    place = offset;
    const BlockHeader header = input.block_header(offset, footer.index);
    if (header.type != entry.type || header.size != entry.size || header.count != entry.count) {
      throw Damage("a block does not match the index");
    }
    load_block(offset, header);
    offset += kBlockHeaderSize + header.size;
  }
  place = footer_at;
  if (offset != footer.index) throw Damage("the index is incomplete");
  if (!has_info) throw Damage("the information block is missing");
  if (operations != footer.operations || operations != info.operations) {
    throw Damage("the number of operations is wrong");
  }
  check_info();
  limits.paths = tables.paths.size();
  limits.texts = tables.texts.size();
  limits.threads = info.threads.size();
  limits.slots = info.slots;
  limits.mappings = info.mappings;
  limits.files = info.files;
  limits.largest_io = info.largest_io;
  limits.latest = INT64_MAX / unit;
}

// Numbers that readers use as sizes of tables must match existing objects.
void ReelReader::State::check_info() const {
  std::uint64_t of_threads = 0;
  for (const TraceThread& thread : info.threads) {
    if (thread.operations > operations - of_threads) {
      throw Damage("the threads have more operations than the reel");
    }
    of_threads += thread.operations;
    if (thread.operations > 0 && (thread.first > thread.last || thread.last >= operations)) {
      throw Damage("the positions of a thread are out of range");
    }
    if (thread.parent != TraceThread::kNoParent && thread.parent >= info.threads.size()) {
      throw Damage("the parent of a thread is undefined");
    }
  }
  if (of_threads != operations) throw Damage("the threads have fewer operations than the reel");
  try {
    check_file_set(trees.initial);
    check_file_set(trees.final);
  } catch (const Error& error) {
    throw Damage(error.what());
  }
}

// Reads complete blocks up to the end or the first fault. Information after the operations is
// inferred again.
void ReelReader::State::load_torn() {
  for (std::uint64_t offset = kReelHeaderSize; offset < input.size();) {
    place = offset;
    BlockHeader header;
    try {
      header = input.block_header(offset, input.size());
      input.block(offset, header);
    } catch (const Damage&) {
      break;  // truncated here
    }
    const bool wanted = header.type == BlockType::paths || header.type == BlockType::texts ||
                        header.type == BlockType::operations;
    if (wanted) load_block(offset, header);
    offset += kBlockHeaderSize + header.size;
  }
  info.complete = false;
  limits.paths = tables.paths.size();
  limits.texts = tables.texts.size();
  limits.threads = kMaxReelThreads;
  limits.slots = limits.mappings = kMaxReelSlots;
  limits.files = kMaxReelFiles;
  limits.latest = INT64_MAX / unit;
  follow_operations();
}

void ReelReader::State::follow_operations() {
  TraceCounter counter;
  TreeModel model(tables);
  std::vector<RecordedOperation> some(1024);
  bool timed = false;
  while (const std::size_t count = next(some)) {
    for (RecordedOperation& recorded : std::span(some).first(count)) {
      timed = timed || recorded.start_ns != 0 || recorded.duration_ns != 0;
      counter.add(recorded);
      model.apply(recorded.operation);
    }
  }
  counter.fill(info);
  info.files = std::max(info.files, model.files());
  info.timed = timed;
  trees = model.trees();
  rewind();
}

void ReelReader::State::open_next_block() {
  const OperationsAt& block = blocks[next_block];
  place = block.offset;
  const BlockHeader header = input.block_header(block.offset, input.size());
  if (header.size != block.size || header.count != block.count || header.first != block.first) {
    throw Damage("a block changed after the file was opened");
  }
  reader.open(input.block(block.offset, header), header.count, header.first, unit, limits);
  ++next_block;
}

std::size_t ReelReader::State::next(std::span<RecordedOperation> out) {
  std::size_t done = 0;
  try {
    while (done < out.size()) {
      if (reader.left() == 0) {
        if (next_block == blocks.size()) break;
        open_next_block();
      }
      const std::size_t count = std::min<std::size_t>(reader.left(), out.size() - done);
      reader.read(out.subspan(done, count));
      done += count;
    }
  } catch (const Damage& damage) {
    input.fail(place, damage.what());
  }
  return done;
}

void ReelReader::State::rewind() {
  next_block = 0;
  reader.close();
}

ReelReader::ReelReader(const std::string& path) : state_(std::make_unique<State>(ReelInput(path))) {
  within_memory(fmt::format("the reel '{}'", printable(path)), [&] { state_->load(); });
}

ReelReader::ReelReader(std::span<const std::byte> bytes, std::string name)
    : state_(std::make_unique<State>(ReelInput(bytes, std::move(name)))) {
  state_->load();
}

ReelReader::~ReelReader() = default;

std::uint32_t ReelReader::version() const {
  return state_->version;
}

const TraceTables& ReelReader::tables() const {
  return state_->tables;
}
const TraceInfo& ReelReader::info() const {
  return state_->info;
}
const TraceTrees& ReelReader::trees() const {
  return state_->trees;
}

std::size_t ReelReader::next(std::span<RecordedOperation> out) {
  return state_->next(out);
}

void ReelReader::rewind() {
  state_->rewind();
}

}  // namespace filereel

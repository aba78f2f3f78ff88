// A recording may be longer than memory, so nothing is collected until the end. Operations are kept
// until a block is full (32,768) and then written. Names are written as they become known: each
// block of operations is preceded by the paths and texts that it uses for the first time. So a
// truncated reel can be read up to its last complete block. What is known only at the end (trees,
// threads, counts, the index) follows the operations.
//
// Invariants:
// - A number of a path or text is its place in the tables. Definitions are written in this order,
//   without gaps, before their first use; `paths` and `texts` count what is written. Trees may need
//   names that the tables lack: they get the next numbers (NameFinder) and blocks before those of
//   the trees.
// - A writer refuses what a reader would refuse: both use operation_problem() and the limits of
//   reel_reader.h. A reel that cannot be read would be a lost recording, found too late.
// - Times are divided by the unit when an operation arrives. Positions are counted here, not taken
//   from the caller.
// - The file has no name until commit(). finish() begins with keep_in_any_case(): from then on the
//   file is kept, elsewhere if necessary.
//
// Memory: one block of operations and its columns, the counts of each thread, the index (an entry
// for each block), and the tables of the caller. One thread, that of the recorder or importer.
#include "traces/reel/reel_writer.h"

#include <algorithm>
#include <array>
#include <climits>
#include <vector>

#include <fmt/format.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "traces/model/trace_builder.h"
#include "traces/reel/info_blocks.h"
#include "traces/reel/operation_block.h"
#include "traces/reel/reel_format.h"
#include "traces/reel/tree_blocks.h"

namespace filereel {
namespace {

// Size at which blocks of names, threads, entries and the index end, unpacked.
constexpr std::size_t kBlockText = 1u << 20;
constexpr std::size_t kMaxHolesOfBlock = 1u << 16;

// Advice for a trace beyond the limits of a reel.
constexpr std::string_view kCut = "cut the trace into shorter ones";
constexpr std::string_view kLeaveOut = "remove it from the trace";

}  // namespace

struct ReelWriter::State {
  State(const std::string& path, const TraceTables& all, const ReelWriterOptions& options)
      : file(path),
        tables(all),
        unit(options.time_unit_ns),
        packer(options.compression),
        operations(packer) {
    if (unit == 0 || unit > kMaxTimeUnit) {
      throw Error(ErrorKind::usage, "invalid time unit of a reel: expected 1 ns to 1 s");
    }
    limits.threads = kMaxReelThreads;
    limits.slots = limits.mappings = kMaxReelSlots;
    limits.files = kMaxReelFiles;
    pending.reserve(kBlockOperations);
    put(make_reel_header(unit));
  }

  [[noreturn]] void fail(std::string_view problem, std::string_view remedy = kCut) const {
    throw Error(ErrorKind::unusable_input, fmt::format("{}: {}; {}", file.path(), problem, remedy));
  }

  void put(std::string_view bytes) {
    file.write(bytes);
    offset += bytes.size();
  }

  void put_block(IndexEntry entry, std::uint64_t first, std::string_view bytes) {
    if (bytes.size() > kMaxBlockSize) fail("a block would exceed 16 MiB");
    entry.size = static_cast<std::uint32_t>(bytes.size());
    put(make_block(entry.type, entry.count, first, bytes));
    index.push_back(std::move(entry));
  }
  void put_block(BlockType type, std::size_t count, std::uint64_t first, std::string_view bytes) {
    put_block({type, 0, static_cast<std::uint32_t>(count), 0, 0, {}}, first, bytes);
  }

  void count_name(std::size_t bytes) {
    names += bytes;
    if (names > kMaxReelText) fail("more than 256 MiB of names and texts");
  }

  void put_path_blocks(std::span<const PathDefinition> definitions);
  void put_text_blocks(std::span<const std::string_view> texts);
  void put_new_names();
  void flush();
  void put_tree(BlockType type, const FileSet& set, NameFinder& finder);
  void put_thread_blocks(std::span<const TraceThread> threads);
  void put_footer();

  AtomicFile file;
  const TraceTables& tables;
  std::uint32_t unit;
  Packer packer;
  OperationBlockWriter operations;
  OperationLimits limits;
  TraceCounter counter;
  std::vector<RecordedOperation> pending;  // with their times in units
  std::vector<IndexEntry> index;
  std::uint64_t offset = 0;
  std::size_t paths = 2, texts = 1;  // defined in the file, or by the format
  std::uint64_t names = 0;           // bytes
  PathLengths lengths;
};

void ReelWriter::State::put_path_blocks(std::span<const PathDefinition> definitions) {
  while (!definitions.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0;
         count < definitions.size() && count < kMaxBlockItems && bytes < kBlockText; ++count) {
      const std::string_view name = definitions[count].name;
      if (const char* const problem = name_problem(name)) fail(problem, kLeaveOut);
      if (!lengths.add(definitions[count].parent, name.size())) {
        fail(fmt::format("the path ending in '/{}' is longer than 65535 bytes", printable(name)),
             kLeaveOut);
      }
      count_name(name.size());
      bytes += name.size();
    }
    if (paths + count > kMaxReelPaths) fail("more than 8 million paths");
    put_block(BlockType::paths, count, paths,
              put_paths(definitions.first(count), static_cast<PathId>(paths), packer));
    paths += count;
    definitions = definitions.subspan(count);
  }
}

void ReelWriter::State::put_text_blocks(std::span<const std::string_view> all) {
  while (!all.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < all.size() && count < kMaxBlockItems && bytes < kBlockText;
         ++count) {
      const std::string_view text = all[count];
      if (text.size() > kMaxTextSize) fail("a text is longer than 65535 bytes", kLeaveOut);
      if (text.find('\0') != std::string_view::npos) fail("a text contains NUL", kLeaveOut);
      count_name(text.size() + 1);
      bytes += text.size() + 1;
    }
    put_block(BlockType::texts, count, texts, put_texts(all.first(count), packer));
    texts += count;
    all = all.subspan(count);
  }
}

// Defines new entries of the tables.
void ReelWriter::State::put_new_names() {
  std::vector<PathDefinition> definitions;
  for (std::size_t id = paths; id < tables.paths.size(); ++id) {
    const PathTable::Node node = tables.paths.node(static_cast<PathId>(id));
    definitions.push_back({node.parent, node.name});
  }
  put_path_blocks(definitions);
  std::vector<std::string_view> added;
  for (std::size_t id = texts; id < tables.texts.size(); ++id) {
    added.push_back(tables.texts.text(static_cast<TextId>(id)));
  }
  put_text_blocks(added);
}

void ReelWriter::State::flush() {
  if (pending.empty()) return;
  put_new_names();
  auto block = operations.write(pending);
  IndexEntry entry{BlockType::operations,
                   0,
                   static_cast<std::uint32_t>(pending.size()),
                   block.earliest,
                   block.latest,
                   std::move(block.threads)};
  put_block(std::move(entry), pending.front().operation.position, block.bytes);
  pending.clear();
}

void ReelWriter::State::put_tree(BlockType type, const FileSet& set, NameFinder& finder) {
  std::vector<Entry> entries;
  std::vector<PathId> entry_paths;
  std::vector<std::uint32_t> targets;
  for (std::size_t first = 0; first < set.entries.size();) {
    entries.clear();
    entry_paths.clear();
    targets.clear();
    std::size_t end = first;
    for (std::size_t holes = 0;
         end < set.entries.size() && end - first < kBlockOperations && holes < kMaxHolesOfBlock;
         ++end) {
      const Entry& entry = entries.emplace_back(set.entries[end]);
      holes += entry.holes.size();
      entry_paths.push_back(finder.path(entry.path));
      targets.push_back(entry.kind == EntryKind::symlink     ? finder.text(entry.target)
                        : entry.kind == EntryKind::hard_link ? finder.path(entry.target)
                                                             : 0);
    }
    put_block(type, entries.size(), first, put_entries({entries, entry_paths, targets}, packer));
    first = end;
  }
}

void ReelWriter::State::put_thread_blocks(std::span<const TraceThread> threads) {
  for (std::size_t first = 0; first < threads.size();) {
    std::size_t end = first;
    for (std::size_t bytes = 0;
         end < threads.size() && end - first < kMaxBlockItems && bytes < kBlockText; ++end) {
      bytes += threads[end].name.size() + 1;
    }
    put_block(BlockType::threads, end - first, first,
              put_threads(threads.subspan(first, end - first), packer));
    first = end;
  }
}

// Writes the index and the footer.
void ReelWriter::State::put_footer() {
  const std::uint64_t begin = offset;
  for (std::size_t first = 0; first < index.size();) {
    std::string entries;
    std::size_t end = first;
    for (; end < index.size() && end - first < kMaxBlockItems && entries.size() < kBlockText;
         ++end) {
      put_index_entry(entries, index[end]);
    }
    std::string packed;
    packer.put_packed(packed, entries);
    put(make_block(BlockType::index, static_cast<std::uint32_t>(end - first), first, packed));
    first = end;
  }
  put(make_reel_footer({begin, counter.operations()}));
}

ReelWriter::ReelWriter(const std::string& path, const TraceTables& tables,
                       const ReelWriterOptions& options)
    : state_(std::make_unique<State>(path, tables, options)) {}

ReelWriter::~ReelWriter() = default;

void ReelWriter::add(const RecordedOperation& operation) {
  State& state = *state_;
  RecordedOperation& recorded = state.pending.emplace_back(operation);
  Operation& op = recorded.operation;
  op.position = state.counter.operations();
  state.limits.paths = state.tables.paths.size();
  state.limits.texts = state.tables.texts.size();
  const char* problem = "its kind is unknown";
  if (static_cast<std::size_t>(op.kind) < kOperationKinds) {
    problem =
        operation_problem(recorded, kind_rules()[static_cast<std::size_t>(op.kind)], state.limits);
  }
  if (problem != nullptr) {
    state.fail(fmt::format("operation {} is not valid in a reel: {}", op.position, problem),
               kLeaveOut);
  }
  state.counter.add(recorded);
  recorded.start_ns /= state.unit;
  recorded.duration_ns /= state.unit;
  if (state.pending.size() == kBlockOperations) state.flush();
}

const std::string& ReelWriter::path() const {
  return state_->file.path();
}

std::string ReelWriter::finish(const TraceInfo& info, const TraceTrees& trees) {
  State& state = *state_;
  state.file.keep_in_any_case();
  check_file_set(trees.initial);
  check_file_set(trees.final);
  state.flush();
  state.put_new_names();
  TraceInfo counted = info;
  state.counter.fill(counted);
  if (counted.threads.size() > kMaxReelThreads) state.fail("more than 1 million threads");
  if (counted.slots > kMaxReelSlots || counted.mappings > kMaxReelSlots) {
    state.fail("more than 1 million open files");
  }
  if (counted.files > kMaxReelFiles) state.fail("more than 64 million files");
  // Names that the trees need in addition must be defined before them.
  NameFinder finder(state.tables);
  for (const FileSet* set : {&trees.initial, &trees.final}) {
    for (const Entry& entry : set->entries) {
      finder.path(entry.path);
      if (entry.kind == EntryKind::symlink) finder.text(entry.target);
    }
  }
  state.put_path_blocks(finder.new_paths());
  state.put_text_blocks(finder.new_texts());
  state.put_tree(BlockType::initial, trees.initial, finder);
  state.put_tree(BlockType::final, trees.final, finder);
  state.put_thread_blocks(counted.threads);
  state.put_block(BlockType::info, 1, 0, put_info(counted, trees, state.packer));
  state.put_footer();
  return state.file.commit();
}

}  // namespace filereel

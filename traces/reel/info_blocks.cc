#include "traces/reel/info_blocks.h"

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "traces/reel/column.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMaxFacts = 65'536;
constexpr std::size_t kMaxFact = 1u << 20;  // bytes

void check_length(std::string_view text, std::string_view name) {
  if (text.size() <= kMaxFact) return;
  throw Error(ErrorKind::unusable_input,
              fmt::format("'{}' has {} of text; a reel takes at most {}", printable(name),
                          counted(text.size(), "byte"), kMaxFact));
}

void put_fact(std::string& out, std::string_view name, std::string_view text) {
  check_length(text, name);
  put_text(out, text);
}

void put_counts(std::string& out, const std::map<std::string, std::uint64_t>& counts) {
  put_varint(out, counts.size());
  for (const auto& [name, count] : counts) {
    put_fact(out, "reason", name);
    put_varint(out, count);
  }
}

void take_counts(ByteReader& in, std::map<std::string, std::uint64_t>& counts) {
  for (std::uint64_t left = in.varint(kMaxFacts, "the number of reasons"); left > 0; --left) {
    std::string name(in.text(kMaxFact, "a reason's length"));
    counts[std::move(name)] = in.varint();
  }
}

void put_set(std::string& out, const FileSet& set) {
  put_fact(out, "name", set.name);
  put_fact(out, "description", set.description);
  put_fact(out, "source", set.source);
  put_varint(out, set.seed);
  put_varint(out, set.entries.size());
}

void put_differences(std::string& out, const std::vector<std::string>& texts) {
  put_varint(out, texts.size());
  for (const std::string& text : texts) put_fact(out, "difference", text);
}

void take_differences(ByteReader& in, std::vector<std::string>& texts) {
  for (std::uint64_t left = in.varint(RecordingCheck::kMostTexts, "the number of differences");
       left > 0; --left) {
    texts.emplace_back(in.text(kMaxFact, "a difference's length"));
  }
}

void put_check(std::string& out, const RecordingCheck& check) {
  put_varint(out, check.done ? 1 : 0);
  put_fact(out, "reason", check.why_not);
  put_varint(out, check.names);
  put_varint(out, check.unchecked);
  put_varint(out, check.differing);
  put_varint(out, check.changed_later);
  put_differences(out, check.differences);
  put_varint(out, check.by_others);
  put_varint(out, check.writes);
  put_differences(out, check.others);
}

void take_check(ByteReader& in, std::uint32_t version, RecordingCheck& check) {
  check.done = in.varint(1, "the flag for a checked recording") != 0;
  check.why_not = in.text(kMaxFact, "a reason's length");
  check.names = in.varint();
  check.unchecked = in.varint();
  check.differing = in.varint();
  check.changed_later = in.varint();
  take_differences(in, check.differences);
  if (version < 5) return;
  check.by_others = in.varint();
  check.writes = in.varint();
  take_differences(in, check.others);
}

// Returns the number of entries.
void take_set(ByteReader& in, FileSet& set) {
  set.name = in.text(kMaxFact, "a name's length");
  set.description = in.text(kMaxFact, "a description's length");
  set.source = in.text(kMaxFact, "a source's length");
  set.seed = in.varint();
  if (in.varint() != set.entries.size()) throw Damage("the number of entries of a tree is wrong");
}

}  // namespace

std::string put_threads(std::span<const TraceThread> threads, Packer& packer) {
  std::vector<std::uint64_t> processes, numbers, parents, operations, firsts, lasts;
  std::string names;
  for (const TraceThread& thread : threads) {
    processes.push_back(thread.process);
    numbers.push_back(std::uint64_t{thread.thread} - thread.process);
    parents.push_back(thread.parent == TraceThread::kNoParent ? 0
                                                              : std::uint64_t{thread.parent} + 1);
    operations.push_back(thread.operations);
    firsts.push_back(thread.first);
    lasts.push_back(thread.last - thread.first);
    put_text(names, thread.name);
  }
  std::string out;
  put_column(out, processes, ColumnNature::positive, packer);
  put_column(out, numbers, ColumnNature::difference, packer);
  put_column(out, parents, ColumnNature::positive, packer);
  put_column(out, operations, ColumnNature::positive, packer);
  put_column(out, firsts, ColumnNature::positive, packer);
  put_column(out, lasts, ColumnNature::difference, packer);
  packer.put_packed(out, names);
  return out;
}

void take_threads(ByteReader in, std::uint32_t count, Unpacker& unpacker, TraceInfo& info) {
  if (info.threads.size() + count > kMaxReelThreads) {
    throw Damage("there are more than 1 million threads");
  }
  const auto take = [&] {
    std::vector<std::uint64_t> column(count);
    take_whole_column(in, column, unpacker);
    return column;
  };
  const auto processes = take();
  const auto numbers = take();
  const auto parents = take();
  const auto operations = take();
  const auto firsts = take();
  const auto lasts = take();
  const std::string names = unpacker.take_packed(in, kMaxBlockSize);
  in.expect_end();
  ByteReader rest(std::as_bytes(std::span(names)));
  for (std::uint32_t i = 0; i < count; ++i) {
    TraceThread thread;
    thread.process = static_cast<std::uint32_t>(processes[i]);
    thread.thread = static_cast<std::uint32_t>(numbers[i] + processes[i]);
    if (parents[i] > kMaxReelThreads) throw Damage("the parent of a thread is undefined");
    if (parents[i] != 0) thread.parent = static_cast<std::uint32_t>(parents[i] - 1);
    thread.operations = operations[i];
    thread.first = firsts[i];
    thread.last = firsts[i] + lasts[i];
    thread.name = rest.text(kMaxTextSize, "the length of a thread's name");
    info.threads.push_back(std::move(thread));
  }
  rest.expect_end();
}

std::string put_info(const TraceInfo& info, const TraceTrees& trees, Packer& packer) {
  std::string out;
  put_varint(out, info.facts.size());
  for (const auto& [name, text] : info.facts) {
    put_fact(out, "fact", name);
    put_fact(out, name, text);
  }
  put_varint(out, info.threads.size());
  put_varint(out, info.operations);
  put_varint(out, info.by_kind.size());
  for (const std::uint64_t count : info.by_kind) put_varint(out, count);
  put_varint(out, info.bytes_read);
  put_varint(out, info.bytes_written);
  put_varint(out, info.duration_ns);
  put_varint(out, info.slots);
  put_varint(out, info.mappings);
  put_varint(out, info.files);
  put_varint(out, info.largest_io);
  put_varint(out, info.timed ? 1 : 0);
  put_counts(out, info.lost);
  put_counts(out, info.approximated);
  put_set(out, trees.initial);
  put_varint(out, trees.absent);
  put_set(out, trees.final);
  put_varint(out, info.recorder_ns);
  put_varint(out, info.waits ? 1 : 0);
  put_check(out, info.check);
  std::string packed;
  packer.put_packed(packed, out);
  return packed;
}

void take_info(ByteReader packed, std::uint32_t version, Unpacker& unpacker, TraceInfo& info,
               TraceTrees& trees) {
  const std::string bytes = unpacker.take_packed(packed, kMaxBlockSize);
  packed.expect_end();
  ByteReader in(std::as_bytes(std::span(bytes)));
  for (std::uint64_t left = in.varint(kMaxFacts, "the number of facts"); left > 0; --left) {
    std::string name(in.text(kMaxFact, "a fact's length"));
    info.facts[std::move(name)] = in.text(kMaxFact, "a fact's length");
  }
  if (in.varint() != info.threads.size()) throw Damage("the number of threads is wrong");
  info.operations = in.varint();
  const std::uint64_t kinds = in.varint(kOperationKinds, "the number of operation kinds");
  std::uint64_t operations = 0;
  for (std::uint64_t kind = 0; kind < kinds; ++kind) {
    info.by_kind[kind] =
        in.varint(info.operations - operations, "the number of operations of a kind");
    operations += info.by_kind[kind];
  }
  if (operations != info.operations) throw Damage("the number of operations is wrong");
  info.bytes_read = in.varint();
  info.bytes_written = in.varint();
  info.duration_ns = in.varint(INT64_MAX, "the duration");
  info.slots = static_cast<std::uint32_t>(in.varint(kMaxReelSlots, "the number of open files"));
  info.mappings = static_cast<std::uint32_t>(in.varint(kMaxReelSlots, "the number of mappings"));
  info.files = static_cast<std::uint32_t>(in.varint(kMaxReelFiles, "the number of files"));
  info.largest_io = in.varint(INT64_MAX, "the largest operation");
  info.timed = in.varint(1, "the flag for recorded times") != 0;
  take_counts(in, info.lost);
  take_counts(in, info.approximated);
  take_set(in, trees.initial);
  trees.absent = in.varint();
  take_set(in, trees.final);
  if (version >= 2) {
    info.recorder_ns = static_cast<std::uint32_t>(in.varint(UINT32_MAX, "the recorder's overhead"));
  }
  if (version >= 3) info.waits = in.varint(1, "the flag for recorded waits") != 0;
  if (version >= 4) take_check(in, version, info.check);
  in.expect_end();
}

void put_index_entry(std::string& out, const IndexEntry& entry) {
  put_u32(out, static_cast<std::uint32_t>(entry.type));
  put_varint(out, entry.size);
  put_varint(out, entry.count);
  if (entry.type != BlockType::operations) return;
  put_varint(out, entry.earliest);
  put_varint(out, entry.latest - entry.earliest);
  put_varint(out, entry.threads.size());
  std::uint32_t previous = 0;
  for (const std::uint32_t thread : entry.threads) {
    put_varint(out, thread - previous);
    previous = thread;
  }
}

IndexEntry take_index_entry(ByteReader& in) {
  IndexEntry entry;
  const std::uint32_t type = in.u32();
  if (!is_block_type(type)) throw Damage("the index contains an unknown block");
  entry.type = static_cast<BlockType>(type);
  entry.size = static_cast<std::uint32_t>(in.varint(kMaxBlockSize, "a block's size"));
  entry.count = static_cast<std::uint32_t>(in.varint(kMaxBlockItems, "a block's count"));
  if (entry.type != BlockType::operations) return entry;
  entry.earliest = in.varint();
  entry.latest = entry.earliest + in.varint();
  std::uint64_t thread = 0;
  for (std::uint64_t left = in.varint(entry.count, "the number of threads of a block"); left > 0;
       --left) {
    thread += in.varint(kMaxReelThreads, "a thread");
    if (thread >= kMaxReelThreads) throw Damage("the index contains an undefined thread");
    entry.threads.push_back(static_cast<std::uint32_t>(thread));
  }
  return entry;
}

}  // namespace filereel

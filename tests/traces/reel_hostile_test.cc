// Reels that somebody made to do harm: each costs one clear line and little memory.
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "traces/reel/column.h"
#include "traces/reel/info_blocks.h"
#include "traces/reel/operation_block.h"
#include "traces/reel/reel_format.h"
#include "traces/reel/reel_reader.h"
#include "traces/reel/tree_blocks.h"

namespace filereel {
namespace {

// A reel made block by block, all of them with good checksums.
class Forgery {
 public:
  void add(BlockType type, std::uint32_t count, std::uint64_t first, std::string_view bytes) {
    bytes_ += make_block(type, count, first, bytes);
    index_.push_back({type, static_cast<std::uint32_t>(bytes.size()), count, 0, 0, {}});
  }

  void add_paths(const std::vector<PathDefinition>& paths, PathId first = 2) {
    add(BlockType::paths, static_cast<std::uint32_t>(paths.size()), first,
        put_paths(paths, first, packer_));
  }

  void add_operation(const Operation& operation, std::uint64_t start = 0,
                     std::uint64_t duration = 0) {
    RecordedOperation recorded{operation, start, duration};
    add(BlockType::operations, 1, 0, writer_.write({&recorded, 1}).bytes);
    info_.operations = 1;
    info_.by_kind[static_cast<std::size_t>(operation.kind)] = 1;
  }

  TraceInfo& info() { return info_; }
  TraceTrees& trees() { return trees_; }
  Packer& packer() { return packer_; }

  std::string finish(std::uint64_t claimed_operations) {
    if (!info_.threads.empty()) {
      add(BlockType::threads, static_cast<std::uint32_t>(info_.threads.size()), 0,
          put_threads(info_.threads, packer_));
    }
    add(BlockType::info, 1, 0, put_info(info_, trees_, packer_));
    const std::uint64_t at = bytes_.size();
    std::string entries;
    for (const IndexEntry& entry : index_) put_index_entry(entries, entry);
    std::string packed;
    packer_.put_packed(packed, entries);
    return bytes_ +
           make_block(BlockType::index, static_cast<std::uint32_t>(index_.size()), 0, packed) +
           make_reel_footer({at, claimed_operations});
  }
  std::string finish() { return finish(info_.operations); }

 private:
  Packer packer_{3};
  OperationBlockWriter writer_{packer_};
  std::string bytes_ = make_reel_header(1);
  std::vector<IndexEntry> index_;
  TraceInfo info_;
  TraceTrees trees_;
};

// What reading all of it ends with; empty if it can be read.
std::string complaint(const std::string& bytes) {
  try {
    ReelReader reader(std::as_bytes(std::span(bytes)), "bad.reel");
    RecordedOperation operation;
    while (reader.next({&operation, 1}) == 1) continue;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unusable_input);
    return error.what();
  }
  return "";
}

bool complains(const std::string& bytes, std::string_view about) {
  const std::string text = complaint(bytes);
  CAPTURE(text);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.starts_with("bad.reel: byte "));
  return text.find(about) != std::string::npos;
}

// A forgery with a thread and room for open files, that can be read unless `op` is bad.
std::string with_operation(const std::function<void(Operation&)>& change) {
  Forgery forgery;
  forgery.info().threads.resize(1);
  forgery.info().threads[0].operations = 1;
  forgery.info().slots = forgery.info().mappings = forgery.info().files = 4;
  forgery.info().largest_io = 4096;
  Operation op;
  op.kind = OperationKind::read;
  op.file = 1;
  op.length = 4096;
  op.expected = 4096;
  change(op);
  forgery.add_operation(op);
  return forgery.finish();
}

TEST_CASE("a forged reel with nothing wrong can be read") {
  CHECK(complaint(with_operation([](Operation&) {})).empty());
}

TEST_CASE("operations that use what there is not are refused") {
  const auto refused = [](std::string_view about, const std::function<void(Operation&)>& change) {
    return complains(with_operation(change), about);
  };
  CHECK(refused("open file is out of range", [](Operation& op) { op.file = 4; }));
  CHECK(refused("file is out of range", [](Operation& op) { op.entry = 4; }));
  CHECK(refused("offset is over", [](Operation& op) { op.offset = 1ULL << 63; }));
  CHECK(refused("offset is over", [](Operation& op) { op.offset = UINT64_MAX; }));
  CHECK(refused("length is over", [](Operation& op) {
    op.kind = OperationKind::allocate;
    op.length = UINT64_MAX - 4095;
  }));
  CHECK(refused("more than the reel's largest", [](Operation& op) { op.length = 4097; }));
  CHECK(refused("transfers more than requested", [](Operation& op) { op.expected = 4097; }));
  CHECK(refused("not an error number", [](Operation& op) { op.expected = -4096; }));
  CHECK(refused("undefined thread", [](Operation& op) { op.thread = 1; }));
  CHECK(refused("thread is undefined", [](Operation& op) {
    op = {};
    op.kind = OperationKind::fork;
    op.second = 1;
  }));
  CHECK(refused("path is undefined", [](Operation& op) {
    op = {};
    op.kind = OperationKind::unlink;
    op.path = 2;
  }));
  CHECK(refused("text is undefined", [](Operation& op) {
    op = {};
    op.kind = OperationKind::symlink;
    op.text = 1;
  }));
  CHECK(refused("out of range", [](Operation& op) {
    op = {};
    op.kind = OperationKind::unmap;
    op.source = 4;
  }));
  for (const OperationKind kind :
       {OperationKind::barrier, OperationKind::await, OperationKind::pace}) {
    CHECK(refused("unsupported", [kind](Operation& op) {
      op = {};
      op.kind = kind;
    }));
  }
}

TEST_CASE("names that could lead out of the tree are refused") {
  const auto refused = [](PathDefinition definition, std::string_view about) {
    Forgery forgery;
    forgery.add_paths({definition});
    return complains(forgery.finish(), about);
  };
  CHECK(refused({0, ".."}, "'..'"));
  CHECK(refused({0, "."}, "'..'"));
  CHECK(refused({0, "../../etc/x"}, "slash"));
  CHECK(refused({0, "/etc"}, "slash"));
  CHECK(refused({0, ""}, "empty"));
  CHECK(refused({0, std::string(256, 'n')}, "too long"));
  CHECK(refused({0, std::string(10'000, 'n')}, "too long"));
  CHECK(refused({7, "child"}, "undefined"));
  CHECK(refused({0, std::string_view("a\0b", 3)}, "more names"));
}

TEST_CASE("a table of a million empty names ends at the first") {
  Forgery forgery;
  std::vector<PathDefinition> nothing(65'536, {0, ""});
  for (int i = 0; i < 16; ++i) {
    forgery.add_paths(nothing, 2 + static_cast<PathId>(i) * 65'536);
  }
  CHECK(complains(forgery.finish(), "a name is empty"));
}

TEST_CASE("a path that grows without end is refused") {
  Forgery forgery;
  const std::string name(255, 'n');
  std::vector<PathDefinition> chain;
  for (PathId parent = 0; chain.size() < 1000;) {
    chain.push_back({parent, name});
    parent = static_cast<PathId>(chain.size()) + 1;
  }
  forgery.add_paths(chain);
  CHECK(complains(forgery.finish(), "longer than 65535 bytes"));
}

TEST_CASE("counts that promise too much cost nothing") {
  SUBCASE("a footer with 10^12 operations") {
    Forgery forgery;
    CHECK(complains(forgery.finish(1'000'000'000'000), "number of operations"));
  }
  SUBCASE("information with 10^12 operations") {
    Forgery forgery;
    forgery.info().operations = forgery.info().by_kind[2] = 1'000'000'000'000;
    CHECK(complains(forgery.finish(), "number of operations"));
  }
  SUBCASE("a thread with them") {
    Forgery forgery;
    forgery.info().threads.resize(1);
    forgery.info().threads[0].operations = 1'000'000'000'000;
    CHECK(complains(forgery.finish(), "more operations than the reel"));
  }
  SUBCASE("too many open files") {
    Forgery forgery;
    forgery.info().slots = UINT32_MAX;
    CHECK(complains(forgery.finish(), "out of range"));
  }
  SUBCASE("a block of 2^32 - 1 operations") {
    Forgery forgery;
    forgery.add(BlockType::operations, UINT32_MAX, 0, "");
    CHECK(complains(forgery.finish(), "out of range"));
  }
  SUBCASE("an empty block of operations") {
    Forgery forgery;
    forgery.add(BlockType::operations, 0, 0, "");
    CHECK(complains(forgery.finish(), "empty"));
  }
}

TEST_CASE("frames that unpack to more than they say are refused") {
  Forgery forgery;
  const std::string zeros(32 << 20, '\0');
  const std::string frame(forgery.packer().pack(zeros));
  REQUIRE(frame.size() < 10'000);
  std::string bytes;
  SUBCASE("as a column") {
    bytes += '\x10';  // packed classes
    put_varint(bytes, frame.size());
    bytes += frame;
    forgery.add(BlockType::paths, 65'536, 2, bytes);
    CHECK(complains(forgery.finish(), "frame"));
  }
  SUBCASE("as texts of the length that they have") {
    put_column(bytes, std::vector<std::uint64_t>(2, 0), ColumnNature::positive, forgery.packer());
    put_varint(bytes, zeros.size());
    put_varint(bytes, frame.size());
    bytes += frame;
    forgery.add(BlockType::texts, 2, 1, bytes);
    CHECK(complains(forgery.finish(), "out of range"));
  }
  SUBCASE("as texts of another length") {
    put_column(bytes, std::vector<std::uint64_t>(2, 0), ColumnNature::positive, forgery.packer());
    put_varint(bytes, 100);
    put_varint(bytes, frame.size());
    bytes += frame;
    forgery.add(BlockType::texts, 2, 1, bytes);
    CHECK(complains(forgery.finish(), "frame"));
  }
}

TEST_CASE("trees that could not be a file set are refused") {
  Forgery forgery;
  forgery.add_paths({{0, "a"}, {2, "b"}});
  const auto add = [&](const std::vector<Entry>& entries, const std::vector<PathId>& paths) {
    const std::vector<std::uint32_t> targets(entries.size(), 0);
    forgery.add(BlockType::initial, static_cast<std::uint32_t>(entries.size()), 0,
                put_entries({entries, paths, targets}, forgery.packer()));
    forgery.trees().initial.entries = EntryList(entries);
  };
  Entry entry;
  SUBCASE("with a file whose directory is missing") {
    add({entry}, {3});
    CHECK(complains(forgery.finish(), "directory"));
  }
  SUBCASE("with a set-uid bit beyond the permissions") {
    entry.mode = 0100755;
    add({entry}, {2});
    CHECK(complains(forgery.finish(), "mode"));
  }
  SUBCASE("with a file below a symlink") {
    Entry link;
    link.kind = EntryKind::symlink;
    link.target = "/";
    const std::vector<std::string_view> texts = {link.target};
    const std::vector<Entry> entries = {link, entry};
    const std::vector<PathId> paths = {2, 3};
    const std::vector<std::uint32_t> targets = {1, 0};
    forgery.add(BlockType::texts, 1, 1, put_texts(texts, forgery.packer()));
    forgery.add(BlockType::initial, 2, 0, put_entries({entries, paths, targets}, forgery.packer()));
    forgery.trees().initial.entries = EntryList(entries);
    CHECK(complains(forgery.finish(), "directory"));
  }
  SUBCASE("with a path twice") {
    add({entry, entry}, {2, 2});
    CHECK(complains(forgery.finish(), "duplicate"));
  }
  SUBCASE("with the root") {
    add({entry}, {0});
    CHECK(complains(forgery.finish(), "'.'"));
  }
  SUBCASE("with a path that is undefined") {
    add({entry}, {9});
    CHECK(complains(forgery.finish(), "undefined"));
  }
  SUBCASE("with a file larger than files can be") {
    entry.size = 1ULL << 63;
    add({entry}, {2});
    CHECK(complains(forgery.finish(), "2^63 - 1"));
  }
  SUBCASE("with more entries than it says") {
    add({entry}, {2});
    forgery.trees().initial.entries.clear();
    CHECK(complains(forgery.finish(), "number of entries"));
  }
}

}  // namespace
}  // namespace filereel

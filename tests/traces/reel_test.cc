#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/temp_dir.h"
#include "tests/traces/reel_samples.h"
#include "traces/reel/reel_format.h"
#include "traces/reel/reel_reader.h"
#include "traces/reel/reel_writer.h"

namespace filereel {
namespace {

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::span<const std::byte> as_span(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

// The reel of a sample, as bytes.
std::string reel_of(const SampleTrace& sample, const ReelWriterOptions& options = {}) {
  const TempDir dir;
  ReelWriter writer(dir / "sample.reel", sample.tables, options);
  for (const RecordedOperation& operation : sample.operations) writer.add(operation);
  writer.finish(sample.info, sample.trees);
  return read_bytes(dir / "sample.reel");
}

std::vector<RecordedOperation> all_of(ReelReader& reader, std::size_t at_once = 1000) {
  std::vector<RecordedOperation> all;
  std::vector<RecordedOperation> some(at_once);
  while (const std::size_t count = reader.next(some)) {
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

// How many operations at the beginning are the same.
std::size_t same_prefix(const std::vector<RecordedOperation>& a,
                        const std::vector<RecordedOperation>& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && same_operation(a[i], b[i])) ++i;
  return i;
}

void check_same_set(const FileSet& a, const FileSet& b) {
  CHECK(a.name == b.name);
  CHECK(a.description == b.description);
  CHECK(a.source == b.source);
  CHECK(a.seed == b.seed);
  REQUIRE(a.entries.size() == b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const Entry& x = a.entries[i];
    const Entry& y = b.entries[i];
    CAPTURE(x.path);
    CHECK(x.path == y.path);
    CHECK(x.kind == y.kind);
    CHECK(x.mode == y.mode);
    CHECK(x.size == y.size);
    CHECK(x.mtime_ns == y.mtime_ns);
    CHECK(x.content == y.content);
    CHECK(x.target == y.target);
    CHECK(x.holes == y.holes);
  }
}

// The text of the error that reading ends with, if it does; `read` gets what came before.
std::optional<std::string> error_of(const std::string& bytes, std::vector<RecordedOperation>& read,
                                    bool* complete = nullptr) {
  try {
    ReelReader reader(as_span(bytes), "x.reel");
    if (complete != nullptr) *complete = reader.info().complete;
    RecordedOperation operation;
    while (reader.next({&operation, 1}) == 1) read.push_back(operation);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unusable_input);
    return error.what();
  }
  return std::nullopt;
}

TEST_CASE("operations of every kind come back as they were, over many blocks") {
  SampleTrace sample;
  fill_sample(sample, 40'000);
  const std::string bytes = reel_of(sample);
  ReelReader reader(as_span(bytes), "sample");
  const auto read = all_of(reader);
  REQUIRE(read.size() == sample.operations.size());
  CHECK(same_prefix(read, sample.operations) == read.size());
  SUBCASE("again after rewinding, in small pieces") {
    reader.rewind();
    CHECK(same_prefix(all_of(reader, 7), sample.operations) == read.size());
  }
  SUBCASE("again after rewinding in the middle of a block") {
    reader.rewind();
    std::vector<RecordedOperation> some(20'000);
    CHECK(reader.next(some) == some.size());
    reader.rewind();
    CHECK(same_prefix(all_of(reader), sample.operations) == read.size());
  }
}

TEST_CASE("names, trees and facts come back as they were") {
  SampleTrace sample;
  fill_sample(sample, 100);
  const std::string bytes = reel_of(sample);
  const ReelReader reader(as_span(bytes), "sample");
  const PathTable& paths = reader.tables().paths;
  // The final tree needs two more.
  REQUIRE(paths.size() == sample.tables.paths.size() + 2);
  for (PathId id = 2; id < sample.tables.paths.size(); ++id) {
    CHECK(paths.node(id).parent == sample.tables.paths.node(id).parent);
    CHECK(paths.node(id).name == sample.tables.paths.node(id).name);
  }
  REQUIRE(reader.tables().texts.size() == sample.tables.texts.size() + 1);
  for (TextId id = 0; id < sample.tables.texts.size(); ++id) {
    CHECK(reader.tables().texts.text(id) == sample.tables.texts.text(id));
  }
  check_same_set(reader.trees().initial, sample.trees.initial);
  check_same_set(reader.trees().final, sample.trees.final);
  CHECK(reader.trees().absent == 4);

  const TraceInfo& info = reader.info();
  CHECK(info.complete);
  CHECK(info.facts == sample.info.facts);
  CHECK(info.lost == sample.info.lost);
  CHECK(info.approximated == sample.info.approximated);
  REQUIRE(info.threads.size() == sample.info.threads.size());
  for (std::size_t i = 0; i < info.threads.size(); ++i) {
    CHECK(info.threads[i].process == sample.info.threads[i].process);
    CHECK(info.threads[i].thread == sample.info.threads[i].thread);
    CHECK(info.threads[i].parent == sample.info.threads[i].parent);
    CHECK(info.threads[i].name == sample.info.threads[i].name);
  }
}

TEST_CASE("the writer counts what it is given") {
  SampleTrace sample;
  fill_sample(sample, 1'000);
  const std::string bytes = reel_of(sample);
  const ReelReader reader(as_span(bytes), "sample");
  const TraceInfo& info = reader.info();
  CHECK(info.operations == 1'000);
  std::uint64_t written = 0;
  std::uint64_t opens = 0;
  std::uint64_t of_thread_2 = 0;
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (const RecordedOperation& recorded : sample.operations) {
    const Operation& op = recorded.operation;
    const bool writes = op.kind == OperationKind::write || op.kind == OperationKind::copy_range;
    if (writes && op.expected > 0) written += static_cast<std::uint64_t>(op.expected);
    if (op.kind == OperationKind::open) ++opens;
    if (op.thread == 2) ++of_thread_2;
    begin = std::min(begin, recorded.start_ns);
    end = std::max(end, recorded.start_ns + recorded.duration_ns);
  }
  CHECK(info.bytes_written == written);
  CHECK(info.by_kind[static_cast<std::size_t>(OperationKind::open)] == opens);
  CHECK(info.threads[2].operations == of_thread_2);
  CHECK(info.duration_ns == end - begin);
  CHECK(info.largest_io <= kMaxTransfer);
}

TEST_CASE("a reel without operations is a reel") {
  const SampleTrace nothing;
  const std::string bytes = reel_of(nothing);
  ReelReader reader(as_span(bytes), "nothing");
  CHECK(reader.info().complete);
  CHECK(reader.info().operations == 0);
  CHECK(all_of(reader).empty());
}

TEST_CASE("names that come while a trace is made stand before the operations that use them") {
  const TempDir dir;
  TraceTables tables;
  ReelWriter writer(dir / "grown.reel", tables, {});
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    names.push_back("d/" + std::to_string(i * 7919 % 100'000));
    RecordedOperation recorded;
    recorded.operation.kind = OperationKind::access;
    recorded.operation.path = tables.paths.add(Role::near, names.back());
    writer.add(recorded);
  }
  writer.finish({}, {});
  // Cut behind the second block of operations: what it names must be there.
  std::string bytes = read_bytes(dir / "grown.reel");
  const std::size_t second = bytes.find("OPER", bytes.find("OPER") + 1);
  const std::size_t third = bytes.find("OPER", second + 1);
  bytes.resize(third);
  ReelReader reader(as_span(bytes), "grown");
  CHECK_FALSE(reader.info().complete);
  const auto read = all_of(reader);
  REQUIRE(read.size() == 2 * kBlockOperations);
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (reader.tables().paths.relative(read[i].operation.path) != names[i]) {
      FAIL("operation ", i, " names another path");
    }
  }
}

TEST_CASE("times are stored in the unit that they came in") {
  SampleTrace sample;
  fill_sample(sample, 500);
  const std::string bytes = reel_of(sample, {.compression = 3, .time_unit_ns = 1000});
  ReelReader reader(as_span(bytes), "sample");
  const auto read = all_of(reader);
  REQUIRE(read.size() == 500);
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].start_ns == sample.operations[i].start_ns / 1000 * 1000);
    CHECK(read[i].duration_ns == sample.operations[i].duration_ns / 1000 * 1000);
  }
}

TEST_CASE("an extraction of thousands of files takes less than four bytes for each operation") {
  SampleTrace sample;
  fill_extraction(sample, 6'000);
  const std::string bytes = reel_of(sample, {.compression = 9, .time_unit_ns = 1000});
  const double each =
      static_cast<double>(bytes.size()) / static_cast<double>(sample.operations.size());
  MESSAGE(sample.operations.size(), " operations, ", each, " bytes each");
  CHECK(each < 4);
  ReelReader reader(as_span(bytes), "sample");
  const auto read = all_of(reader);
  CHECK(read.size() == sample.operations.size());
  CHECK(same_prefix(read, sample.operations) == read.size());
  check_same_set(reader.trees().final, sample.trees.final);
}

TEST_CASE("a writer that is not finished leaves nothing behind") {
  const TempDir dir;
  SampleTrace sample;
  fill_sample(sample, 20'000);
  {
    ReelWriter writer(dir / "x.reel", sample.tables, {});
    for (const RecordedOperation& operation : sample.operations) writer.add(operation);
  }
  CHECK(boost::filesystem::is_empty(dir.path()));
}

TEST_CASE("the writer refuses what a reader would refuse") {
  const TempDir dir;
  TraceTables tables;
  ReelWriter writer(dir / "x.reel", tables, {});
  RecordedOperation recorded;
  Operation& op = recorded.operation;
  op.kind = OperationKind::read;
  op.file = 0;
  SUBCASE("a path that is not in the table") {
    op.path = 2;
  }
  SUBCASE("an offset beyond what files can have") {
    op.offset = 1ULL << 63;
  }
  SUBCASE("a length beyond what files can have") {
    op.length = UINT64_MAX;
  }
  SUBCASE("more bytes than were asked for") {
    op.expected = 1;
  }
  SUBCASE("a result that is no error number") {
    op.expected = -5000;
  }
  SUBCASE("too many open files") {
    op.file = kMaxReelSlots;
  }
  SUBCASE("a kind of schedules") {
    op.kind = OperationKind::await;
  }
  SUBCASE("a kind of workloads") {
    op.kind = OperationKind::barrier;
  }
  SUBCASE("a kind that there is not") {
    op.kind = static_cast<OperationKind>(kOperationKinds);
  }
  CHECK_THROWS_AS(writer.add(recorded), Error);
}

// Of what is wrong with the trace; empty if a reel can hold it.
std::string complaint_of_writer(const TraceTables& tables, const RecordedOperation& operation) {
  const TempDir dir;
  try {
    ReelWriter writer(dir / "x.reel", tables, {});
    writer.add(operation);
    writer.finish({}, {});
  } catch (const Error& error) {
    return error.what();
  }
  ReelReader(dir / "x.reel");
  return {};
}

TEST_CASE("the writer says what it refuses, and what to do") {
  TraceTables tables;
  RecordedOperation recorded;
  recorded.operation.kind = OperationKind::make_directory;
  const auto ends_with = [&](const std::string& end) {
    const std::string complaint = complaint_of_writer(tables, recorded);
    CAPTURE(complaint);
    return complaint.ends_with("x.reel: " + end);
  };
  SUBCASE("an operation") {
    recorded.duration_ns = 1ULL << 63;
    CHECK(
        ends_with("operation 0 is not valid in a reel: its time is over 2^63 - 1 ns; remove it "
                  "from the trace"));
  }
  SUBCASE("a whole path") {
    PathId& path = recorded.operation.path;
    for (int i = 0; i < 255; ++i) path = tables.paths.add(path, std::string(255, 'd'));
    SUBCASE("just as long as it may be") {
      path = tables.paths.add(path, std::string(254, 'e'));
      CHECK(complaint_of_writer(tables, recorded).empty());
    }
    SUBCASE("too long") {
      path = tables.paths.add(tables.paths.add(path, std::string(250, 'e')), "last");
      CHECK(ends_with(
          "the path ending in '/last' is longer than 65535 bytes; remove it from the trace"));
    }
  }
  SUBCASE("a text") {
    recorded.operation.kind = OperationKind::symlink;
    recorded.operation.text = tables.texts.add(std::string(65'536, 't'));
    CHECK(ends_with("a text is longer than 65535 bytes; remove it from the trace"));
  }
}

TEST_CASE("a torn reel is read up to its last whole block, wherever it was cut") {
  SampleTrace sample;
  fill_sample(sample, 300);
  const std::string bytes = reel_of(sample);
  const std::size_t block = bytes.find("OPER");
  std::uint32_t block_size = 0;
  std::memcpy(&block_size, bytes.data() + block + 4, sizeof block_size);
  const std::size_t after_operations = block + 28 + block_size;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    std::vector<RecordedOperation> read;
    bool complete = true;
    const auto error = error_of(bytes.substr(0, size), read, &complete);
    if (size < 24) {
      CHECK(error.has_value());
      continue;
    }
    CHECK_FALSE(error.has_value());
    CHECK_FALSE(complete);
    CHECK(read.size() == (size < after_operations ? 0 : 300));
    CHECK(same_prefix(read, sample.operations) == read.size());
  }
}

TEST_CASE("of a torn reel the counts and trees are found again") {
  SampleTrace sample;
  fill_extraction(sample, 200);
  const std::string whole = reel_of(sample);
  const std::string torn = whole.substr(0, whole.size() - 1);
  const ReelReader before(as_span(whole), "whole");
  const ReelReader after(as_span(torn), "torn");
  CHECK(before.info().complete);
  CHECK_FALSE(after.info().complete);
  CHECK(after.info().operations == before.info().operations);
  CHECK(after.info().by_kind == before.info().by_kind);
  CHECK(after.info().bytes_written == before.info().bytes_written);
  CHECK(after.info().duration_ns == before.info().duration_ns);
  CHECK(after.info().slots == before.info().slots);
  CHECK(after.info().largest_io == before.info().largest_io);
  CHECK(after.info().timed);
  CHECK(after.trees().initial.entries.empty());
  const FileSetTotals found = after.trees().final.totals();
  const FileSetTotals expected = before.trees().final.totals();
  CHECK(found.files == expected.files);
  CHECK(found.directories == expected.directories);
  CHECK(found.bytes == expected.bytes);
}

TEST_CASE("a byte that is wrong is found wherever it stands") {
  SampleTrace sample;
  fill_sample(sample, 300);
  const std::string bytes = reel_of(sample);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      CAPTURE(at);
      CAPTURE(change);
      std::string bad = bytes;
      bad[at] = static_cast<char>(bad[at] ^ change);
      std::vector<RecordedOperation> read;
      bool complete = true;
      const auto error = error_of(bad, read, &complete);
      // A wrong byte in the mark at the end makes the reel look torn.
      CHECK((error.has_value() || (!complete && at >= bytes.size() - 8)));
      CHECK(same_prefix(read, sample.operations) == read.size());
      if (error) CHECK(error->find('\n') == std::string::npos);
      if (error) CHECK(error->starts_with("x.reel: byte "));
    }
  }
}

TEST_CASE("what is no reel, or a newer one, is refused in one clear line") {
  std::vector<RecordedOperation> read;
  CHECK(error_of("", read)->find("not a reel") != std::string::npos);
  CHECK(error_of("#!/bin/sh\n", read)->find("not a reel") != std::string::npos);
  const SampleTrace nothing;
  std::string newer = reel_of(nothing);
  newer[8] = kReelFormatVersion + 1;
  CHECK(*error_of(newer, read) ==
        "x.reel: byte 8: unsupported reel format version 6: expected 1 to 5; use a newer "
        "filereel");
  CHECK_THROWS_WITH_AS(ReelReader("/nonexistent/x.reel"),
                       "cannot read /nonexistent/x.reel: No such file or directory", Error);
}

// Made once for each version of the format: traces_test --no-skip -tc='a sample for the corpus*'
TEST_CASE("a sample for the corpus is written" * doctest::skip()) {
  SampleTrace sample;
  fill_sample(sample, 200);
  std::ofstream("good-v5.reel", std::ios::binary) << reel_of(sample);
}

TEST_CASE("reels of all versions that were written long ago are still read") {
  const char* const data = std::getenv("FILEREEL_TEST_DATA");
  REQUIRE(data != nullptr);
  for (const std::uint32_t version : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(version);
    SampleTrace sample;
    constexpr std::size_t kKindsBefore3 = 48;
    fill_sample(sample, 200, version < 3 ? kKindsBefore3 : kOperationKinds);
    ReelReader reader(std::string(data) + "/fuzz/corpus/reel/good-v" + std::to_string(version) +
                      ".reel");
    CHECK(reader.version() == version);
    const auto read = all_of(reader);
    CHECK(read.size() == 200);
    CHECK(same_prefix(read, sample.operations) == 200);
    check_same_set(reader.trees().final, sample.trees.final);
    CHECK(reader.info().facts == sample.info.facts);
    CHECK(reader.info().waits == (version >= 3));
    if (version < 4) sample.info.check = {};
    if (version == 4) sample.info.check.by_others = sample.info.check.writes = 0;
    if (version == 4) sample.info.check.others.clear();
    CHECK(reader.info().check == sample.info.check);
    CHECK(reader.info().recorder_ns == (version == 1 ? 0 : sample.info.recorder_ns));
  }
}

}  // namespace
}  // namespace filereel

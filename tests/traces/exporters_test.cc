#include "traces/export/exporters.h"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "filesets/system/error.h"
#include "imported.h"
#include "recorded.h"
#include "traces/import/importers.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

struct Exported {
  std::string text;
  ExportLosses losses;
};

Exported exported(std::string_view format, const std::vector<RecordedOperation>& operations,
                  const TraceTables& tables, const TraceInfo& info) {
  VectorRecordedSource source(operations);
  Exported result;
  result.losses = find_exporter(format).write(
      source, tables, info, [&](std::string_view piece) { result.text += piece; });
  return result;
}

// A trace built by hand.
struct Made {
  TraceTables tables;
  TraceInfo info;
  std::vector<RecordedOperation> operations;

  Made() { info.threads.push_back({.process = 10, .thread = 11, .name = "prog"}); }

  Operation& add(OperationKind kind, std::uint64_t start_ns = 0) {
    RecordedOperation& made = operations.emplace_back();
    made.operation.kind = kind;
    made.operation.position = operations.size() - 1;
    made.start_ns = start_ns;
    made.duration_ns = 500;
    return made.operation;
  }
  void open(FileSlot file, std::string_view path, int flags = O_RDWR) {
    Operation& operation = add(OperationKind::open);
    operation.file = file;
    operation.path = tables.paths.add(Role::near, path);
    operation.flags = static_cast<std::uint32_t>(flags);
  }
  void use(OperationKind kind, FileSlot file, std::uint64_t offset = 0, std::uint64_t length = 0) {
    Operation& operation = add(kind);
    operation.file = file;
    operation.offset = offset;
    operation.length = length;
    operation.expected = static_cast<std::int64_t>(length);
  }
  Exported to(std::string_view format) const { return exported(format, operations, tables, info); }
};

constexpr std::string_view kIolog =
    "fio version 3 iolog\n"
    "0 d/a add\n"
    "0 d/a open\n"
    "5 b add\n"
    "5 b open\n"
    "10 d/a read 0 4096\n"
    "20 b write 100 50\n"
    "30 b sync 0 0\n"
    "30 b datasync 0 0\n"
    "40 b trim 0 10\n"
    "50 d/a close\n"
    "60 b close\n";

TEST_CASE("importing and exporting an iolog of version 3 preserves it") {
  Imported log(fio_importer(), kIolog);
  REQUIRE(log.error.empty());
  const Exported again = exported("fio", log.sink.operations, log.tables, log.builder.info());
  CHECK(again.text == kIolog);
  CHECK(again.losses.empty());
}

TEST_CASE(
    "direct and synchronous files and asynchronous requests are lost in an iolog, and counted") {
  Made made;
  made.open(0, "a", O_RDWR | open_flags::kDirect);
  made.open(1, "b", O_RDWR | O_SYNC);
  made.use(OperationKind::read, 0, 0, 4096);
  made.operations.back().operation.asynchronous = true;
  CHECK(made.to("fio").losses ==
        ExportLosses{{"direct I/O of files (for fio: direct=1)", 1},
                     {"synchronous writes to files (for fio: sync=1)", 1},
                     {"asynchronous requests (for fio: ioengine, iodepth)", 1}});
}

TEST_CASE("operations that an iolog cannot represent are counted by reason") {
  Made made;
  made.open(0, "a");
  made.open(1, "a");  // a second time
  made.open(2, "with blank");
  made.open(3, "dir", O_RDONLY | open_flags::kDirectory);
  made.open(4, "dir", O_RDWR | open_flags::kTemporary);
  made.open(5, "cut", O_WRONLY | O_TRUNC);
  made.use(OperationKind::read, 0, 0, 10);
  made.use(OperationKind::read, 0, 10, 0);
  made.use(OperationKind::read, 2, 0, 10);
  made.use(OperationKind::sync, 3);
  made.use(OperationKind::write, 4, 0, 10);
  made.use(OperationKind::write, 9, 0, 10);  // not open
  made.add(OperationKind::rename);
  made.add(OperationKind::rename);
  made.add(OperationKind::unlink).expected = -ENOENT;
  made.add(OperationKind::fork);  // not a call: no loss
  for (const FileSlot file : {0, 1, 2, 3, 4, 5}) made.use(OperationKind::close, file);
  made.info.threads.push_back({.process = 10, .thread = 12, .name = {}});
  const Exported log = made.to("fio");
  CHECK(log.text ==
        "fio version 3 iolog\n"
        "0 a add\n0 a open\n0 cut add\n0 cut open\n0 a read 0 10\n0 a close\n0 cut close\n");
  CHECK(log.losses == ExportLosses{
                          {"truncation of files by open", 1},
                          {"operations on directories", 2},
                          {"operations on files with no recorded open", 1},
                          {"operations on files with names unsupported by fio", 2},
                          {"operations on unnamed files", 2},
                          {"failed operations", 1},
                          {"reads and writes of zero bytes", 1},
                          {"rename operations", 2},
                          {"threads after the first: only their order is kept", 1},
                      });
}

TEST_CASE("times of an iolog never decrease") {
  Made made;
  made.open(0, "a");
  made.add(OperationKind::sync, 5'000'999).file = 0;
  made.add(OperationKind::sync, 4'000'000).file = 0;
  CHECK(made.to("fio").text ==
        "fio version 3 iolog\n0 a add\n0 a open\n5000 a sync 0 0\n5000 a sync 0 0\n");
}

TEST_CASE("JSON lines start with a description of the trace") {
  Made made;
  made.info.operations = 2;
  made.info.duration_ns = 1500;
  made.info.facts["source"] = "fio \"x\"";
  made.info.lost["lost events"] = 3;
  made.info.threads.push_back({.process = 10, .thread = 12, .parent = 0, .name = {}});
  made.open(0, "a\xff\"\\b\n\xc3\xa4");
  made.add(OperationKind::unlink, 1234).expected = -ENOENT;
  CHECK(made.to("jsonl").text ==
        "{\"format\":\"filereel-operations\",\"version\":1,\"operations\":2,\"duration_us\":1.500,"
        "\"timed\":true,\"complete\":true,\"facts\":{\"source\":\"fio \\\"x\\\"\"},"
        "\"lost\":{\"lost events\":3},\"approximated\":{},\"threads\":["
        "{\"process\":10,\"thread\":11,\"name\":\"prog\"},"
        "{\"process\":10,\"thread\":12,\"parent\":0,\"name\":\"\"}]}\n"
        "{\"position\":0,\"thread\":0,\"start_us\":0.000,\"duration_us\":0.500,"
        "\"operation\":\"open\",\"path\":\"a\\\\xff\\\"\\\\x5cb\\\\x0a\xc3\xa4\",\"file\":0,"
        "\"flags\":2,\"mode\":\"0000\",\"result\":0}\n"
        "{\"position\":1,\"thread\":0,\"start_us\":1.234,\"duration_us\":0.500,"
        "\"operation\":\"unlink\",\"path\":\".\",\"error\":\"ENOENT\"}\n");
  made.info.timed = false;
  CHECK(made.to("jsonl").text.find("start_us") == std::string::npos);
}

TEST_CASE("a Chrome trace has a row for each thread and an event for each operation") {
  Made made;
  made.add(OperationKind::sync_volume, 2000);
  made.add(OperationKind::fork, 3000).second = 1;
  Operation& submitted = made.add(OperationKind::read, 4000);
  submitted.file = 3;
  submitted.asynchronous = true;
  CHECK(made.to("chrome").text ==
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":10,\"tid\":0,\"name\":\"thread_name\",\"args\":"
        "{\"name\":\"prog 10:11\"}},\n"
        "{\"ph\":\"M\",\"pid\":10,\"tid\":0,\"name\":\"process_name\",\"args\":"
        "{\"name\":\"prog\"}},\n"
        "{\"ph\":\"X\",\"pid\":10,\"tid\":0,\"name\":\"syncfs\",\"cat\":\"file\",\"ts\":2.000,"
        "\"dur\":0.500,\"args\":{\"position\":0,\"result\":0}},\n"
        "{\"ph\":\"i\",\"pid\":10,\"tid\":0,\"name\":\"fork\",\"cat\":\"order\",\"ts\":3.000,"
        "\"s\":\"t\",\"args\":{\"position\":1,\"second\":1,\"result\":0}},\n"
        "{\"ph\":\"b\",\"pid\":10,\"tid\":0,\"name\":\"read\",\"cat\":\"file\",\"ts\":4.000,"
        "\"id\":2,\"args\":{\"position\":2,\"file\":3,\"offset\":0,\"length\":0,"
        "\"asynchronous\":true,\"result\":0}},\n"
        "{\"ph\":\"e\",\"pid\":10,\"tid\":0,\"name\":\"read\",\"cat\":\"file\",\"ts\":4.500,"
        "\"id\":2},\n"
        "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"trace_end\",\"args\":{}}\n]}\n");
}

TEST_CASE("a trace without times is drawn in its order") {
  Made made;
  made.info.timed = false;
  made.add(OperationKind::sync_volume);
  made.add(OperationKind::sync_volume);
  const std::string text = made.to("chrome").text;
  CHECK(text.find("\"ts\":1.000,\"dur\":1.000") != std::string::npos);
}

TEST_CASE("large traces are written in pieces") {
  Made made;
  for (int i = 0; i < 3000; ++i) made.add(OperationKind::sync_volume);
  for (const Exporter& exporter : exporters()) {
    if (exporter.name == "fio") continue;
    VectorRecordedSource source(made.operations);
    std::size_t pieces = 0, largest = 0;
    exporter.write(source, made.tables, made.info, [&](std::string_view piece) {
      ++pieces;
      largest = std::max(largest, piece.size());
    });
    CHECK(pieces > 2);
    CHECK(largest < (80u << 10));
  }
}

TEST_CASE("an unknown format is rejected") {
  CHECK_THROWS_WITH_AS(find_exporter("csv"), "unknown export format 'csv': use fio, jsonl, chrome",
                       Error);
}

}  // namespace
}  // namespace filereel

#include <stop_token>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <signal.h>

#include "filesets/system/error.h"
#include "filesets/system/programs.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"
#include "traces/record/recorder.h"
#include "traces/record/strace/strace_process.h"

namespace filereel {
namespace {

// The operations of a recording with their paths, by kind.
class Recorded final : public OperationSink {
 public:
  void add(const RecordedOperation& operation) override {
    const OperationInfo& info = operation_info(operation.operation.kind);
    text += info.name;
    if (has(info.fields, Field::path))
      text += " " + tables.paths.relative(operation.operation.path);
    text += "\n";
  }
  RecordOutcome record(RecordRequest request, const std::stop_token& stop = {}) {
    request.memory = std::uint64_t{1} << 40;  // other tests have used much memory in this process
    return strace_backend().make()->record(request, builder, stop);
  }
  bool has_line(const std::string& line) const { return text.contains(line + "\n"); }

  TraceTables tables;
  std::string text;
  TraceBuilder builder{tables, *this};
};

bool works() {
  const std::string missing = strace_backend().missing();
  if (!missing.empty()) skipped(missing);
  return missing.empty();
}

std::string below_root(const std::string& path) {
  return path.substr(1);
}

TEST_CASE("a program's calls are in the trace, with its status and command line") {
  if (!works()) return;
  const TempDir temp;
  Recorded recorded;
  bool started = false;
  const std::string script = "mkdir " + temp / "d" + "; exit 5";
  const RecordOutcome outcome =
      recorded.record({.command = {"sh", "-c", script}, .process = 0, .under = {}, .started = [&] {
                         started = true;
                       }});
  CHECK(started);
  CHECK(outcome.status == 5);
  CHECK(recorded.has_line("mkdir " + below_root(temp / "d")));
  CHECK(recorded.builder.info().facts.at("source") == "strace");
  CHECK(recorded.builder.info().facts.at("command") == "sh -c " + script);
  for (const auto& [reason, count] : recorded.builder.info().lost) FAIL_CHECK(reason);
}

TEST_CASE("a stop requested beforehand ends the program") {
  if (!works()) return;
  Recorded recorded;
  std::stop_source stop;
  stop.request_stop();
  const RecordOutcome outcome =
      recorded.record({.command = {"sleep", "60"}, .process = 0, .under = {}}, stop.get_token());
  CHECK(outcome.status == 128 + SIGTERM);
}

TEST_CASE("a program that cannot be started is an error, and recording never starts") {
  if (!works()) return;
  Recorded recorded;
  bool started = false;
  CHECK_THROWS_AS(recorded.record({.command = {"no-such-program"},
                                   .process = 0,
                                   .under = {},
                                   .started = [&] { started = true; }}),
                  Error);
  CHECK_FALSE(started);
}

TEST_CASE("a process that cannot be traced is reported with strace's reason") {
  if (!works()) return;
  constexpr std::uint32_t kNone = 1 << 21;
  try {
    const StraceProcess strace({kNone});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("cannot attach to process 2097152: ") != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace filereel

// What a replay says of operations whose result is not the expected one.
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <unistd.h>

#include "replay/engine/replayer.h"
#include "tests/entries.h"
#include "tests/replay/two_volumes.h"
#include "traces/fc_test.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

TEST_CASE("a missing volume is only a divergence") {
  const FileSet set = set_of({file("a", 1)});
  const TwoVolumes volumes;
  const FcTest test(set, {});
  replay(test.trace(FcStep::create), volumes.roots(), {});
  const ReplayOutcome outcome =
      replay(test.trace(FcStep::copy_far), {volumes.near_root.get(), -1}, {});
  CHECK_FALSE(outcome.complete);
  CHECK(outcome.statistics.examples.at(0).result == -EBADF);
}

TEST_CASE("an existing file is a divergence with its position and path") {
  const FileSet set = set_of({directory("d"), file("d/a", 10), file("d/b", 10), file("d/c", 10)});
  const TwoVolumes volumes;
  const FcTest test(set, {});
  replay(test.trace(FcStep::create), volumes.roots(), {});
  fs::create_directories(volumes.far / "copy/d");
  std::ofstream(volumes.far / "copy/d/b") << "mine";
  const ReplayOutcome first = replay(test.trace(FcStep::copy_far), volumes.roots(), {});
  CHECK_FALSE(first.complete);
  REQUIRE(first.statistics.examples.size() == 1);
  CHECK(first.statistics.examples[0].position == 0);
  CHECK(first.statistics.examples[0].kind == OperationKind::make_directory);
  CHECK(test.paths().relative(first.statistics.examples[0].path) == "copy");

  const ReplayOutcome all =
      replay(test.trace(FcStep::copy_far), volumes.roots(), {.stop_on_divergence = false});
  CHECK(all.complete);
  REQUIRE(all.statistics.examples.size() >= 4);
  // mkdir copy, mkdir d, six operations for a, then those for b: open to read, open anew.
  const Divergence& open = all.statistics.examples[2];
  CHECK(open.position == 9);
  CHECK(open.thread == 0);
  CHECK(open.kind == OperationKind::open);
  CHECK(test.paths().relative(open.path) == "copy/d/b");
  CHECK(test.paths().node(open.path).role == Role::far);
  CHECK(open.expected == 0);
  CHECK(open.result == -EEXIST);
  // What follows has no file to write to; the file that stood there is untouched.
  CHECK(all.statistics.examples.at(3).result == -EBADF);
  CHECK(test.paths().relative(all.statistics.examples.at(3).path) == "copy/d/b");
  std::ifstream in(volumes.far / "copy/d/b");
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "mine");
  CHECK(fs::file_size(volumes.far / "copy/d/c") == 10);
}

TEST_CASE("a divergence in one thread stops the others, wherever they are, without a hang") {
  FileSet set = set_of({directory("d")});
  for (int i = 0; i < 3'000; ++i) set.entries.push_back(file("d/" + std::to_string(i), 10));
  set.entries.push_back(link_to(EntryKind::hard_link, "h", "d/0"));
  for (const int bad : {0, 1, 2, 1500, 2999}) {
    CAPTURE(bad);
    const TwoVolumes volumes;
    fs::create_directories(volumes.near / "original/d");
    std::ofstream(volumes.near / ("original/d/" + std::to_string(bad))) << "mine";
    const FcTest test(set, {.threads = 3});
    // The directories are there already, so these operations are left out.
    Trace trace = test.trace(FcStep::create);
    std::array<Operation, 2> made;
    REQUIRE(trace.threads[0]->next(made) == 2);
    const ReplayOutcome outcome = replay(std::move(trace), volumes.roots(), {});
    CHECK_FALSE(outcome.complete);
    CHECK(outcome.statistics.divergences == 1);
    REQUIRE(outcome.statistics.examples.size() == 1);
    const Divergence& seen = outcome.statistics.examples[0];
    CHECK(seen.result == -EEXIST);
    CHECK(seen.thread < 3);         // any of them: each takes the next file
    CHECK(seen.position % 3 == 0);  // open, write, close
    CHECK(test.paths().relative(seen.path) == "original/d/" + std::to_string(bad));
    CHECK_FALSE(fs::exists(volumes.near / "original/h"));
  }
}

TEST_CASE("examples of divergences are limited, their count is exact") {
  const FileSet set = set_of({file("a", 1)});
  PathTable paths;
  std::vector<Operation> operations;
  for (int i = 0; i < 100; ++i) {
    Operation operation;
    operation.kind = OperationKind::unlink;
    operation.path = paths.add(Role::near, std::to_string(i));
    operations.push_back(operation);
  }
  const TwoVolumes volumes;
  const ReplayOutcome outcome = replay(trace_of(paths, set, {operations, operations}),
                                       volumes.roots(), {.stop_on_divergence = false});
  CHECK(outcome.complete);
  CHECK(outcome.statistics.divergences == 200);
  CHECK(outcome.statistics.operations == 200);
  CHECK(outcome.statistics.examples.size() == ReplayStatistics::kDivergenceExamples);
  CHECK(outcome.statistics.of(OperationKind::unlink).errors == 200);
  CHECK(outcome.statistics.examples[0].result == -ENOENT);
  CHECK(outcome.statistics.examples[7].position == 3);  // two threads, the first ones of both
}

TEST_CASE("a recorded failure that recurs is not a divergence") {
  const FileSet set = set_of({});
  PathTable paths;
  Operation operation;
  operation.kind = OperationKind::unlink;
  operation.path = paths.add(Role::near, "missing");
  operation.expected = -ENOENT;
  const TwoVolumes volumes;
  const ReplayOutcome outcome = replay(trace_of(paths, set, {{operation}}), volumes.roots(), {});
  CHECK(outcome.complete);
  CHECK(outcome.statistics.divergences == 0);
}

TEST_CASE("a short read is a divergence with the bytes read") {
  const FileSet set = set_of({file("a", 10)});
  const TwoVolumes volumes;
  const FcTest test(set, {});
  replay(test.trace(FcStep::create), volumes.roots(), {});
  REQUIRE(::truncate((volumes.near / "original/a").c_str(), 4) == 0);
  const ReplayOutcome outcome = replay(test.trace(FcStep::read), volumes.roots(), {});
  REQUIRE(outcome.statistics.examples.size() == 1);
  CHECK(outcome.statistics.examples[0].kind == OperationKind::read);
  CHECK(outcome.statistics.examples[0].position == 1);
  CHECK(outcome.statistics.examples[0].expected == 10);
  CHECK(outcome.statistics.examples[0].result == 4);
  CHECK(test.paths().relative(outcome.statistics.examples[0].path) == "original/a");
  CHECK(outcome.statistics.of(OperationKind::read).bytes == 4);
}

TEST_CASE("a kernel copy of a truncated file ends with a divergence") {
  const FileSet set = set_of({file("a", 10'000)});
  for (const CopyMethod method : {CopyMethod::copy_file_range, CopyMethod::sendfile}) {
    const TwoVolumes volumes;
    const FcTest test(set, {.copy_method = method});
    replay(test.trace(FcStep::create), volumes.roots(), {});
    REQUIRE(::truncate((volumes.near / "original/a").c_str(), 4'000) == 0);
    const ReplayOutcome outcome = replay(test.trace(FcStep::copy_near), volumes.roots(), {});
    REQUIRE(outcome.statistics.examples.size() == 1);
    CHECK(outcome.statistics.examples[0].kind == OperationKind::copy_range);
    CHECK(outcome.statistics.examples[0].result == 4'000);
  }
}

}  // namespace
}  // namespace filereel

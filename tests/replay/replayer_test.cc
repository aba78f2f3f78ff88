#include "replay/engine/replayer.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/content/content.h"
#include "filesets/system/error.h"
#include "tests/entries.h"
#include "tests/replay/two_volumes.h"
#include "traces/fc_test.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

FileSet varied_set() {
  FileSet set =
      set_of({directory("d", 0700), directory("d/e", 0555), file("d/a", 10, {1, 1000, 0}),
              file("d/e/b", 1'000'000, {2, 500, 100}), file("d/empty", 0),
              sparse_file("lead", 500'000, {{0, 200'704}}, {3, 300, 0}),
              sparse_file("mid", 500'000, {{98'304, 200'704}}, {4, 300, 0}),
              sparse_file("tail", 500'000, {{98'304, 401'696}}, {5, 300, 0}),
              sparse_file("nothing", 70'000, {{0, 70'000}}),
              link_to(EntryKind::symlink, "d/s", "../no where"),
              link_to(EntryKind::hard_link, "d/e/h", "d/a"), file("\xff\n", 4096, {6, 0, 0})});
  set.entries.change(2, [](Entry& entry) { entry.mode = 04640; });
  for (int i = 0; i < 40; ++i) {
    set.entries.push_back(file("d/e/" + std::to_string(i), static_cast<std::uint64_t>(i) * 977,
                               {static_cast<std::uint64_t>(10 + i), 700, 0}));
  }
  check_file_set(set);
  return set;
}

struct stat status_of(const std::string& path) {
  struct stat info{};
  CAPTURE(path);
  CHECK(lstat(path.c_str(), &info) == 0);
  return info;
}

// That the tree at `root` is the set, byte for byte, and nothing else.
void check_tree(const FileSet& set, const std::string& root) {
  std::size_t found = 0;
  for (fs::recursive_directory_iterator at(root), end; at != end; ++at) ++found;
  CHECK(found == set.entries.size());
  for (const Entry& entry : set.entries) {
    CAPTURE(entry.path);
    const std::string path = root + "/" + entry.path;
    const struct stat info = status_of(path);
    switch (entry.kind) {
      case EntryKind::directory:
        CHECK(S_ISDIR(info.st_mode));
        CHECK((info.st_mode & 07777) == ((entry.mode & 0777) | 0700));
        break;
      case EntryKind::symlink:
        CHECK(fs::read_symlink(path) == entry.target);
        break;
      case EntryKind::hard_link:
        CHECK(info.st_ino == status_of(root + "/" + entry.target).st_ino);
        break;
      case EntryKind::file: {
        CHECK((info.st_mode & 07777) == ((entry.mode & 0777) | 0600));  // no set-user-ID bit
        REQUIRE(static_cast<std::uint64_t>(info.st_size) == entry.size);
        std::vector<std::byte> bytes(entry.size);
        const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        REQUIRE(pread(fd.get(), bytes.data(), bytes.size(), 0) ==
                static_cast<ssize_t>(bytes.size()));
        CHECK(first_difference(set.seed, entry.data(), 0, bytes) == bytes.size());
        break;
      }
    }
  }
}

bool keeps_holes(const std::string& path) {
  return status_of(path).st_blocks == 0;
}

const KindStatistics& of(const ReplayOutcome& outcome, OperationKind kind) {
  return outcome.statistics.of(kind);
}

void check_clean(const ReplayOutcome& outcome, const FcTest& test) {
  CHECK(outcome.complete);
  CHECK(outcome.statistics.divergences == 0);
  CHECK(outcome.statistics.examples.empty());
  CHECK(outcome.statistics.files == test.files());
  CHECK(outcome.elapsed_s > 0);
  std::uint64_t calls = 0;
  for (const KindStatistics& kind : outcome.statistics.kinds) {
    CHECK(kind.errors == 0);
    calls += kind.count();
  }
  CHECK(calls == outcome.statistics.operations);
}

std::uint64_t bytes_outside_holes(const FileSet& set) {
  std::uint64_t bytes = set.totals().bytes;
  for (const Entry& entry : set.entries) {
    for (const Hole& hole : entry.holes) bytes -= hole.length;
  }
  return bytes;
}

TEST_CASE("the five steps create, read, copy and delete a tree byte for byte") {
  const FileSet set = varied_set();
  const mode_t umask_before = umask(077);
  for (const CopyMethod method :
       {CopyMethod::readwrite, CopyMethod::copy_file_range, CopyMethod::sendfile}) {
    for (const std::uint32_t threads : {1U, 3U}) {
      CAPTURE(copy_method_name(method));
      CAPTURE(threads);
      const TwoVolumes volumes;
      const FcTest test(set, {.block_size = 60'000, .copy_method = method, .threads = threads});
      const auto step = [&](FcStep fc_step) {
        ReplayOutcome outcome = replay(test.trace(fc_step), volumes.roots(), {});
        check_clean(outcome, test);
        return outcome;
      };
      const ReplayOutcome created = step(FcStep::create);
      check_tree(set, volumes.near / "original");
      CHECK(of(created, OperationKind::write).bytes == bytes_outside_holes(set));
      CHECK(keeps_holes(volumes.near / "original/nothing"));

      const ReplayOutcome read = step(FcStep::read);
      CHECK(of(read, OperationKind::read).bytes == set.totals().bytes);
      CHECK(of(read, OperationKind::open).latency().count() == test.files());

      step(FcStep::copy_near);
      check_tree(set, volumes.near / "copy");
      const ReplayOutcome far = step(FcStep::copy_far);
      check_tree(set, volumes.far / "copy");
      const auto kind =
          method == CopyMethod::readwrite ? OperationKind::write : OperationKind::copy_range;
      CHECK(of(far, kind).bytes == bytes_outside_holes(set));

      step(FcStep::remove);
      CHECK_FALSE(fs::exists(volumes.near / "original"));
      check_tree(set, volumes.near / "copy");
    }
  }
  umask(umask_before);
}

TEST_CASE("holes that are filled leave the same bytes, also in copies") {
  const FileSet set = varied_set();
  const TwoVolumes volumes;
  const FcTest test(set, {.block_size = 4096, .fill_holes = true});
  for (const FcStep step : {FcStep::create, FcStep::copy_far}) {
    check_clean(replay(test.trace(step), volumes.roots(), {}), test);
  }
  check_tree(set, volumes.near / "original");
  check_tree(set, volumes.far / "copy");
  CHECK_FALSE(keeps_holes(volumes.near / "original/nothing"));
}

TEST_CASE("a single volume is enough for steps that need no other") {
  const FileSet set = varied_set();
  const TwoVolumes volumes;
  const FcTest test(set, {});
  for (const FcStep step : {FcStep::create, FcStep::read, FcStep::copy_near, FcStep::remove}) {
    check_clean(replay(test.trace(step), {volumes.near_root.get(), -1}, {}), test);
  }
}

TEST_CASE("progress goes up to all bytes and files, a copied byte counted once") {
  const FileSet set = varied_set();
  for (const std::uint32_t threads : {1U, 3U}) {
    const TwoVolumes volumes;
    const FcTest test(set, {.threads = threads});
    for (const FcStep step : {FcStep::create, FcStep::read, FcStep::copy_near}) {
      CAPTURE(fc_step_name(step));
      ReplayProgress progress;
      replay(test.trace(step), volumes.roots(), {.progress = &progress});
      CHECK(progress.look().files == test.files());
      CHECK(progress.look().bytes ==
            (step == FcStep::read ? set.totals().bytes : bytes_outside_holes(set)));
    }
  }
}

// Requests a stop when all threads together have handed out the n-th batch: one alone may get none.
class StoppingSource final : public OperationSource {
 public:
  StoppingSource(std::unique_ptr<OperationSource> from, std::atomic<int>& batches,
                 std::stop_source& stop)
      : from_(std::move(from)), batches_(batches), stop_(stop) {}
  std::size_t next(std::span<Operation> out) override {
    if (batches_-- == 0) stop_.request_stop();
    return from_->next(out);
  }

 private:
  std::unique_ptr<OperationSource> from_;
  std::atomic<int>& batches_;
  std::stop_source& stop_;
};

TEST_CASE("a stop ends all threads between two operations, and no file stays open") {
  FileSet set = set_of({directory("d")});
  for (int i = 0; i < 3'000; ++i) set.entries.push_back(file("d/" + std::to_string(i), 10));
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  for (const std::uint32_t threads : {1U, 3U}) {
    CAPTURE(threads);
    const TwoVolumes volumes;
    const auto before = open_files();
    const FcTest test(set, {.threads = threads});
    std::stop_source stop;
    Trace trace = test.trace(FcStep::create);
    std::atomic<int> batches = 2 * static_cast<int>(threads);  // so that one has done its first
    for (auto& thread : trace.threads) {
      thread = std::make_unique<StoppingSource>(std::move(thread), batches, stop);
    }
    const ReplayOutcome outcome =
        replay(std::move(trace), volumes.roots(), {.stop = stop.get_token()});
    CHECK_FALSE(outcome.complete);
    CHECK(outcome.statistics.divergences == 0);
    CHECK(outcome.statistics.files > 0);
    CHECK(outcome.statistics.files < 3'000);
    CHECK(open_files() == before);
  }
}

TEST_CASE("a stop before the start does nothing") {
  const FileSet set = varied_set();
  const TwoVolumes volumes;
  std::stop_source stop;
  stop.request_stop();
  const FcTest test(set, {.threads = 3});
  const ReplayOutcome outcome =
      replay(test.trace(FcStep::create), volumes.roots(), {.stop = stop.get_token()});
  CHECK_FALSE(outcome.complete);
  CHECK(outcome.statistics.operations == 0);
  CHECK(fs::is_empty(volumes.near.path()));
}

TEST_CASE("the null engine counts the same operations and touches nothing") {
  const FileSet set = varied_set();
  for (const std::uint32_t threads : {1U, 3U}) {
    for (const CopyMethod method : {CopyMethod::readwrite, CopyMethod::copy_file_range}) {
      const FcTest test(set, {.block_size = 60'000, .copy_method = method, .threads = threads});
      const TwoVolumes real, untouched;
      for (const FcStep step :
           {FcStep::create, FcStep::read, FcStep::copy_near, FcStep::copy_far, FcStep::remove}) {
        CAPTURE(fc_step_name(step));
        const ReplayOutcome wanted = replay(test.trace(step), real.roots(), {});
        const ReplayOutcome got =
            replay(test.trace(step), untouched.roots(), {.engine = EngineKind::null});
        check_clean(got, test);
        CHECK(got.statistics.operations == wanted.statistics.operations);
        for (std::size_t i = 0; i < kOperationKinds; ++i) {
          const auto kind = static_cast<OperationKind>(i);
          CHECK(of(got, kind).latency().count() == of(wanted, kind).latency().count());
          CHECK(of(got, kind).bytes == of(wanted, kind).bytes);
        }
      }
      CHECK(fs::is_empty(untouched.near.path()));
      CHECK(fs::is_empty(untouched.far.path()));
      check_clean(replay(test.trace(FcStep::create), {-1, -1}, {.engine = EngineKind::null}), test);
    }
  }
}

TEST_CASE("threads wait at a barrier for one another") {
  const FileSet set = set_of({});
  PathTable paths;
  Operation make;
  make.kind = OperationKind::make_directory;
  make.mode = 0755;
  std::vector<std::vector<Operation>> threads(4);
  // In turn: thread 0 makes a directory, thread 1 one in it, and so on around.
  std::string path;
  for (std::size_t i = 0; i < 200; ++i) {
    path += (i == 0 ? "x" : "/x");
    make.path = paths.add(Role::near, path);
    threads[i % threads.size()].push_back(make);
    for (auto& operations : threads) operations.push_back(Operation{});
  }
  const TwoVolumes volumes;
  const ReplayOutcome outcome = replay(trace_of(paths, set, threads), volumes.roots(), {});
  CHECK(outcome.complete);
  CHECK(outcome.statistics.divergences == 0);
  CHECK(outcome.statistics.operations == 200);  // barriers do not count
  CHECK(fs::exists(volumes.near / path));
}

TEST_CASE("buffers that exceed memory are refused before any is touched") {
  const FileSet set = set_of({});
  PathTable paths;
  const auto refused = [&](std::uint64_t largest_io, std::vector<std::uint32_t> depths) {
    Trace trace = trace_of(paths, set, {{}, {}});
    trace.largest_io = largest_io;
    trace.depths = std::move(depths);
    CHECK_THROWS_WITH_AS(replay(std::move(trace), {0, 0}, {.engine = EngineKind::null}),
                         doctest::Contains("of memory: use smaller blocks"), Error);
  };
  refused(std::uint64_t{1} << 60, {});
  refused(std::uint64_t{1} << 30, {1, 1 << 20});
  refused(UINT64_MAX, {UINT32_MAX, UINT32_MAX});
}

TEST_CASE("a thread that ends early does not hold the others up") {
  const FileSet set = set_of({});
  PathTable paths;
  Operation make;
  make.kind = OperationKind::make_directory;
  make.mode = 0755;
  make.path = paths.add(Role::near, "x");
  const TwoVolumes volumes;
  const ReplayOutcome outcome =
      replay(trace_of(paths, set, {{Operation{}, Operation{}, make}, {}, {Operation{}}}),
             volumes.roots(), {});
  CHECK(outcome.complete);
  CHECK(fs::exists(volumes.near / "x"));
}

TEST_CASE("more directories than the cache holds are distinguished") {
  FileSet set = set_of({});
  for (int i = 0; i < 200; ++i) {
    const std::string folder = "d" + std::to_string(i);
    set.entries.push_back(directory(folder));
    set.entries.push_back(file(folder + "/f", static_cast<std::uint64_t>(i), {1, 1000, 0}));
  }
  for (int i = 0; i < 200; ++i) {
    set.entries.push_back(link_to(EntryKind::hard_link, "d" + std::to_string(i) + "/h",
                                  "d" + std::to_string(199 - i) + "/f"));
  }
  const TwoVolumes volumes;
  const FcTest test(set, {});
  check_clean(replay(test.trace(FcStep::create), volumes.roots(), {}), test);
  check_tree(set, volumes.near / "original");
  check_clean(replay(test.trace(FcStep::remove), volumes.roots(), {}), test);
}

TEST_CASE("a directory that was removed and recreated is the new one") {
  const FileSet set = set_of({});
  PathTable paths;
  const auto named = [&](OperationKind kind, const char* path) {
    Operation operation;
    operation.kind = kind;
    operation.path = paths.add(Role::near, path);
    operation.mode = 0755;
    return operation;
  };
  const std::vector<Operation> operations = {
      named(OperationKind::make_directory, "d"),     named(OperationKind::make_directory, "d/a"),
      named(OperationKind::remove_directory, "d/a"), named(OperationKind::remove_directory, "d"),
      named(OperationKind::make_directory, "d"),     named(OperationKind::make_directory, "d/b")};
  const TwoVolumes volumes;
  const ReplayOutcome outcome = replay(trace_of(paths, set, {operations}), volumes.roots(), {});
  CHECK(outcome.complete);
  CHECK(fs::exists(volumes.near / "d/b"));
}

}  // namespace
}  // namespace filereel

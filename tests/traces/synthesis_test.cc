#include "traces/workload/synthesis.h"

#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/system/error.h"
#include "tests/traces/streams.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

// One point of a workload, synthesised.
struct Made {
  explicit Made(const std::string& yaml, const SynthesisOptions& options = {})
      : recipe(Workload::from_yaml(yaml, "w.yaml").recipe(0)), synthesis(recipe, options) {}

  std::vector<std::vector<Operation>> operations(std::size_t phase = 0) const {
    return drain(synthesis.trace(phase));
  }

  std::vector<Operation> thread(std::size_t phase = 0) const { return operations(phase).at(0); }

  Recipe recipe;
  Synthesis synthesis;
};

std::size_t count(const std::vector<Operation>& operations, OperationKind kind) {
  return static_cast<std::size_t>(std::ranges::count(operations, kind, &Operation::kind));
}

std::string names(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation& operation : operations) {
    text += (text.empty() ? "" : " ") + std::string(operation_info(operation.kind).name);
  }
  return text;
}

TEST_CASE("sequential accesses go through the files one after another, to their ends") {
  const Made made("files: {count: 2, size: 10 KiB}\naccess: {size: 4 KiB}\n");
  const auto threads = made.operations();
  REQUIRE(threads.size() == 1);
  CHECK(names(threads[0]) == "open open read read read read read read close close");
  CHECK(threads[0][4].offset == 8192);
  CHECK(threads[0][4].length == 2048);
  CHECK(threads[0][5].file == 1);
  CHECK(threads[0][5].offset == 0);
  CHECK(made.synthesis.bytes(0) == 20480);
}

TEST_CASE("random accesses are aligned, in their files and hit them all") {
  const Made made(
      "files: {count: 3, size: 64 KiB}\n"
      "access: {size: 8 KiB, random: 100 %, reads: 50 %}\nstop: {operations: 3000}\n");
  std::map<std::pair<FileSlot, std::uint64_t>, int> hits;
  std::size_t reads = 0;
  for (const Operation& op : made.thread()) {
    if (op.kind != OperationKind::read && op.kind != OperationKind::write) continue;
    CHECK(op.offset % 8192 == 0);
    CHECK(op.offset + op.length <= 65536);
    CHECK(op.length == 8192);
    ++hits[{op.file, op.offset}];
    reads += op.kind == OperationKind::read;
  }
  CHECK(hits.size() == 24);
  for (const auto& [where, number] : hits) {
    CHECK(number > 60);  // 125 on average
    CHECK(number < 200);
  }
  CHECK(reads > 1350);
  CHECK(reads < 1650);
}

TEST_CASE("a mix of sizes has its shares") {
  const Made made(
      "files: {size: 4 MiB}\n"
      "access: {sizes: [{size: 512 B, share: 10 %}, {size: 4 KiB, share: 60 %}, {size: 64 KiB, "
      "share: 30 %}],"
      " random: 100 %}\nstop: {operations: 10000}\n");
  std::map<std::uint64_t, int> sizes;
  for (const Operation& op : made.thread()) {
    if (op.kind == OperationKind::read) ++sizes[op.length];
  }
  REQUIRE(sizes.size() == 3);
  CHECK(sizes[512] == doctest::Approx(1000).epsilon(0.1));
  CHECK(sizes[4096] == doctest::Approx(6000).epsilon(0.05));
  CHECK(sizes[65536] == doctest::Approx(3000).epsilon(0.1));
}

TEST_CASE("a ratio makes fixed turns of reads and writes") {
  const Made made(
      "files: {size: 1 MiB}\naccess: {size: 16 KiB, random: 100 %, ratio: 1.5}\n"
      "stop: {operations: 10}\n");
  std::string turns;
  for (const Operation& op : made.thread()) {
    if (op.kind == OperationKind::read) turns += 'r';
    if (op.kind == OperationKind::write) turns += 'w';
  }
  // Read while (reads + 1) / (writes + 1) < 1.5.
  CHECK(turns == "rwrwrrwrwr");
}

TEST_CASE("threads work on each volume of their files, and share the limits of a phase") {
  const std::string rest =
      "access: {size: 4 KiB, random: 100 %, disjoint: true}\ncount: 2\n"
      "stop: {operations: 10}\n";
  const Made made("files: {count: 2, size: 64 KiB, volumes: [near, far]}\n" + rest);
  const Trace trace = made.synthesis.trace(0);
  using Volumes = std::vector<Role>;
  CHECK(trace.volumes == Volumes{Role::near, Role::near, Role::far, Role::far});
  CHECK(trace.depths.size() == 4);
  const auto threads = made.operations();
  REQUIRE(threads.size() == 4);
  std::vector<std::size_t> reads;
  for (const auto& thread : threads) reads.push_back(count(thread, OperationKind::read));
  CHECK(reads == std::vector<std::size_t>{3, 3, 2, 2});
  // The same names, other contents, other places; each thread in its half.
  CHECK(threads[0][0].path == threads[2][0].path);
  CHECK(threads[0][2].entry != threads[2][2].entry);
  for (const std::size_t second : {1, 3}) {
    for (const Operation& op : threads[second]) {
      if (op.kind == OperationKind::read) CHECK(op.file == 1);
    }
  }
  const FileSet &near = made.synthesis.initial(), &far = made.synthesis.initial(Role::far);
  REQUIRE(near.entries.size() == 3);
  REQUIRE(far.entries.size() == 3);
  CHECK(near.entries[1].path == far.entries[1].path);
  CHECK(near.entries[1].content.key != far.entries[1].content.key);
  CHECK(made.synthesis.largest(Role::far).totals().bytes == 2 * 65536);
  CHECK(made.synthesis.initial(Role::far_2).entries.empty());
}

TEST_CASE("on one volume a workload is what it was, whichever volume that is") {
  const std::string rest =
      "access: {size: 4 KiB, random: 100 %, reads: 50 %}\ncount: 2\ndepth: 2\n"
      "stop: {operations: 100}\n";
  const Made near("files: {count: 2, size: 64 KiB}\n" + rest);
  const Made far("files: {count: 2, size: 64 KiB, volumes: far}\n" + rest);
  const Made both("files: {count: 2, size: 64 KiB, volumes: [near, far]}\n" + rest);
  CHECK(near.synthesis.trace(0).volumes.empty());
  CHECK(far.synthesis.trace(0).volumes == std::vector<Role>{Role::far, Role::far});
  const auto text = [](const Made& made, std::size_t thread) {
    std::string all;
    const auto threads = made.operations();
    for (const Operation& op : threads.at(thread)) {
      all += fmt::format("{} {} {} {} {}\n", operation_info(op.kind).name, op.file, op.offset,
                         op.length, op.entry);
    }
    return all;
  };
  CHECK(text(near, 0) == text(far, 0));
  CHECK(text(near, 1) == text(far, 1));
  CHECK(text(both, 0) != text(both, 2));
  const Made pass("files: {size: 64 KiB}\naccess: {size: 4 KiB}\n");
  const Made passes("files: {size: 64 KiB, volumes: [near, far]}\naccess: {size: 4 KiB}\n");
  CHECK(passes.synthesis.bytes(0) == 2 * pass.synthesis.bytes(0));
}

TEST_CASE("files are made, copied and appended to on each volume") {
  const Made made(
      "files: {count: 4, size: 4 KiB, per_directory: 2, exist: false, volumes: [near, far]}\n"
      "phases:\n"
      "  - {name: make, do: [create, copy]}\n"
      "  - {name: more, do: [{step: append, size: 4 KiB}], count: 8}\n");
  const auto threads = made.operations();
  REQUIRE(threads.size() == 2);
  for (const auto& thread : threads) CHECK(count(thread, OperationKind::make_directory) == 2);
  CHECK(names(threads[0]) == names(threads[1]));
  CHECK(made.operations(1).size() == 8);  // one for each file, of which each volume has four
  for (const Role role : {Role::near, Role::far}) {
    CHECK(made.synthesis.initial(role).totals().files == 0);
    CHECK(made.synthesis.largest(role).totals().files == 8);
    CHECK(made.synthesis.largest(role).totals().bytes == 8 * 8192);
  }
  CHECK(made.synthesis.bytes(0) == 2 * 2 * 4 * 4096);  // created and copied
}

TEST_CASE("syncs come after so many accesses, where something was written, and at the end") {
  const std::string files = "files: {count: 2, size: 64 KiB}\n";
  const Made writes(files +
                    "access: {size: 4 KiB, reads: 0 %}\nstop: {operations: 10}\n"
                    "sync: {every: 4, files: all, at_end: true}\n");
  CHECK(names(writes.thread()) ==
        "open open write write write write fsync fsync write write write write fsync fsync "
        "write write fsync fsync close close");
  // At the end all of them once more, even those that are clean.
  const Made clean(files +
                   "access: {size: 4 KiB, reads: 0 %}\nstop: {operations: 4}\n"
                   "sync: {every: 4, files: all, at_end: true}\n");
  CHECK(names(clean.thread()) ==
        "open open write write write write fsync fsync fsync fsync close close");
  const Made reads(files +
                   "access: {size: 4 KiB}\nstop: {operations: 10}\n"
                   "sync: {every: 4, files: all, at_end: true}\n");
  CHECK(count(reads.thread(), OperationKind::sync) == 0);
  const Made one(files +
                 "access: {size: 4 KiB, reads: 0 %}\nstop: {operations: 10}\n"
                 "sync: {every: 4, kind: fdatasync}\n");
  CHECK(count(one.thread(), OperationKind::sync_data) == 2);
}

TEST_CASE("disjoint threads stay in zones of their own") {
  const Made made(
      "files: {size: 1 MiB}\naccess: {size: 4 KiB, random: 100 %, disjoint: true, zone: 50 % to "
      "100 %}\n"
      "count: 4\nstop: {operations: 4000}\n");
  const auto threads = made.operations();
  REQUIRE(threads.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(count(threads[i], OperationKind::read) == 1000);
    for (const Operation& op : threads[i]) {
      if (op.kind != OperationKind::read) continue;
      CHECK(op.offset >= (512 << 10) + i * (128 << 10));
      CHECK(op.offset + op.length <= (512 << 10) + (i + 1) * (128 << 10));
    }
  }
}

TEST_CASE("a phase works on its zones, and on those of several threads together") {
  const std::string zone = "files: {size: 1 MiB}\naccess: {size: 4 KiB, zone: 50 % to 100 %";
  const std::map<std::string, std::uint64_t> cases = {
      {"}\n", 512 << 10}, {"}\ncount: 2\n", 1 << 20}, {", disjoint: true}\ncount: 2\n", 512 << 10}};
  for (const auto& [rest, bytes] : cases) {
    const Made made(zone + rest);
    CHECK(made.synthesis.bytes(0) == bytes);
    std::uint64_t read = 0;
    for (const auto& thread : made.operations()) {
      for (const Operation& op : thread) {
        read += op.kind == OperationKind::read ? op.length : 0;
      }
    }
    CHECK(read == bytes);
  }
}

TEST_CASE("hot spots are hot: zipf anywhere, normal in the middle") {
  const std::string files = "files: {size: 4 MiB}\nstop: {operations: 20000}\n";
  const auto hits = [&](const std::string& hot) {
    std::map<std::uint64_t, int> found;
    const Made made(files + "access: {size: 4 KiB, random: 100 %, hot: " + hot + "}\n");
    for (const Operation& op : made.thread()) {
      if (op.kind == OperationKind::read) ++found[op.offset / 4096];
    }
    return found;
  };
  const auto uniform = hits("uniform");
  const auto zipf = hits("zipf 1");
  int most = 0;
  for (const auto& [spot, number] : zipf) most = std::max(most, number);
  // 1 / (1 + 1/2 + ... + 1/1024) of all.
  CHECK(most == doctest::Approx(20000 / 7.51).epsilon(0.1));
  CHECK(uniform.size() == 1024);
  int middle = 0;
  for (const auto& [spot, number] : hits("normal 10 %")) {
    if (spot >= 410 && spot < 614) middle += number;
  }
  CHECK(middle == doctest::Approx(20000 * 0.683).epsilon(0.05));
}

TEST_CASE("all threads have the same hot spots") {
  const Made made(
      "files: {size: 4 MiB}\naccess: {size: 4 KiB, random: 100 %, hot: zipf 1.2}\ncount: 2\n"
      "stop: {operations: 8000}\n");
  std::vector<std::uint64_t> hottest;
  for (const auto& thread : made.operations()) {
    std::map<std::uint64_t, int> hits;
    for (const Operation& op : thread) {
      if (op.kind == OperationKind::read) ++hits[op.offset];
    }
    hottest.push_back(
        std::ranges::max_element(hits, {}, [](const auto& one) { return one.second; })->first);
  }
  CHECK(hottest.at(0) == hottest.at(1));
}

TEST_CASE("limits are those of all threads together, and idle threads take no part of them") {
  const Made few("files: {size: 1 MiB}\naccess: {size: 4 KiB}\ncount: 8\nstop: {operations: 3}\n");
  std::size_t reads = 0;
  for (const auto& thread : few.operations()) reads += count(thread, OperationKind::read);
  CHECK(reads == 3);
  const Made steps(
      "files: {count: 2, size: 4 KiB}\ndo: [read]\ncount: 8\nstop: {operations: 100}\n");
  std::size_t files = 0;
  for (const auto& thread : steps.operations()) files += count(thread, OperationKind::read);
  CHECK(files == 100);
}

TEST_CASE("direct accesses are whole sectors at whole sectors, whatever the sizes of the files") {
  const Made made(
      "files: {count: 5, size: 10000 B}\naccess: {size: 4 KiB, random: 50 %}\ndirect: true\n"
      "stop: {operations: 500}\n");
  std::size_t reads = 0;
  for (const Operation& op : made.thread()) {
    if (op.kind != OperationKind::read) continue;
    ++reads;
    CHECK(op.offset % 512 == 0);
    CHECK(op.length % 512 == 0);
    CHECK(op.offset + op.length <= 10000);
  }
  CHECK(reads == 500);
}

TEST_CASE("files that accesses make are made by one thread, in directories that are there") {
  const Made made(
      "files: {count: 4, size: 16 KiB, per_directory: 2, exist: false}\n"
      "access: {size: 4 KiB, reads: 0 %, truncate: true}\ndepth: 8\nengine: blocking\n");
  CHECK(made.operations().size() == 1);
  std::set<std::string> initial;
  for (const Entry& entry : made.synthesis.initial().entries) initial.insert(entry.path);
  CHECK(initial == std::set<std::string>{"files", "files/d0000", "files/d0001"});
}

TEST_CASE("what is appended needs room") {
  const Made made(
      "files: {count: 2, size: 4 KiB}\ndo: [{step: append, size: 1 MiB}]\nstop: {passes: 3}\n");
  CHECK(made.synthesis.largest().totals().bytes == 2 * (4096 + (3 << 20)));
  const Made copied("files: {count: 2, size: 4 KiB}\ndo: [{step: append, size: 1 MiB}, copy]\n");
  CHECK(copied.synthesis.largest().totals().bytes == 2 * 2 * (4096 + (1 << 20)));
}

TEST_CASE("without io_uring a queue becomes threads that share the accesses") {
  const std::string yaml =
      "files: {size: 1 MiB}\naccess: {size: 4 KiB, random: 30 %}\ndepth: 4\nstop: {operations: "
      "100}\n";
  const Made queue(yaml);
  const Made threads(yaml, {.depth_as_threads = true});
  CHECK(queue.synthesis.queues(0));
  CHECK(queue.synthesis.trace(0).depths == std::vector<std::uint32_t>{4});
  const auto together = queue.operations();
  const auto apart = threads.operations();
  REQUIRE(together.size() == 1);
  REQUIRE(apart.size() == 4);
  std::multiset<std::uint64_t> of_one, of_four;
  for (const Operation& op : together[0]) of_one.insert(op.offset);
  std::size_t closes = 0;
  for (const auto& thread : apart) {
    CHECK(count(thread, OperationKind::read) == 25);
    for (const Operation& one : thread) of_four.insert(one.offset);
    closes += count(thread, OperationKind::close);
  }
  CHECK(closes == 4);
  // The opens and closes of three more threads beside.
  for (int i = 0; i < 6; ++i) of_one.insert(0);
  CHECK(of_one == of_four);
}

TEST_CASE("a phase's engine decides what becomes of its queues") {
  const std::string yaml = "files: {size: 1 MiB}\naccess: {size: 4 KiB}\ndepth: 4\nengine: ";
  CHECK(Made(yaml + "blocking\n").operations().size() == 4);
  CHECK(!Made(yaml + "blocking\n").synthesis.queues(0));
  CHECK(Made(yaml + "auto\n").synthesis.queues(0));
  const Made one("files: {size: 1 MiB}\naccess: {size: 4 KiB}\nengine: io_uring\n");
  CHECK(one.synthesis.queues(0));
  CHECK(one.synthesis.trace(0).depths == std::vector<std::uint32_t>{1});
}

TEST_CASE("a source that goes on for ever ends when it is wound up") {
  const Made made(
      "files: {size: 1 MiB}\naccess: {size: 4 KiB, reads: 0 %}\nstop: {time: 1 h}\n"
      "sync: {at_end: true}\n");
  const Trace trace = made.synthesis.trace(0);
  std::vector<Operation> some(1000);
  CHECK(trace.threads[0]->next(some) == 1000);
  trace.threads[0]->wind_up();
  CHECK(names(drain(*trace.threads[0])) == "fsync close");
}

TEST_CASE("an access that is not due when time is up does not take place") {
  for (const std::string pause : {"rate: 1/s", "think: 1 s"}) {
    CAPTURE(pause);
    const Made made("files: {size: 1 MiB}\naccess: {size: 4 KiB}\nstop: {time: 1 h}\n" + pause +
                    "\n");
    const Trace trace = made.synthesis.trace(0);
    // The batch ends with the pause before the third access.
    std::vector<Operation> some(6);
    CHECK(trace.threads[0]->next(some) == 6);
    CHECK(names(some) == "open pace read pace read pace");
    trace.threads[0]->wind_up();
    CHECK(names(drain(*trace.threads[0])) == "close");
  }
}

TEST_CASE("what was there before, and what can be there at most") {
  const Made made(
      "files: [{name: old, count: 2, size: 4 KiB}, {name: new, count: 3, size: 4 KiB, "
      "per_directory: 2, exist: false}]\n"
      "phases:\n"
      "  - {name: make, files: new, do: [create]}\n"
      "  - {name: copy, files: old, do: [copy, replace]}\n");
  std::set<std::string> initial, largest;
  for (const Entry& entry : made.synthesis.initial().entries) initial.insert(entry.path);
  for (const Entry& entry : made.synthesis.largest().entries) largest.insert(entry.path);
  CHECK(initial == std::set<std::string>{"old", "old/f000000", "old/f000001", "old.copy", "new"});
  CHECK(largest.contains("new/d0001/f000002"));
  CHECK(largest.contains("old.copy/f000001"));
  CHECK(largest.contains("old/f000000.new"));
  CHECK(names(made.thread(0)) == "mkdir mkdir open write close open write close open write close");
  CHECK(names(made.thread(1)) ==
        "open open read write close close open write close rename "
        "open open read write close close open write close rename");
}

TEST_CASE("steps do what they say to the files that are the thread's") {
  const Made made(
      "files: {count: 4, size: 6 KiB}\n"
      "count: 2\n"
      "do:\n"
      "  - {step: read, block: 4 KiB}\n"
      "  - {step: append, size: 1 KiB, sync: fdatasync}\n"
      "  - rename\n  - stat\n  - rename\n  - list\n  - rewrite\n  - remove\n  - create\n");
  const auto threads = made.operations();
  REQUIRE(threads.size() == 2);
  const std::string once =
      "open read read close open write fdatasync close rename stat rename open getdents getdents "
      "close "
      "open write close unlink open write close";
  CHECK(names(threads[0]) == once + " " + once);
  CHECK(threads[0][5].offset == 6144);
  CHECK(threads[0][5].length == 1024);
  CHECK(threads[0][9].path == threads[0][8].path);
  CHECK(threads[0][10].path == threads[0][0].path);
  std::set<PathId> first, second;
  for (const Operation& op : threads[0]) {
    if (op.kind == OperationKind::unlink) first.insert(op.path);
  }
  for (const Operation& one : threads[1]) {
    if (one.kind == OperationKind::unlink) second.insert(one.path);
  }
  CHECK(first.size() == 2);
  CHECK(second.size() == 2);
  for (const PathId path : first) CHECK(!second.contains(path));
}

TEST_CASE("choices are drawn with their shares") {
  const Made made(
      "files: {count: 10, size: 4 KiB}\norder: random\nstop: {operations: 10000}\n"
      "choose: [{share: 75 %, do: [read]}, {share: 25 %, do: [overwrite]}]\n");
  const auto operations = made.thread();
  CHECK(count(operations, OperationKind::read) == doctest::Approx(7500).epsilon(0.05));
  CHECK(count(operations, OperationKind::write) == doctest::Approx(2500).epsilon(0.1));
}

TEST_CASE("rates and pauses come before the accesses that they hold back") {
  const Made rate(
      "files: {size: 1 MiB}\naccess: {size: 4 KiB}\nrate: 1000/s\nstop: {operations: 3}\n");
  const auto operations = rate.thread();
  CHECK(names(operations) == "open pace read pace read pace read close");
  CHECK(operations[5].offset == 2'000'000);
  const Made think(
      "files: {size: 1 MiB}\naccess: {size: 4 KiB}\nthink: 5 ms\nstop: {operations: 2}\n");
  CHECK(think.thread()[3].offset == 5'000'000);
  CHECK(think.thread()[3].flags == pace_flags::kFromLastEnd);
}

TEST_CASE("files that fill the volume take their share of what is free") {
  const Made made("files: {count: 2, fill: 50 %}\naccess: {size: 1 MiB}\n",
                  {.free_bytes = 100 << 20});
  CHECK(made.synthesis.bytes(0) == 50 << 20);
}

TEST_CASE("accesses that have no room in their zone are refused") {
  CHECK_THROWS_AS(Made("files: {size: 1 MiB}\naccess: {size: 512 KiB, disjoint: true}\ncount: 4\n")
                      .synthesis.trace(0),
                  Error);
}

TEST_CASE("the same seed makes the same accesses, another one others") {
  const std::string yaml =
      "files: {size: 16 MiB}\naccess: {size: 4 KiB, random: 100 %}\nstop: {operations: 50}\nseed: ";
  const auto offsets = [](const Made& made) {
    std::vector<std::uint64_t> all;
    for (const Operation& op : made.thread()) all.push_back(op.offset);
    return all;
  };
  CHECK(offsets(Made(yaml + "1\n")) == offsets(Made(yaml + "1\n")));
  CHECK(offsets(Made(yaml + "1\n")) != offsets(Made(yaml + "2\n")));
}

}  // namespace
}  // namespace filereel

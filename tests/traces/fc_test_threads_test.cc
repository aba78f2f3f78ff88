// The steps of FC-Test as a whole: what one leaves is what the next one needs, with any number of
// threads.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "tests/entries.h"
#include "tests/traces/streams.h"
#include "traces/fc_test.h"

namespace filereel {
namespace {

// The order in which the threads of a step are executed between two barriers.
enum class Turns : std::uint8_t { forwards, backwards, alternating };

// A file system that only knows names and sizes, and refuses what a real one would refuse.
class Model {
 public:
  void run(const Trace& trace, Turns turns) {
    std::vector<std::map<FileSlot, std::string>> open(trace.threads.size());
    for (bool more = true; more;) {
      more = false;
      std::vector<std::size_t> running(trace.threads.size());
      std::iota(running.begin(), running.end(), 0U);
      if (turns == Turns::backwards) std::ranges::reverse(running);
      // Returns whether the thread waits for the others or has ended.
      const auto run_one = [&](std::size_t thread) {
        Operation op;
        do {
          if (trace.threads[thread]->next({&op, 1}) == 0) return true;
          if (op.kind == OperationKind::barrier) return more = true;
          apply(op, *trace.paths, open[thread]);
        } while (turns != Turns::alternating);
        return false;
      };
      while (!running.empty()) std::erase_if(running, run_one);
    }
    for (const auto& files : open) CHECK(files.empty());
  }

  // What lies below `root`: "" for it, paths relative to it, with their sizes.
  std::map<std::string, std::int64_t> below(const std::string& root) const {
    std::map<std::string, std::int64_t> out;
    for (const auto& [path, size] : nodes_) {
      if (path == root) out[""] = size;
      if (path.starts_with(root + "/")) out[path.substr(root.size() + 1)] = size;
    }
    return out;
  }

  std::uint64_t files_counted = 0;

 private:
  static constexpr std::int64_t kDirectory = -1, kSymlink = -2;

  void make(const std::string& path, std::int64_t size) {
    const std::string parent = path.substr(0, path.rfind('/'));
    CAPTURE(path);
    CHECK(nodes_.contains(parent));
    CHECK(nodes_[parent] == kDirectory);
    CHECK(nodes_.emplace(path, size).second);
  }

  void apply(const Operation& op, const PathTable& paths, std::map<FileSlot, std::string>& open) {
    const std::string path = place(paths, op.path);
    CAPTURE(path);
    CHECK((op.file < 2 || op.file == kNoFile));
    if (op.counts_file) ++files_counted;
    switch (op.kind) {
      case OperationKind::make_directory:
        make(path, kDirectory);
        break;
      case OperationKind::open:
        if ((op.flags & O_CREAT) != 0) make(path, 0);
        CHECK(nodes_.at(path) >= 0);
        CHECK(open.emplace(op.file, path).second);
        break;
      case OperationKind::close:
        CHECK(open.erase(op.file) == 1);
        break;
      case OperationKind::read:
        CHECK(static_cast<std::int64_t>(op.offset + op.length) <= nodes_.at(open.at(op.file)));
        break;
      case OperationKind::copy_range:
        CHECK(static_cast<std::int64_t>(op.offset + op.length) <= nodes_.at(open.at(op.source)));
        [[fallthrough]];
      case OperationKind::write: {
        std::int64_t& size = nodes_.at(open.at(op.file));
        size = std::max(size, static_cast<std::int64_t>(op.offset + op.length));
        break;
      }
      case OperationKind::truncate:
        nodes_.at(open.at(op.file)) = static_cast<std::int64_t>(op.offset);
        break;
      case OperationKind::symlink:
        make(path, kSymlink);
        break;
      case OperationKind::link:
        make(path, nodes_.at(place(paths, op.old_path)));
        break;
      case OperationKind::unlink:
        CHECK(nodes_.at(path) != kDirectory);
        nodes_.erase(path);
        break;
      case OperationKind::remove_directory:
        CHECK(nodes_.at(path) == kDirectory);
        CHECK(below(path).size() == 1);
        nodes_.erase(path);
        break;
      case OperationKind::barrier:
        break;
      default:
        FAIL("not an operation of the workload");
    }
  }

  std::map<std::string, std::int64_t> nodes_ = {{"near", kDirectory}, {"far", kDirectory}};
};

FileSet varied_set() {
  FileSet set = set_of({directory("d"), file("d/first", 5), directory("d/e"), directory("d/e/f"),
                        file("d/e/f/big", 3'000'000), file("d/e/empty", 0),
                        sparse_file("d/lead", 500'000, {{0, 200'000}}),
                        sparse_file("mid", 500'000, {{100'000, 200'000}}),
                        sparse_file("tail", 500'000, {{100'000, 400'000}}),
                        sparse_file("nothing", 70'000, {{0, 70'000}}),
                        link_to(EntryKind::symlink, "s", "d/first"),
                        link_to(EntryKind::hard_link, "h1", "d/e/f/big")});
  for (int i = 0; i < 10; ++i) {
    set.entries.push_back(file(fmt::format("d/e/{}", i), static_cast<std::uint64_t>(i) * 4096));
  }
  set.entries.push_back(directory("late"));
  set.entries.push_back(link_to(EntryKind::hard_link, "late/h2", "d/e/9"));
  set.entries.push_back(link_to(EntryKind::symlink, "late/dangling", "x"));
  check_file_set(set);
  return set;
}

TEST_CASE("the steps work on one another, with every method, however threads are interleaved") {
  const FileSet set = varied_set();
  for (const CopyMethod method : kMethods) {
    for (const std::uint32_t threads : {1U, 3U, 50U}) {
      for (const Turns turns : {Turns::forwards, Turns::backwards, Turns::alternating}) {
        for (const bool fill : {false, true}) {
          CAPTURE(copy_method_name(method));
          CAPTURE(threads);
          CAPTURE(static_cast<int>(turns));
          FcTestOptions chosen = options(64 << 10, method, threads);
          chosen.fill_holes = fill;
          const FcTest test(set, chosen);
          Model model;
          for (const FcStep step : kSteps) {
            const Trace trace = test.trace(step);
            CHECK(trace.threads.size() == threads);
            model.files_counted = 0;
            model.run(trace, turns);
            CHECK(model.files_counted == test.files());
            if (step == FcStep::create) CHECK(model.below("near/original").at("mid") == 500'000);
          }
          const auto copy = model.below("near/copy");
          CHECK(copy.size() == set.entries.size() + 1);
          for (const Entry& entry : set.entries) {
            if (entry.kind == EntryKind::file) {
              CHECK(copy.at(entry.path) == static_cast<std::int64_t>(entry.size));
            }
          }
          CHECK(copy.at("h1") == 3'000'000);
          CHECK(model.below("far/copy") == copy);
          CHECK(model.below("near/original").empty());
        }
      }
    }
  }
}

TEST_CASE("threads meet at equally many barriers, and one thread at none") {
  const FileSet set = varied_set();
  for (const std::uint32_t threads : {1U, 3U}) {
    const FcTest test(set, options(4096, CopyMethod::readwrite, threads));
    for (const FcStep step : kSteps) {
      CAPTURE(fc_step_name(step));
      std::set<std::ptrdiff_t> counts;
      for (const auto& operations : drain(test.trace(step))) {
        counts.insert(std::ranges::count(operations, OperationKind::barrier, &Operation::kind));
      }
      CHECK(counts.size() == 1);
      const bool meets = threads > 1 && step != FcStep::read;
      CHECK((*counts.begin() > 0) == meets);
    }
  }
}

TEST_CASE("the first thread makes every directory before the threads first meet") {
  const FileSet set = varied_set();
  const FcTest test(set, options(4096, CopyMethod::readwrite, 3));
  const auto threads = drain(test.trace(FcStep::create));
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const auto barrier = std::ranges::find(threads[t], OperationKind::barrier, &Operation::kind);
    const auto made = [](auto begin, auto end) {
      return std::count_if(
          begin, end, [](const Operation& op) { return op.kind == OperationKind::make_directory; });
    };
    CHECK(made(threads[t].begin(), barrier) == (t == 0 ? 5 : 0));
    CHECK(made(barrier, threads[t].end()) == 0);
    CHECK(barrier - threads[t].begin() == (t == 0 ? 5 : 0));
  }
}

// Of operations that are neither directories nor barriers, in an order without meaning.
using Processed = std::multiset<std::tuple<OperationKind, PathId, std::uint64_t>>;

Processed files_of(const Trace& trace) {
  Processed all;
  for (const auto& operations : drain(trace)) {
    for (const Operation& op : operations) {
      if (op.kind == OperationKind::make_directory || op.kind == OperationKind::remove_directory ||
          op.kind == OperationKind::barrier) {
        continue;
      }
      all.emplace(op.kind, op.path, op.offset);
    }
  }
  return all;
}

TEST_CASE("parts have the files of the whole, each once, without directories") {
  const FileSet set = varied_set();
  constexpr std::uint32_t kParts = 3;
  const FcTest whole(set, options(4096));
  for (const std::uint32_t threads : {1U, 2U}) {
    CAPTURE(threads);
    std::vector<Processed> processed(kFcSteps);
    std::uint64_t bytes = 0, files = 0;
    for (std::uint32_t part = 0; part < kParts; ++part) {
      FcTestOptions own = options(4096, CopyMethod::readwrite, threads);
      own.shared = true;
      own.part = part;
      own.parts = kParts;
      const FcTest test(set, own);
      CHECK(test.files() > 0);
      bytes += test.bytes();
      files += test.files();
      for (std::size_t step = 0; step < kFcSteps; ++step) {
        const Trace trace = test.trace(kSteps[step]);
        CHECK(trace.threads.size() == threads);
        for (const auto& operations : drain(test.trace(kSteps[step]))) {
          CHECK(std::ranges::count(operations, OperationKind::make_directory, &Operation::kind) ==
                0);
        }
        processed[step].merge(files_of(trace));
      }
    }
    for (std::size_t step = 0; step < kFcSteps; ++step) {
      CAPTURE(fc_step_name(kSteps[step]));
      CHECK(processed[step] == files_of(whole.trace(kSteps[step])));
    }
    CHECK(bytes == whole.bytes());
    CHECK(files == whole.files());
  }
}

// The bytes and files of each thread if all are equally fast, a file costs `file_cost` bytes, and
// none takes a file before it has completed the one before.
std::vector<std::pair<std::uint64_t, std::uint64_t>> shares(const Trace& trace,
                                                            std::uint64_t file_cost) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shares(trace.threads.size());
  std::vector<std::uint64_t> times(trace.threads.size());
  constexpr std::uint64_t kEnded = UINT64_MAX;
  std::vector<Operation> out(64);
  for (;;) {
    const auto thread = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
    if (times[thread] == kEnded) return shares;
    const std::size_t filled = trace.threads[thread]->next(out);
    if (filled == 0) times[thread] = kEnded;
    std::uint64_t opened = 0;
    for (std::size_t i = 0; i < filled; ++i) {
      shares[thread].first += out[i].length;
      times[thread] += out[i].length;
      if (out[i].kind == OperationKind::open) ++opened;
    }
    CHECK(opened <= 1);
    shares[thread].second += opened;
    times[thread] += opened * file_cost;
  }
}

TEST_CASE("a thread takes its next file when it has completed one") {
  std::vector<Entry> entries;
  for (int i = 0; i < 900; ++i) entries.push_back(file(fmt::format("{}", i), 4096));
  const FileSet set = set_of(std::move(entries));
  const FcTest test(set, options(64 << 10, CopyMethod::readwrite, 3));
  for (const auto& [bytes, files] : shares(test.trace(FcStep::read), 1000)) CHECK(files == 300);
}

TEST_CASE("no thread begins a large file when the others have almost finished") {
  std::vector<Entry> entries = {directory("d")};
  for (int i = 0; i < 3000; ++i) {
    entries.push_back(file(fmt::format("d/{}", i), static_cast<std::uint64_t>(i % 100) * 100));
  }
  entries.push_back(file("d/large", 10'000'000));
  entries.push_back(file("d/larger", 11'000'000));
  const FileSet set = set_of(std::move(entries));
  const FcTest test(set, options(64 << 10, CopyMethod::readwrite, 2));
  const auto two = shares(test.trace(FcStep::read), 0);
  CHECK(two[0].first + two[1].first == test.bytes());
  CHECK(two[0].second + two[1].second == test.files());
  for (const auto& [bytes, files] : two) CHECK(bytes < test.bytes() / 2 * 102 / 100);
}

TEST_CASE("each read of a tree names its file, so that its content can be verified") {
  const FileSet set = varied_set();
  const FcTest test(set, options(64 << 10, CopyMethod::readwrite, 2));
  const Trace read = test.trace(FcStep::read);
  const Trace near = test.trace_of_copy(FcStep::copy_near);
  const Trace far = test.trace_of_copy(FcStep::copy_far);
  for (const auto& [trace, root] : {std::pair(&read, "near/original/"),
                                    std::pair(&near, "near/copy/"), std::pair(&far, "far/copy/")}) {
    std::uint64_t bytes = 0;
    for (const auto& operations : drain(*trace)) {
      std::string path;
      for (const Operation& op : operations) {
        if (op.kind == OperationKind::open) path = place(test.paths(), op.path);
        if (op.kind != OperationKind::read) continue;
        REQUIRE(op.entry < set.entries.size());
        CHECK(path == root + set.entries[op.entry].path);
        bytes += op.length;
      }
    }
    CHECK(bytes == test.bytes());
  }
}

TEST_CASE("no operation exceeds the trace's largest size") {
  const FileSet set = varied_set();
  for (const CopyMethod method : kMethods) {
    const FcTest test(set, options(10'000, method));
    for (const FcStep step : kSteps) {
      const Trace trace = test.trace(step);
      CHECK(trace.paths == &test.paths());
      CHECK(trace.files == &set);
      for (const Operation& op : drain(*trace.threads[0])) {
        CHECK((op.file < trace.slots || op.file == kNoFile));
        CHECK((op.source < trace.slots || op.source == kNoFile));
        if (op.kind == OperationKind::read || op.kind == OperationKind::write) {
          CHECK(op.length <= trace.largest_io);
        }
      }
    }
  }
}

}  // namespace
}  // namespace filereel

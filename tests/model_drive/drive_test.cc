#include "tests/model_drive/drive.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/measure/clock.h"
#include "tests/temp_dir.h"

namespace filereel::model_drive {
namespace {

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string bytes_at(const Content& content, std::uint64_t offset, std::uint64_t length) {
  const auto found = content.read(offset, length);
  return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("a drive holds zeros where nothing was written") {
  Content content(1 << 20);
  CHECK(bytes_at(content, 5000, 100) == std::string(100, '\0'));
  content.write(5000, std::string_view("abc"));
  CHECK(bytes_at(content, 4999, 5) == std::string("\0abc\0", 5));
}

TEST_CASE("a discard leaves zeros in its range and nothing else changed") {
  constexpr std::uint64_t kSize = 64 << 10;
  for (const auto& [from, length] : {std::pair<std::uint64_t, std::uint64_t>{4096, 8192},
                                     {100, 200},
                                     {4000, 200},
                                     {100, 4000},
                                     {1, 20'000},
                                     {0, kSize},
                                     {4096, 1},
                                     {kSize, 0},
                                     {10, 0}}) {
    CAPTURE(from);
    CAPTURE(length);
    Content content(kSize);
    std::string wanted(kSize, 'x');
    content.write(0, wanted);
    content.discard(from, length);
    wanted.replace(from, length, length, '\0');
    CHECK(bytes_at(content, 0, kSize) == wanted);
  }
}

TEST_CASE("things are done in the order of their times, and none before its time") {
  std::mutex mutex;
  std::vector<int> order;
  bool early = false;
  const std::uint64_t now = kernel_ns();
  {
    Completions completions;
    for (const int i : {3, 1, 2, 0, 4}) {
      // Apart by more than a busy machine delays a thread.
      const std::uint64_t due = now + 2'000'000 + static_cast<std::uint64_t>(i) * 50'000'000;
      completions.at(due, [&, i, due] {
        const std::lock_guard lock(mutex);
        early = early || kernel_ns() < due;
        order.push_back(i);
      });
    }
    const auto all_done = [&] {
      const std::lock_guard lock(mutex);
      return order.size() == 5;
    };
    while (!all_done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK_FALSE(early);
  CHECK(order == std::vector{0, 1, 2, 3, 4});
}

TEST_CASE("what waits is done at the end, and what comes later at once") {
  std::atomic<int> done = 0;
  Completions completions;
  const std::uint64_t never = kernel_ns() + 3600'000'000'000;
  for (int i = 0; i < 10; ++i) completions.at(never, [&] { ++done; });
  CHECK(done == 0);
  completions.finish();
  CHECK(done == 10);
  completions.at(never, [&] { ++done; });
  CHECK(done == 11);
}

TEST_CASE("many threads make requests, and each is answered and logged once") {
  const TempDir folder;
  constexpr int kThreads = 4, kRequests = 500;
  std::atomic<int> answers = 0;
  {
    OperationLog log(folder / "log");
    {
      Drive drive(read_script("{size: 1MiB, slots: 8, read: {latency: {min: 0, max: 20us}}}", "s"),
                  log);
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
          for (int n = 0; n < kRequests; ++n) {
            drive.end(drive.begin(Kind::read, 0, 4096), [&] { ++answers; });
          }
        });
      }
      threads.clear();
      drive.finish();
    }
    CHECK(answers == kThreads * kRequests);
    log.note("end");
  }
  std::istringstream lines(text_in(folder / "log"));
  std::vector<bool> seen(kThreads * kRequests + 1);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t number = std::stoul(line.substr(line.rfind(' ') + 1));
    REQUIRE(number < seen.size());
    CHECK_FALSE(seen[number]);
    seen[number] = true;
    ++count;
  }
  CHECK(count == kThreads * kRequests);
}

TEST_CASE("the log holds an operation before it is answered") {
  const TempDir folder;
  OperationLog log(folder / "log");
  Drive drive(read_script("size: 1MiB", "script"), log);
  bool found = false;
  drive.end(drive.begin(Kind::write, 4096, 512), [&] {
    log.flush();
    found = text_in(folder / "log").find(" write 4096 512 0 - 1\n") != std::string::npos;
  });
  CHECK(found);
}

TEST_CASE("a drive tells the state of its medium") {
  OperationLog log("");
  Drive drive(read_script("size: 1MiB", "script"), log);
  CHECK(drive.medium_state() == "cached 0 in_use 0 old 0 celsius -");
  drive.replace(read_script("{size: 1MiB, write_cache: {size: 1MiB, fast: 1TiB/s, slow: 1TiB/s}, "
                            "old_data: [{offset: 0, length: 64KiB, rate: 1MB/s}], "
                            "temperature: {idle: 35, hottest: 85, at: 1TiB/s, half_time: 1h, "
                            "throttle: {above: 75, below: 70, to: 30%}}}",
                            "script"),
                "script");
  drive.begin(Kind::write, 0, 5000);
  CHECK(drive.medium_state() == "cached 5000 in_use 2 old 14 celsius 35.00");
}

TEST_CASE("a note stands behind all that was logged before") {
  const TempDir folder;
  OperationLog log(folder / "log");
  log.add({.kind = Kind::flush, .length = 1, .number = 1, .arrival_ns = 5, .due_ns = 5}, 6);
  log.note("changed");
  CHECK(text_in(folder / "log") ==
        "# arrival_ns completion_ns kind offset length service_ns stalls number\n"
        "5 6 flush 0 1 0 - 1\n"
        "# changed\n");
}

TEST_CASE("a log that cannot be made is refused in one line") {
  CHECK_THROWS_WITH_AS(OperationLog("/nowhere/log"),
                       "/nowhere/log: cannot be made: No such file or directory", Error);
}

}  // namespace filereel::model_drive

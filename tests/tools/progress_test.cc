#include "tools/cli/progress.h"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace filereel {
namespace {

StepInfo step() {
  StepInfo info;
  info.file_system = "ext4";
  info.set = "iso";
  info.operation = "copy-far";
  info.run = 2;
  info.runs = 3;
  info.bytes = 1'000'000'000;
  info.files = 4;
  info.expected_s = 10;
  info.left_s = 50;
  return info;
}

TEST_CASE("the time left follows from the time taken") {
  CHECK(time_left(0.5, 60) == "60.0 s left");
  CHECK(time_left(0.25, 10) == "30.0 s left");
  CHECK(time_left(0.9, 9).ends_with(" left"));
}

TEST_CASE("nothing is said of the time left while it is a guess") {
  CHECK(time_left(0, 10).empty());
  CHECK(time_left(0.009, 10).empty());
  CHECK(time_left(1.5, 10).empty());
}

// Half of it, with 100 MB in the last second.
StepState half() {
  return {.bytes = 500'000'000,
          .files = 2,
          .elapsed_s = 5,
          .run_s = 55,
          .last_second = LiveFigures{.seconds = 1,
                                     .operations = 800,
                                     .bytes = 100'000'000,
                                     .p50_ns = 500'000,
                                     .p99_ns = 1'200'000,
                                     .max_ns = 2'000'000}};
}

TEST_CASE("a step is described by what it is, how far, how fast and how long still") {
  CHECK(describe_step(step(), half()) ==
        " 55 %  ext4 iso copy-far 2/3  100 MB/s, p99 1.2 ms  45.0 s left");
}

TEST_CASE("a second without a finished operation shows") {
  StepState state = half();
  state.last_second = LiveFigures{.seconds = 1};
  CHECK(describe_step(step(), state) == " 55 %  ext4 iso copy-far 2/3  0 MB/s  45.0 s left");
}

TEST_CASE("a step that flushes says so") {
  StepState state = half();
  state.last_second.reset();
  state.flushing = true;
  CHECK(describe_step(step(), state) == " 55 %  ext4 iso copy-far 2/3  flushing  45.0 s left");
}

TEST_CASE("a long name gives way to the figures") {
  StepInfo info = step();
  info.set = "random-read, depth 4, size 128 KiB, threads 16, random 100 %";
  CHECK(describe_step(info, half(), 79) ==
        " 55 %  ext4 random-read, depth 4, size 128 …  100 MB/s, p99 1.2 ms  45.0 s left");
  CHECK(describe_step(info, half(), 10).starts_with(" 55 %  ext4 ra…"));
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "ab…");
  CHECK(shortened("abcd", 0) == "…");
}

TEST_CASE("a single run is not numbered") {
  StepInfo info = step();
  info.runs = info.run = 1;
  CHECK(describe_step(info, half()).contains("copy-far  100"));
}

TEST_CASE("steps that move no bytes are as far as their files") {
  StepState state = half();
  state.bytes = state.last_second->bytes = 0;
  CHECK(describe_step(step(), state) ==
        " 55 %  ext4 iso copy-far 2/3  800 ops/s, p99 1.2 ms  45.0 s left");
}

TEST_CASE("before anything is known there is no speed and no time") {
  StepInfo info = step();
  info.expected_s = info.left_s = 0;
  CHECK(describe_step(info, {.last_second = LiveFigures()}) == "  0 %  ext4 iso copy-far 2/3");
  info.bytes = info.files = 0;
  CHECK(describe_step(info, {.last_second = LiveFigures()}) == "  0 %  ext4 iso copy-far 2/3");
}

TEST_CASE("at the end of the last step all is done") {
  StepInfo info = step();
  info.left_s = info.expected_s;
  StepState state = half();
  state.bytes = info.bytes;
  state.flushing = true;
  CHECK(describe_step(info, state) == "100 %  ext4 iso copy-far 2/3  flushing");
}

TEST_CASE("a step is never further than its end") {
  StepState state = half();
  state.bytes = 5'000'000'000;
  CHECK(describe_step(step(), state).ends_with("  40.0 s left"));
}

TEST_CASE("the assumed time of a step is corrected by what it has done") {
  StepInfo info = step();
  StepState state = half();
  state.elapsed_s = 50;
  CHECK(describe_step(info, state).ends_with("  67.5 s left"));  // 40 + (5 + 50) / 2
  info.expected_is_measured = true;
  state.elapsed_s = 8;
  CHECK(describe_step(info, state).ends_with("  42.0 s left"));
  state.elapsed_s = 30;
  CHECK(describe_step(info, state).ends_with("  40.0 s left"));
}

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST_CASE("a log gets a line when a step begins and the last line is half a minute old") {
  constexpr std::uint64_t kBegin = 7 * kSecond;
  PlainProgress progress(kBegin);
  CHECK(progress.step_begins(step(), kBegin).empty());
  CHECK(progress.step_begins(step(), kBegin + 30 * kSecond - 1).empty());
  CHECK(progress.step_begins(step(), kBegin + 30 * kSecond) ==
        "38 %  ext4 iso copy-far 2/3  50.0 s left");
  CHECK(progress.step_begins(step(), kBegin + 59 * kSecond).empty());
  CHECK(progress.step_begins(step(), kBegin + 300 * kSecond) ==
        "86 %  ext4 iso copy-far 2/3  50.0 s left");
}

TEST_CASE("a log's line says nothing of the time left while that is unknown") {
  StepInfo info = step();
  info.expected_s = info.left_s = 0;
  PlainProgress progress(0);
  CHECK(progress.step_begins(info, 40 * kSecond) == "0 %  ext4 iso copy-far 2/3");
}

TEST_CASE("a line is cut to the width of the terminal, whole characters only") {
  CHECK(fitting("abc", 0).empty());
  CHECK(fitting("abc", 2) == "ab");
  CHECK(fitting("abc", 3) == "abc");
  CHECK(fitting("abc", 100) == "abc");
  CHECK(fitting("\u00e4\u00f6\u00fc", 2) == "\u00e4\u00f6");
  CHECK(fitting("\u65e5\u672c", 3) == "\u65e5");  // two columns each
  CHECK(fitting("\u65e5\u672c", 1).empty());
  CHECK(fitting("e\u0301x", 1) == "e\u0301");  // a mark takes none
  CHECK(fitting("", 5).empty());
}

}  // namespace
}  // namespace filereel

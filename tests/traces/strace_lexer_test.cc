#include "traces/import/strace_lexer.h"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

using namespace filereel;
using Kind = StraceLine::Kind;

namespace {

StraceArguments split(std::string_view text, bool whole = true) {
  StraceArguments arguments;
  CHECK(arguments.split(text) == whole);
  return arguments;
}

}  // namespace

TEST_CASE("The line of a call is split with and without a thread") {
  const StraceLine plain = read_strace_line(R"(close(3)                          = 0)");
  CHECK(plain.kind == Kind::call);
  CHECK_FALSE(plain.thread.has_value());
  CHECK(plain.name == "close");
  CHECK(plain.text == "3)                          = 0");

  CHECK(read_strace_line("12121 close(3) = 0").thread == 12121);
  CHECK(read_strace_line("123   close(3) = 0").thread == 123);
  CHECK(read_strace_line("[pid 12221] close(3) = 0").thread == 12221);
  CHECK(read_strace_line("[pid   221] close(3) = 0").thread == 221);
  CHECK(read_strace_line("13013<my prog> close(3) = 0").thread == 13013);
  CHECK(read_strace_line("[pid 13<a b>] close(3) = 0").name == "close");
}

TEST_CASE("All time formats of strace are read") {
  using Stamp = StraceStamp::Kind;
  const auto stamp = [](std::string_view line) {
    const StraceLine read = read_strace_line(line);
    CHECK(read.kind == Kind::call);
    return read.stamp;
  };
  CHECK(stamp("sync() = 0").kind == Stamp::none);
  StraceStamp read = stamp("11:46:38 sync() = 0");
  CHECK(read.kind == Stamp::day);
  CHECK(read.whole_seconds);
  CHECK(read.at_ns == 42398'000'000'000);
  read = stamp("7 11:46:38.000012 sync() = 0");
  CHECK(read.at_ns == 42398'000'012'000);
  CHECK_FALSE(read.whole_seconds);
  read = stamp("[pid 7] 1795261597.726551 sync() = 0");
  CHECK(read.kind == Stamp::epoch);
  CHECK(read.at_ns == 1795261597'726'551'000);
  CHECK(stamp("1795261831.945128076 sync() = 0").at_ns == 1795261831'945'128'076);
  read = stamp("1795261831 sync() = 0");  // seconds: out of range for a thread
  CHECK(read.kind == Stamp::epoch);
  CHECK(read.whole_seconds);
  read = stamp("12165      0.000040 sync() = 0");
  CHECK(read.kind == Stamp::none);
  CHECK(read.since_last_ns == 40'000);
  read = stamp("1795261831.903675 (+     0.000343) sync() = 0");
  CHECK(read.kind == Stamp::epoch);
  CHECK(read.since_last_ns == 343'000);
  CHECK(stamp("11:50:31.925000 [  12] [00007fa140958c47] sync() = 0").kind == Stamp::day);
}

TEST_CASE("Lines other than calls are distinguished") {
  CHECK(read_strace_line("7 +++ exited with 0 +++").kind == Kind::ended);
  CHECK(read_strace_line("+++ killed by SIGKILL +++").kind == Kind::ended);
  CHECK(read_strace_line("--- SIGCHLD {si_signo=SIGCHLD} ---").kind == Kind::notice);
  const StraceLine attached = read_strace_line("strace: Process 13063 attached");
  CHECK(attached.kind == Kind::attached);
  CHECK(attached.other == 13063);
  const StraceLine superseded = read_strace_line("5 +++ superseded by execve in pid 13057 +++");
  CHECK(superseded.kind == Kind::superseded);
  CHECK(superseded.other == 13057);
  const StraceLine unfinished = read_strace_line("7 wait4(-1,  <unfinished ...>");
  CHECK(unfinished.kind == Kind::unfinished);
  CHECK(unfinished.text == "-1, ");
  const StraceLine resumed = read_strace_line("7 <... wait4 resumed>NULL, 0, NULL) = 12124");
  CHECK(resumed.kind == Kind::resumed);
  CHECK(resumed.name == "wait4");
  CHECK(resumed.text == "NULL, 0, NULL) = 12124");
  CHECK(read_strace_line("openat(AT_FDCWD, \"/x").kind == Kind::torn);
  for (const std::string_view text : {"hello", "", "(", "a b(", "12 ", "99:99:99 sync() = 0"}) {
    CAPTURE(text);
    CHECK(read_strace_line(text).kind == Kind::garbled);
  }
}

TEST_CASE("A string that looks like a message of strace stays a string") {
  const StraceLine line = read_strace_line(R"(write(1, "hello <unfinished ...>", 22) = 22)");
  CHECK(line.kind == Kind::call);
  CHECK(split(line.text)[1] == R"("hello <unfinished ...>")");
}

TEST_CASE("A line interrupted by a message of strace is found") {
  std::string_view line = "[pid 7] close(3strace: Process 13065 attached";
  CHECK(cut_off_attached(line) == 13065);
  CHECK(line == "[pid 7] close(3");
  line = "strace: Process 13065 attached";
  CHECK_FALSE(cut_off_attached(line).has_value());
}

TEST_CASE("Arguments end at commas outside brackets and strings") {
  const StraceArguments read =
      split(R"(4</a,b>, "x\",(y", {a=1, b=[2, 3]}, makedev(0x1, 0x3), 5 /* a, ) */, "z"...) = 7)");
  REQUIRE(read.count() == 6);
  CHECK(read[0] == "4</a,b>");
  CHECK(read[1] == R"("x\",(y")");
  CHECK(read[2] == "{a=1, b=[2, 3]}");
  CHECK(read[3] == "makedev(0x1, 0x3)");
  CHECK(read[5] == R"("z"...)");
  CHECK(read[6].empty());
  CHECK(split(") = 0").count() == 0);
  CHECK(split("15<UNIX-STREAM:[1->2]>, 16</d/x->, 3</dev/null<char 1:3>>) = 0").count() == 3);
  CHECK(split("1<<3, 2) = 0").count() == 2);
}

TEST_CASE("Results are numbers, errors or unknown") {
  CHECK(split("3) = 0").result().value == 0);
  CHECK(split("3)            = 4096").result().value == 4096);
  CHECK(split("3) = 0x8402 (flags O_RDWR)").result().value == 0x8402);
  CHECK(split("022)      = 022").result().value == 18);
  CHECK(split("3) = 7</x>(deleted)").result().value == 7);
  CHECK(split("3) = 7</x>(deleted)").result().text == "7</x>(deleted)");
  CHECK(split("3) = 1 (in [3], left {tv_sec=1})").result().value == 1);
  StraceResult result = split("3) = -1 ENOENT (No such file or directory) <0.000063>").result();
  CHECK(result.kind == StraceResult::Kind::error);
  CHECK(result.value == -ENOENT);
  CHECK(result.duration_ns == 63'000);
  CHECK(split("3) = -1 EBADF").result().value == -EBADF);
  CHECK(split("3) = 3</x> <12.5>").result().duration_ns == 12'500'000'000);
  result = split("0)   = ?").result();
  CHECK(result.kind == StraceResult::Kind::unknown);
  CHECK(split("0) = ? ERESTARTSYS (To be restarted)").result().kind == StraceResult::Kind::unknown);
  split("0", false);
  split("0, \"abc", false);
  split("0) ", false);
  split("0] = 3", false);
}

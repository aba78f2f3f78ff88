// Calls with a successor, which x86-64 still has.
#include <array>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "tests/traces/bpf_events.h"
#include "traces/calls/system_call.h"
#include "traces/record/bpf/bpf_calls.h"
#include "traces/record/bpf/bpf_translation.h"

namespace filereel {
namespace {

TEST_CASE("all calls below the first unassigned number are known") {
  for (std::uint32_t number = 0; number <= 334; ++number) {
    CAPTURE(number);
    CHECK_FALSE(event_name(EVENT_CALL, number).starts_with("syscall_"));
  }
}

std::optional<SystemCall> read_older(const BpfEvent& event) {
  const std::vector<std::byte> bytes = event.bytes();
  BpfEventView view;
  REQUIRE(view.read(bytes));
  SystemCall call;
  if (read_bpf_call(view, true, call) != CallReading::call) return std::nullopt;
  return call;
}

TEST_CASE("older calls have no directory, and implied flags") {
  auto call = read_older(BpfEvent::call(SYS_open, {kPointer, O_RDONLY, 0}, -ENOENT).path("gone"));
  REQUIRE(call);
  CHECK(call->path == "gone");
  CHECK(call->dir == SystemCall::kCwd);
  call = read_older(BpfEvent::call(SYS_creat, {kPointer, 0600}, -ENOENT).path("gone"));
  REQUIRE(call);
  CHECK(call->flags == (O_CREAT | O_WRONLY | O_TRUNC));
  call = read_older(BpfEvent::call(SYS_lstat, {kPointer, kPointer}, -ENOENT).path("f"));
  REQUIRE(call);
  CHECK(call->flags == AT_SYMLINK_NOFOLLOW);
  call = read_older(BpfEvent::call(SYS_dup2, {0xffff'ffff, 0xdead'0000'0005}));
  REQUIRE(call);
  CHECK(call->fd2 == 5);
}

TEST_CASE("setting times with an unreadable path is omitted") {
  CHECK_FALSE(read_older(BpfEvent::call(SYS_utimes, {kPointer, 0})));
  CHECK_FALSE(read_older(BpfEvent::call(SYS_utime, {0, 0})));
}

TEST_CASE("older calls set times in microseconds or seconds") {
  const std::array<timeval, 2> older = {timeval{5, 6}, timeval{7, 8}};
  auto call = read_older(BpfEvent::call(SYS_utimes, {kPointer, kPointer}).path("f").copy(0, older));
  REQUIRE(call);
  CHECK(call->times[0] == 5'000'006'000);
  CHECK(call->times[1] == 7'000'008'000);
  const std::array<std::uint64_t, 2> oldest = {5, 7};
  call = read_older(BpfEvent::call(SYS_utime, {kPointer, kPointer}).path("f").copy(0, oldest));
  REQUIRE(call);
  CHECK(call->times[1] == 7'000'000'000);
}

}  // namespace
}  // namespace filereel

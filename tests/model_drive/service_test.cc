#include "tests/model_drive/service.h"

#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/model_drive/operation_log.h"

namespace filereel::model_drive {
namespace {

Script script_for(const std::string& rest) {
  return read_script("size: 64 MiB\n" + rest, "drive.yaml");
}

}  // namespace

TEST_CASE("each request takes the slot that is free first") {
  ServiceQueue queue(script_for("slots: 2\nread: {latency: 100ns}\nwrite: {latency: 30ns}"), 1000);
  CHECK(queue.admit(Kind::read, 0, 4096, 2000).due_ns == 2100);
  CHECK(queue.admit(Kind::write, 0, 4096, 2010).due_ns == 2040);
  const Service third = queue.admit(Kind::read, 8192, 4096, 2020);  // waits for the write
  CHECK(third.arrival_ns == 2020);
  CHECK(third.due_ns == 2140);
  CHECK(third.service_ns == 100);
  CHECK(third.number == 2);
  CHECK(third.offset == 8192);
  CHECK(queue.admit(Kind::read, 0, 4096, 2030).due_ns == 2200);
  CHECK(queue.admit(Kind::read, 0, 4096, 5000).due_ns == 5100);
}

TEST_CASE("so many slots serve so many requests per latency") {
  ServiceQueue queue(script_for("slots: 4\nread: {latency: 500us}"), 0);
  std::uint64_t last = 0;
  for (int i = 0; i < 1600; ++i) last = queue.admit(Kind::read, 0, 4096, 0).due_ns;
  CHECK(last == 1600 / 4 * 500'000);
}

TEST_CASE("a stall keeps its slot and no other") {
  ServiceQueue queue(script_for("slots: 2\nread: {latency: 10ns}\n"
                                "stalls: [{kinds: [read], length: 1ms, every: 2}]"),
                     0);
  CHECK(queue.admit(Kind::read, 0, 1, 0).due_ns == 10);
  const Service stalled = queue.admit(Kind::read, 0, 1, 0);
  CHECK(stalled.due_ns == 1'000'010);
  CHECK(stalled.stalls == 1);
  CHECK(queue.admit(Kind::read, 0, 1, 100).due_ns == 110);
}

TEST_CASE("a window of time counts from the begin of service, not from the arrival") {
  ServiceQueue queue(script_for("slots: 1\nread: {latency: 100ns}\n"
                                "stalls: [{length: 50ns, at: [1180ns]}]"),
                     10'000);
  CHECK(queue.admit(Kind::read, 0, 1, 11'100).due_ns == 11'200);
  const Service second = queue.admit(Kind::read, 0, 1, 11'100);  // begins at 11200
  CHECK(second.due_ns == 11'330);
  CHECK(second.service_ns == 130);
  CHECK(second.stalls == 1);
  CHECK(queue.admit(Kind::read, 0, 1, 11'190).stalls == 0);  // begins at 11330
}

TEST_CASE("writes in flight have their latency at once and share the path of the cache") {
  ServiceQueue queue(script_for("slots: 8\nwrite: {latency: 100us}\n"
                                "write_cache: {size: 4MiB, fast: 200MB/s, slow: 40MB/s}"),
                     0);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const Service fast = queue.admit(Kind::write, 0, 1 << 20, 0);
    CHECK(fast.due_ns == 100'000 + i * 5'242'880);
    CHECK(fast.service_ns == fast.due_ns);
  }
  CHECK(queue.admit(Kind::read, 0, 4096, 10).due_ns == 10);
  CHECK(queue.admit(Kind::write, 0, 1 << 20, 20).due_ns == 100'000 + 4 * 5'242'880 + 26'214'400);
  CHECK(queue.medium_at(20).cached() == 4 << 20);
}

TEST_CASE("a write waits for its slot before it waits for the path") {
  ServiceQueue queue(script_for("slots: 1\nwrite: {latency: 10us}\n"
                                "write_cache: {size: 4MB, fast: 100MB/s, slow: 10MB/s}"),
                     0);
  CHECK(queue.admit(Kind::write, 0, 1000, 0).due_ns == 20'000);
  const Service second = queue.admit(Kind::write, 0, 1000, 0);
  CHECK(second.due_ns == 40'000);
  CHECK(second.service_ns == 20'000);
}

TEST_CASE("a stalled write leaves the path to the others once it is transferred") {
  ServiceQueue queue(script_for("write_cache: {size: 4MB, fast: 100MB/s, slow: 10MB/s}\n"
                                "stalls: [{length: 1s, every: 2}, {length: 5us, at: [30us]}]"),
                     0);
  CHECK(queue.admit(Kind::write, 0, 1000, 0).due_ns == 10'000);
  CHECK(queue.admit(Kind::write, 0, 1000, 0).due_ns == 1'000'020'000);
  CHECK(queue.admit(Kind::write, 0, 1000, 0).due_ns == 30'000);
  CHECK(queue.admit(Kind::write, 0, 1000, 31'000).due_ns == 1'000'045'000);
  CHECK(queue.admit(Kind::write, 0, 1000, 32'000).due_ns == 55'000);
}

TEST_CASE("a flush is as large as what was written since the one before") {
  ServiceQueue queue(script_for("slots: 1\nflush: {latency: 5us, rate: 1GB/s}"), 0);
  queue.admit(Kind::write, 0, 1000, 0);
  queue.admit(Kind::discard, 0, 500, 0);
  queue.admit(Kind::read, 0, 9000, 0);
  const Service flush = queue.admit(Kind::flush, 0, 0, 0);
  CHECK(flush.length == 1500);
  CHECK(flush.service_ns == 6500);
}

TEST_CASE("a flush of nothing takes no slot and no time, and is not counted") {
  ServiceQueue queue(script_for("slots: 1\nflush: {latency: 5us}\nread: {latency: 1us}\n"
                                "stalls: [{kinds: [flush], length: 1s, every: 1}]"),
                     0);
  queue.admit(Kind::read, 0, 1, 0);
  const Service empty = queue.admit(Kind::flush, 0, 0, 100);
  CHECK(empty.due_ns == 100);
  CHECK(empty.service_ns == 0);
  CHECK(empty.number == 0);
  CHECK(empty.stalls == 0);
  CHECK(queue.admit(Kind::read, 0, 1, 100).due_ns == 2000);
  queue.admit(Kind::write, 0, 1, 3000);
  CHECK(queue.admit(Kind::flush, 0, 0, 3000).number == 1);
}

TEST_CASE("another script counts operations and time anew") {
  const Script script =
      script_for("stalls: [{length: 10ns, every: 3}, {length: 5ns, at: [100ns]}]");
  ServiceQueue queue(script, 0);
  queue.admit(Kind::read, 0, 1, 0);
  CHECK(queue.admit(Kind::read, 0, 1, 0).number == 2);
  queue.replace(script, 1000, "drive.yaml");
  const Service first = queue.admit(Kind::read, 0, 1, 1000);
  CHECK(first.number == 1);
  CHECK(first.stalls == 0);
  CHECK(queue.admit(Kind::read, 0, 1, 1100).stalls == 2);
  CHECK(queue.admit(Kind::read, 0, 1, 1200).stalls == 1);
}

TEST_CASE("requests in service keep their slots when the script changes") {
  ServiceQueue queue(script_for("slots: 3\nread: {latency: 100ns}"), 0);
  for (const std::uint64_t time : {0, 50, 90}) queue.admit(Kind::read, 0, 1, time);
  queue.replace(script_for("slots: 2\nread: {latency: 1ns}"), 95, "drive.yaml");
  CHECK(queue.admit(Kind::read, 0, 1, 95).due_ns == 151);  // after the second
  queue.replace(script_for("slots: 4\nread: {latency: 1ns}"), 96, "drive.yaml");
  CHECK(queue.admit(Kind::read, 0, 1, 96).due_ns == 97);  // in a new slot
}

TEST_CASE("another script goes on with the medium as it is") {
  const std::string cache = "write_cache: {size: 1MB, fast: 100MB/s, slow: 10MB/s}\n";
  ServiceQueue queue(script_for(cache), 0);
  CHECK(queue.admit(Kind::write, 0, 1'000'000, 0).due_ns == 10'000'000);
  queue.replace(script_for(cache + "write: {latency: 1us}"), 1000, "drive.yaml");
  const Service second = queue.admit(Kind::write, 0, 1000, 1000);  // after the one in service
  CHECK(second.number == 1);
  CHECK(second.due_ns == 10'000'000 + 1000 * 100);
  CHECK(queue.medium_at(1000).blocks_in_use() == 245);
}

TEST_CASE("a drive does not change its size") {
  ServiceQueue queue(script_for("read: {latency: 100ns}"), 0);
  CHECK_THROWS_WITH_AS(
      queue.replace(read_script("size: 1MiB", "drive.yaml"), 1, "drive.yaml"),
      "drive.yaml: 'size' is 1048576 bytes, that of the running drive 67108864; leave it as it is, "
      "or start another drive",
      Error);
  CHECK(queue.admit(Kind::read, 0, 1, 10).due_ns == 110);  // as before
}

TEST_CASE("a line of the log holds all that was decided") {
  const Service service{.kind = Kind::write,
                        .offset = 4096,
                        .length = 512,
                        .number = 7,
                        .arrival_ns = 100,
                        .service_ns = 50,
                        .due_ns = 150,
                        .stalls = 0b101};
  CHECK(log_line(service, 160) == "100 160 write 4096 512 50 1+3 7");
  CHECK(stall_numbers(0) == "-");
  CHECK(stall_numbers(StallSet{1} << 63) == "64");
}

}  // namespace filereel::model_drive

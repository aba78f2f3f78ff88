// Samples of several clients as one: sums, merged histograms and courses, stonewall, fairness.
#include "replay/results/client_samples.h"

#include <cmath>

#include <doctest/doctest.h>

#include "replay/results/latency.h"
#include "replay/results/packed.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Reads of 1 MiB, each `latency_ms` long, one after the other.
ClientSample client(const std::string& host, std::uint64_t reads, std::uint64_t latency_ms,
                    double planned_s = 0) {
  Histogram histogram;
  TimeGrid grid;
  for (std::uint64_t i = 0; i < reads; ++i) {
    const std::uint64_t ns = latency_ms * kMs;
    histogram.record(ns);
    grid.record((i + 1) * ns - 1, Histogram::bucket(ns), 1 << 20, false);
  }
  ClientSample client;
  client.host = host;
  client.planned_s = planned_s;
  client.sample.run = 1;
  client.sample.elapsed_s = static_cast<double>(reads * latency_ms) * 1e-3;
  client.sample.durable_s = client.sample.elapsed_s + 0.01;
  client.sample.bytes = reads << 20;
  client.sample.operations = reads;
  client.sample.course = pack_course(grid);
  client.sample.device_bytes_read = client.sample.bytes;
  client.sample.conditions.other_cpu = 0.25;
  LatencySummary latency = summarise(histogram);
  latency.bytes = client.sample.bytes;
  latency.histogram = pack_histogram(histogram);
  client.sample.latency.emplace("read", latency);
  client.sample.slowest.push_back(
      {.operation = "read", .path = "f", .latency_us = static_cast<double>(latency_ms) * 1e3});
  return client;
}

TEST_CASE("clients that start at the same nanosecond have the same start") {
  std::vector<ClientSample> clients = {client("a", 1, 10, 0.1), client("b", 1, 10, 0.3)};
  clients[0].late_s = 0.2;  // 0.1 + 0.2 > 0.3 in binary
  const Sample all = merge_samples(clients);
  CHECK(all.clients->each[0].start_s == 0);
  CHECK(all.clients->each[1].start_s == 0);
}

TEST_CASE("counts are sums, histograms are merged, times are those of the slowest client") {
  const std::vector<ClientSample> clients = {client("a", 100, 10), client("b", 100, 20)};
  const Sample all = merge_samples(clients);
  CHECK(all.operations == 200);
  CHECK(all.bytes == 200U << 20);
  CHECK(all.elapsed_s == doctest::Approx(2));
  CHECK(all.durable_s == doctest::Approx(2.01));
  Histogram sum = histogram_of(clients[0].sample.latency.at("read"));
  sum.merge(histogram_of(clients[1].sample.latency.at("read")));
  CHECK(histogram_of(all.latency.at("read")) == sum);
  CHECK(all.latency.at("read").count == 200);
  CHECK(all.latency.at("read").bytes == 200U << 20);
  std::uint64_t bytes = 0;
  const TimeGrid course = unpack_course(*all.course);
  for (const TimeGrid::Interval& interval : course.intervals()) bytes += interval.bytes;
  CHECK(bytes == all.bytes);
  REQUIRE(all.slowest.size() == 1);
  CHECK(all.slowest[0].path == "client-1/f");
}

TEST_CASE("work until the first client ended comes from the courses") {
  const Sample all = merge_samples(std::vector{client("a", 100, 10), client("b", 100, 20)});
  REQUIRE(all.clients);
  CHECK(all.clients->first_ended_s == doctest::Approx(1));
  CHECK(all.clients->first_ended_operations == 150);
  CHECK(all.clients->first_ended_bytes == 150U << 20);
}

TEST_CASE("a client that starts later is shifted in the course and in the times") {
  const std::vector<ClientSample> clients = {client("a", 10, 100), client("b", 10, 100, 0.5)};
  const Sample all = merge_samples(clients);
  CHECK(all.elapsed_s == doctest::Approx(1.5));
  CHECK(all.clients->each[1].start_s == doctest::Approx(0.5));
  CHECK(all.clients->start_skew_us == 0);  // as planned
  CHECK(all.clients->first_ended_operations == 15);
  const TimeGrid grid = unpack_course(*all.course);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < 50; ++i) before += grid.intervals()[i].bytes;  // of 10 ms
  CHECK(before == 5U << 20);
}

TEST_CASE("fairness is the ratio of rates and Jain's index") {
  const Sample all = merge_samples(std::vector{client("a", 100, 10), client("b", 100, 20)});
  const std::optional<Fairness> fairness = fairness_of(*all.clients);
  REQUIRE(fairness);
  CHECK(fairness->slowest_to_fastest == doctest::Approx(0.5));
  CHECK(fairness->jain == doctest::Approx(0.9));  // (1 + 0.5)^2 / (2 * (1 + 0.25))
  CHECK_FALSE(
      fairness_of(*merge_samples(std::vector{client("a", 1, 1), client("b", 0, 1)}).clients));
}

TEST_CASE("rates of clients are those of their own times, in bytes or operations") {
  const Sample all = merge_samples(std::vector{client("a", 100, 10), client("b", 100, 20, 0.5)});
  CHECK(moves_bytes(*all.clients));
  const std::vector<double> bytes = rates_of_clients(*all.clients, true);
  REQUIRE(bytes.size() == 2);
  CHECK(bytes[0] == doctest::Approx(100 << 20));
  CHECK(bytes[1] == doctest::Approx(50 << 20));
  CHECK(rates_of_clients(*all.clients, false)[1] == doctest::Approx(50));
}

TEST_CASE("what a machine reports counts once for its clients") {
  const Sample same = merge_samples(std::vector{client("a", 10, 10), client("a", 20, 10)});
  CHECK(same.device_bytes_read == 20U << 20);
  CHECK_FALSE(same.conditions.other_cpu);  // they count each other
  const Sample other = merge_samples(std::vector{client("a", 10, 10), client("b", 20, 10)});
  CHECK(other.device_bytes_read == 30U << 20);
  CHECK(other.conditions.other_cpu == 0.25);
}

}  // namespace
}  // namespace filereel

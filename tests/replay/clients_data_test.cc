// Clients on the report page: their figures, and a course of each in common intervals.
#include "replay/report/clients_data.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/results/packed.h"

namespace filereel {
namespace {

ClientFigures client_of(std::uint64_t bytes, double interval_s,
                        const std::vector<std::uint64_t>& course) {
  ClientFigures client{.host = "a", .elapsed_s = 1, .bytes = bytes, .operations = 2};
  client.interval_s = interval_s;
  client.bytes_course = pack_numbers(course);
  client.operations_course = pack_numbers(std::vector<std::uint64_t>(course.size(), 1));
  return client;
}

Measurement measurement_by(std::vector<ClientFigures> clients) {
  Measurement measurement;
  Sample& sample = measurement.samples.emplace_back();
  sample.run = 1;
  sample.elapsed_s = 2;
  sample.clients = ClientsSample{.first_ended_s = 1, .each = std::move(clients)};
  for (const ClientFigures& client : sample.clients->each) {
    sample.bytes += client.bytes;
    sample.operations += client.operations;
  }
  return measurement;
}

Json run_of(const Measurement& measurement, std::size_t intervals) {
  const auto json = clients_data(measurement, {.client_intervals = intervals});
  REQUIRE(json);
  return json->at("runs").at(0);
}

TEST_CASE("clients have intervals of one width, at most as many as fit the page") {
  const Measurement both =
      measurement_by({client_of(15, 0.01, {1, 2, 3, 4, 5}), client_of(15, 0.02, {3, 7, 5})});
  const Json run = run_of(both, 240);
  CHECK(run.at("interval_s") == doctest::Approx(0.02));
  CHECK(run.at("each").at(0).at("amounts") == std::vector<int>{3, 7, 5});
  CHECK(run.at("each").at(1).at("amounts") == std::vector<int>{3, 7, 5});
  CHECK(run_of(both, 2).at("each").at(0).at("amounts") == std::vector<int>{10, 5});
}

TEST_CASE("of many clients the slowest and the fastest are shown") {
  std::vector<ClientFigures> clients;
  for (std::uint64_t i = 1; i <= 100; ++i) clients.push_back(client_of(i, 0.01, {i}));
  const Json run = run_of(measurement_by(clients), 240);
  CHECK(run.at("count") == 100);
  const Json& each = run.at("each");
  REQUIRE(each.size() == 64);
  CHECK(each.at(31).at("rank") == 31);
  CHECK(each.at(32).at("rank") == 68);
  CHECK(run.at("slowest").at("rank") == 0);
  CHECK(run.at("fastest").at("rank") == 99);
  CHECK(run.at("per_s") == doctest::Approx(5050.0 / 2));
}

TEST_CASE("a copy that moved no data shows operations, and a single client nothing") {
  Measurement copy = measurement_by({client_of(5, 0.01, {5}), client_of(7, 0.01, {7})});
  CHECK(run_of(copy, 240).at("in_bytes") == true);
  copy.samples[0].moved_no_data = true;
  const Json run = run_of(copy, 240);
  CHECK(run.at("in_bytes") == false);
  CHECK(run.at("per_s") == doctest::Approx(2));
  CHECK_FALSE(clients_data(measurement_by({client_of(5, 0.01, {5})}), {}));
}

}  // namespace
}  // namespace filereel

// Samples of several clients as one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/results/result.h"

namespace filereel {

// A client's own sample, and its start on synchronised clocks.
struct ClientSample {
  Sample sample;
  std::string host;
  double planned_s = 0;      // of its start, from the start of the first client
  double late_s = 0;         // from then to its first operation
  double clock_error_s = 0;  // see StartFigures
};

// One sample of all clients, by rank: sums of the work, merged histograms and courses. Times are
// from the earliest start of any client to the last end. Paths begin with the client's directory,
// client-N. Traffic of drives and conditions of a machine with several clients count once. The load
// by other programs is unknown there: clients count each other as such. Throws
// Error(unusable_input) for invalid packed texts.
Sample merge_samples(std::span<const ClientSample> clients);

// Whether any sample is of clients that MPI started.
bool has_clients(const Measurement& measurement);

// Whether any client moves bytes. Its throughput is in operations otherwise.
bool moves_bytes(const ClientsSample& clients);

// Throughput by rank: bytes or operations per second of each client's own time until its calls
// returned; 0 without work.
std::vector<double> rates_of_clients(const ClientsSample& clients, bool in_bytes);

// How evenly the clients share the throughput (rates_of_clients, in bytes if any client moves
// some). Nothing if a client has done no work.
struct Fairness {
  double slowest_to_fastest = 1;  // 0 to 1
  // Jain's index, (sum x)^2 / (n * sum x^2): 1 if all are equal, 1/n if one gets everything. Jain,
  // Chiu, Hawe: "A Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984.
  double jain = 1;
};
std::optional<Fairness> fairness_of(const ClientsSample& clients);

}  // namespace filereel

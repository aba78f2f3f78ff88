// Converts the figures and courses of several clients to data for the page.
#pragma once

#include <cstddef>
#include <optional>

#include "replay/json.h"
#include "replay/report/tails_data.h"

namespace filereel {

// The number of clients of a sample on the page, at most 64: of more, the slowest and the fastest
// half of them. 0 for a sample without them.
std::size_t clients_shown(const Sample& sample);

// By repetition: throughput, fairness and start skew of all clients, and the course of each. Rates
// and amounts are in bytes, or operations if no data moved. Nothing without several clients.
std::optional<Json> clients_data(const Measurement& measurement, const PageDetail& detail);

}  // namespace filereel

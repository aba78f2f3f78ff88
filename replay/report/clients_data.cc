#include "replay/report/clients_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/report/figures.h"
#include "replay/results/client_samples.h"
#include "replay/results/packed.h"

namespace filereel {
namespace {

constexpr std::size_t kClientsOnPage = 64;

// The ranks of the clients on the page.
std::vector<std::size_t> shown_ranks(const std::vector<double>& rates) {
  std::vector<std::size_t> ranks(rates.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (ranks.size() <= kClientsOnPage) return ranks;
  std::ranges::stable_sort(ranks, {}, [&](std::size_t rank) { return rates[rank]; });
  const auto from = ranks.begin() + kClientsOnPage / 2, to = ranks.end() - kClientsOnPage / 2;
  ranks.erase(from, to);
  std::ranges::sort(ranks);
  return ranks;
}

// Sums of `group` neighbours each; the last group may be smaller.
std::vector<std::uint64_t> sums_of(const std::vector<std::uint64_t>& amounts, std::size_t group) {
  std::vector<std::uint64_t> sums((amounts.size() + group - 1) / group);
  for (std::size_t i = 0; i < amounts.size(); ++i) sums[i / group] += amounts[i];
  return sums;
}

// Intervals of the same width for all clients.
struct Strips {
  double interval_s = 0;
  std::vector<std::vector<std::uint64_t>> amounts;  // by rank
};

Strips strips_of(const ClientsSample& clients, bool in_bytes, std::size_t most) {
  Strips strips;
  double longest_s = 0;
  for (const ClientFigures& client : clients.each) {
    const ClientCourse course = unpack_client_course(client);
    strips.amounts.push_back(in_bytes ? course.bytes : course.operations);
    const std::size_t intervals = strips.amounts.back().size();
    strips.interval_s = std::max(strips.interval_s, client.interval_s);
    longest_s = std::max(longest_s, static_cast<double>(intervals) * client.interval_s);
  }
  while (longest_s > static_cast<double>(most) * strips.interval_s) strips.interval_s *= 2;
  // All widths are a power of two times the finest.
  for (std::size_t rank = 0; rank < clients.each.size(); ++rank) {
    const double width_s = clients.each[rank].interval_s;
    if (width_s <= 0) continue;
    const auto group = static_cast<std::size_t>(std::llround(strips.interval_s / width_s));
    strips.amounts[rank] = sums_of(strips.amounts[rank], std::max<std::size_t>(group, 1));
  }
  return strips;
}

std::size_t hosts_of(const ClientsSample& clients) {
  std::set<std::string_view> hosts;
  for (const ClientFigures& client : clients.each) hosts.insert(client.host);
  return hosts.size();
}

Json client_data(const ClientFigures& client, std::size_t rank, double rate) {
  return {{"rank", rank},
          {"host", client.host},
          {"start_s", client.start_s},
          {"elapsed_s", client.elapsed_s},
          {"per_s", rate}};
}

Json run_data(const Sample& sample, const PageDetail& detail) {
  const ClientsSample& clients = *sample.clients;
  const bool in_bytes = moves_bytes(clients) && !sample.moved_no_data;
  const std::vector<double> rates = rates_of_clients(clients, in_bytes);
  const Strips strips = strips_of(clients, in_bytes, detail.client_intervals);
  const auto all = static_cast<double>(in_bytes ? sample.bytes : sample.operations);
  const auto first =
      static_cast<double>(in_bytes ? clients.first_ended_bytes : clients.first_ended_operations);
  const auto rate = [](double amount, double seconds) {
    return seconds > 0 ? Json(amount / seconds) : Json(nullptr);
  };
  const auto data_of = [&](std::size_t rank) {
    return client_data(clients.each[rank], rank, rates[rank]);
  };
  const auto [slowest, fastest] = std::ranges::minmax_element(rates);
  Json json = {{"run", sample.run},
               {"count", clients.each.size()},
               {"hosts", hosts_of(clients)},
               {"in_bytes", in_bytes},
               {"elapsed_s", sample.elapsed_s},
               {"per_s", rate(all, sample.elapsed_s)},
               {"first_ended_s", clients.first_ended_s},
               {"first_ended_per_s", rate(first, clients.first_ended_s)},
               {"slowest", data_of(static_cast<std::size_t>(slowest - rates.begin()))},
               {"fastest", data_of(static_cast<std::size_t>(fastest - rates.begin()))},
               {"start_skew_us", clients.start_skew_us},
               {"clock_error_us", clients.clock_error_us},
               {"interval_s", strips.interval_s},
               {"each", Json::array()}};
  if (const auto fairness = fairness_of(clients)) json["jain"] = fairness->jain;
  for (const std::size_t rank : shown_ranks(rates)) {
    json["each"].push_back(data_of(rank));
    json["each"].back()["amounts"] = strips.amounts[rank];
  }
  return json;
}

}  // namespace

std::size_t clients_shown(const Sample& sample) {
  return sample.clients ? std::min(sample.clients->each.size(), kClientsOnPage) : 0;
}

std::optional<Json> clients_data(const Measurement& measurement, const PageDetail& detail) {
  const Sample* typical = typical_sample(measurement);
  Json runs = Json::array();
  for (const Sample& sample : measurement.samples) {
    if (clients_shown(sample) < 2 || has_failed(sample)) continue;
    runs.push_back(run_data(sample, detail));
  }
  if (runs.empty()) return std::nullopt;
  return std::optional<Json>(std::in_place,
                             Json::object({{"typical", typical->run}, {"runs", std::move(runs)}}));
}

}  // namespace filereel

#include "tests/model_drive/decisions.h"

#include <algorithm>
#include <optional>

#include "filesets/system/random.h"

namespace filereel::model_drive {
namespace {

// Numbers of independent random sequences: the latencies of a kind, a stall rule for a kind.
constexpr std::uint64_t kLatencyStream = 1, kStallStream = 1 << 16;
constexpr std::uint64_t kStreamsPerStall = 16;  // room for more kinds

// The `number`th of a sequence, above 0 and below 1.
double uniform_number(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
  return Random(mix_seed(mix_seed(seed, stream), number)).uniform();
}

// The value below which the distribution has the share `p`.
struct Quantile {
  double p;

  std::uint64_t operator()(const Fixed& fixed) const { return fixed.ns; }
  std::uint64_t operator()(const Lognormal& lognormal) const {
    const double ns = static_cast<double>(lognormal.median_ns) *
                      portable_exp(lognormal.sigma * normal_quantile(p));
    return ns >= static_cast<double>(kLongestNs) ? kLongestNs
                                                 : static_cast<std::uint64_t>(ns + 0.5);
  }
  std::uint64_t operator()(const Uniform& uniform) const {
    const auto values = static_cast<double>(uniform.max_ns - uniform.min_ns + 1);
    return std::min(uniform.max_ns, uniform.min_ns + static_cast<std::uint64_t>(p * values));
  }
};

// Whether a rule stalls an operation for its number.
struct Chooses {
  std::uint64_t seed, stream, number;

  bool operator()(const Share& share) const {
    return uniform_number(seed, stream, number) < share.of;
  }
  bool operator()(const Every& every) const { return number % every.count == 0; }
  bool operator()(const At&) const { return false; }
  bool operator()(const Period&) const { return false; }
};

// When the latest window began that began by `time_ns`.
struct LatestBegin {
  std::uint64_t time_ns;

  std::optional<std::uint64_t> operator()(const At& at) const {
    const auto later = std::ranges::upper_bound(at.ns, time_ns);
    if (later == at.ns.begin()) return std::nullopt;
    return *(later - 1);
  }
  std::optional<std::uint64_t> operator()(const Period& period) const {
    if (time_ns < period.ns) return std::nullopt;
    return time_ns - time_ns % period.ns;
  }
  std::optional<std::uint64_t> operator()(const Share&) const { return std::nullopt; }
  std::optional<std::uint64_t> operator()(const Every&) const { return std::nullopt; }
};

}  // namespace

Decision decide(const Script& script, Kind kind, std::uint64_t number, std::uint64_t length) {
  const auto index = static_cast<std::size_t>(kind);
  const KindScript& own = script.of(kind);
  const auto size_class =
      std::ranges::find_if(own.latency, [&](const auto& one) { return length <= one.up_to; });
  const double p = uniform_number(script.seed, kLatencyStream + index, number);
  Decision decision{.latency_ns = std::visit(Quantile{p}, size_class->latency)};
  for (std::size_t i = 0; i < script.stalls.size(); ++i) {
    const Stall& stall = script.stalls[i];
    const Chooses chooses{script.seed, kStallStream + i * kStreamsPerStall + index, number};
    if (!stall.kinds[index] || !std::visit(chooses, stall.when)) continue;
    decision.stall_ns += stall.length_ns;
    decision.stalls |= StallSet{1} << i;
  }
  return decision;
}

Window window_at(const Script& script, Kind kind, std::uint64_t time_ns) {
  Window window{.end_ns = time_ns};
  for (std::size_t i = 0; i < script.stalls.size(); ++i) {
    const Stall& stall = script.stalls[i];
    if (!stall.kinds[static_cast<std::size_t>(kind)]) continue;
    const auto begin = std::visit(LatestBegin{time_ns}, stall.when);
    if (!begin || time_ns >= *begin + stall.length_ns) continue;
    window.end_ns = std::max(window.end_ns, *begin + stall.length_ns);
    window.stalls |= StallSet{1} << i;
  }
  return window;
}

}  // namespace filereel::model_drive

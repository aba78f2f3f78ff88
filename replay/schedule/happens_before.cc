// The problem. The rules of order (dependencies.cc) find all earlier operations that an operation
// depends on. Most of these waits follow from others: from the program order of a lane, or because
// the operation waited for has waited itself. A wait that is left in the schedule costs even if it
// is over: the lane completes its requests in flight first. But the trace is compiled while it is
// read, so a reduction of the whole graph is not possible.
//
// So each lane has a vector clock: how far it knows every other lane to be, when its next operation
// begins. A wait is implied if the lane's clock has it (need()), or the clock that another of its
// new targets had when it began (reduce()). For that, a lane keeps its clocks at its last few
// operations with waits. All waits lead back in the trace, so two waits cannot imply each other,
// and all implied ones can go at once.
//
// It is always safe to forget: an unknown clock leaves a wait in the schedule that is not
// necessary, a wrong one would lose an order. So histories are short (16 clocks per lane, 16 MiB in
// all), and the clocks only grow. set_done() adds what the running replay has completed. It makes
// the waits of a schedule depend on time, but never the order: only waits that are over are left
// out.
//
// Cost: a comparison for each dependency; with waits, one pass over all lanes for each target.
// Memory: lanes² numbers of 8 bytes, 32 MiB for the most lanes (2048, schedule.cc), where nothing
// is left for histories. Used by the feeder's thread only.
#include "replay/schedule/happens_before.h"

#include <algorithm>

namespace filereel {
namespace {

constexpr std::size_t kMaxHistory = 16;
constexpr std::size_t kHistoryBytes = 16 << 20;  // of all lanes together

}  // namespace

HappensBefore::HappensBefore(std::size_t lanes)
    : history_length_(
          std::min(kMaxHistory, kHistoryBytes / (lanes * lanes * sizeof(std::uint64_t)))),
      clocks_(lanes),
      histories_(lanes),
      done_(lanes),
      wanted_(lanes) {}

std::span<const LanePosition> HappensBefore::reduce() {
  Clock& clock = clocks_[now_.lane()];
  if (clock.empty()) clock.resize(clocks_.size());
  sources_.clear();
  for (const std::uint32_t lane : touched_) {
    sources_.push_back(knowledge_at(LanePosition(lane, wanted_[lane])));
  }
  // Two waits cannot imply each other, so removing all implied waits loses none.
  const auto follows = [&](std::uint32_t lane) {
    return std::ranges::any_of(sources_, [&](const std::uint64_t* source) {
      return source && source[lane] >= wanted_[lane];
    });
  };
  waits_.clear();
  for (const std::uint32_t lane : touched_) {
    if (!follows(lane)) waits_.emplace_back(lane, wanted_[lane]);
  }
  for (const std::uint64_t* source : sources_) {
    if (!source) continue;
    for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], source[i]);
  }
  for (const std::uint32_t lane : touched_) {
    clock[lane] = std::max(clock[lane], wanted_[lane]);
    wanted_[lane] = 0;
  }
  touched_.clear();
  remember(now_.lane(), now_.count(), clock);
  return waits_;
}

// The clock of `moment`'s lane when its operation began; null: none, or no longer stored.
const std::uint64_t* HappensBefore::knowledge_at(LanePosition moment) const {
  const History& history = histories_[moment.lane()];
  const std::size_t size = history.counts.size();
  for (std::size_t back = 1; back <= size; ++back) {
    const std::size_t i = (history.next + size - back) % size;
    if (history.counts[i] <= moment.count()) return &history.clocks[i * clocks_.size()];
  }
  return nullptr;
}

void HappensBefore::remember(std::uint32_t lane, std::uint64_t count, const Clock& clock) {
  if (history_length_ == 0) return;
  History& history = histories_[lane];
  if (history.counts.size() < history_length_) {
    history.counts.push_back(count);
    history.clocks.insert(history.clocks.end(), clock.begin(), clock.end());
    history.next = history.counts.size() % history_length_;
    return;
  }
  history.counts[history.next] = count;
  std::ranges::copy(
      clock, history.clocks.begin() + static_cast<std::ptrdiff_t>(history.next * clocks_.size()));
  history.next = (history.next + 1) % history_length_;
}

}  // namespace filereel

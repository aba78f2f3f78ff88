// Removes waits that follow from other waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/schedule/lane_position.h"

namespace filereel {

// Processes the lanes in trace order. For each lane, tracks which operations of the others are
// complete when its next operation begins: those it waited for, and those that these had waited for
// (vector clocks, after Mattern 1989).
class HappensBefore {
 public:
  explicit HappensBefore(std::size_t lanes);

  // `now` is the moment of completion of the next operation.
  void begin(LanePosition now) {
    now_ = now;
    known_ = clocks_[now.lane()].empty() ? nullptr : clocks_[now.lane()].data();
  }

  // The operation must wait for `moment`.
  void need(LanePosition moment) {
    const std::uint32_t lane = moment.lane();
    const std::uint64_t count = moment.count();
    if (lane == now_.lane() || count <= wanted_[lane] || count <= done_[lane]) return;
    if (known_ && count <= known_[lane]) return;
    if (wanted_[lane] == 0) touched_.push_back(lane);
    wanted_[lane] = count;
  }
  void need(const LanePositions& moments) {
    moments.each([this](LanePosition moment) { need(moment); });
  }

  // Returns the operation's waits: at most one per other lane, none implied by another. They are
  // known from then on. Valid until the next call.
  std::span<const LanePosition> take() {
    if (touched_.empty()) return {};
    return reduce();
  }

  // Whether `moment` is complete when the operation begins, including waits already taken.
  bool is_known(LanePosition moment) const {
    const Clock& clock = clocks_[now_.lane()];
    return moment.lane() == now_.lane() || is_done(moment) ||
           (!clock.empty() && moment.count() <= clock[moment.lane()]);
  }

  // Reports the progress of the replay: these operations need no more waits. `count` must not
  // exceed the operations processed so far.
  void set_done(std::uint32_t lane, std::uint64_t count) { done_[lane] = count; }
  bool is_done(LanePosition moment) const { return moment.count() <= done_[moment.lane()]; }

 private:
  using Clock = std::vector<std::uint64_t>;  // by lane; empty: knows nothing

  // The clocks of a lane at its last few operations with waits, as a ring.
  struct History {
    std::vector<std::uint64_t> counts;  // number of the operation
    std::vector<std::uint64_t> clocks;  // one after another
    std::size_t next = 0;
  };

  std::span<const LanePosition> reduce();
  const std::uint64_t* knowledge_at(LanePosition moment) const;
  void remember(std::uint32_t lane, std::uint64_t count, const Clock& clock);

  std::size_t history_length_;
  LanePosition now_;
  const std::uint64_t* known_ = nullptr;
  std::vector<Clock> clocks_;
  std::vector<History> histories_;
  std::vector<std::uint64_t> done_, wanted_;
  std::vector<std::uint32_t> touched_;
  std::vector<const std::uint64_t*> sources_;
  std::vector<LanePosition> waits_;
};

}  // namespace filereel

// Which waits are left over when those are taken out that follow from others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/schedule/moment.h"

namespace filereel {

// Follows the lanes in trace order. Knows of each lane what must be done of the others when its
// next operation begins: what it waited for, and what those had waited for (vector clocks, after
// Mattern 1989).
class KnownOrder {
 public:
  explicit KnownOrder(std::size_t lanes);

  // `now` is the moment at which the next operation is done.
  void begin(Moment now) {
    now_ = now;
    known_ = clocks_[now.lane()].empty() ? nullptr : clocks_[now.lane()].data();
  }

  // The operation begins after `moment`.
  void need(Moment moment) {
    const std::uint32_t lane = moment.lane();
    const std::uint64_t count = moment.count();
    if (lane == now_.lane() || count <= wanted_[lane] || count <= done_[lane]) return;
    if (known_ && count <= known_[lane]) return;
    if (wanted_[lane] == 0) touched_.push_back(lane);
    wanted_[lane] = count;
  }
  void need(const MomentSet& moments) {
    moments.each([this](Moment moment) { need(moment); });
  }

  // The operation's waits: at most one for each other lane, none that follows from another. They
  // are known from now on. Valid until the next call.
  std::span<const Moment> take() {
    if (touched_.empty()) return {};
    return reduce();
  }

  // Whether it is done when the operation begins, waits included that were taken.
  bool is_known(Moment moment) const {
    const Clock& clock = clocks_[now_.lane()];
    return moment.lane() == now_.lane() || is_done(moment) ||
           (!clock.empty() && moment.count() <= clock[moment.lane()]);
  }

  // The replay is so far: nobody needs to wait for it. Operations done are at most those given.
  void set_done(std::uint32_t lane, std::uint64_t count) { done_[lane] = count; }
  bool is_done(Moment moment) const { return moment.count() <= done_[moment.lane()]; }

 private:
  using Clock = std::vector<std::uint64_t>;  // by lane; empty: knows nothing

  // What a lane knew at the operations before which it waited: the last few of them, a ring.
  struct History {
    std::vector<std::uint64_t> counts;  // number of the operation
    std::vector<std::uint64_t> clocks;  // one after another
    std::size_t next = 0;
  };

  std::span<const Moment> reduce();
  const std::uint64_t* knowledge_at(Moment moment) const;
  void remember(std::uint32_t lane, std::uint64_t count, const Clock& clock);

  std::size_t history_length_;
  Moment now_;
  const std::uint64_t* known_ = nullptr;
  std::vector<Clock> clocks_;
  std::vector<History> histories_;
  std::vector<std::uint64_t> done_, wanted_;
  std::vector<std::uint32_t> touched_;
  std::vector<const std::uint64_t*> sources_;
  std::vector<Moment> waits_;
};

}  // namespace filereel

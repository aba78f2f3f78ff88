// Removes waits that follow from other waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace filereel {

// --- Points in a replay for which other operations wait.

// "`lane` has completed `count` operations." The default moment is the start, for which no one
// waits.
class LanePosition {
 public:
  static constexpr std::uint32_t kMaxLanes = 1U << 16;  // eight bytes hold both numbers

  constexpr LanePosition() = default;
  constexpr LanePosition(std::uint32_t lane, std::uint64_t count)
      : bits_(std::uint64_t{lane} << kCountBits | count) {}

  constexpr std::uint32_t lane() const { return static_cast<std::uint32_t>(bits_ >> kCountBits); }
  constexpr std::uint64_t count() const { return bits_ & ((1ULL << kCountBits) - 1); }
  constexpr bool is_beginning() const { return bits_ == 0; }
  friend constexpr bool operator==(LanePosition, LanePosition) = default;
  friend constexpr auto operator<=>(LanePosition,
                                    LanePosition) = default;  // within a lane: which is later

 private:
  static constexpr unsigned kCountBits = 48;
  std::uint64_t bits_ = 0;
};

// The last moment of each lane. It nearly always holds one or two lanes, so the first is stored
// inline.
class LanePositions {
 public:
  LanePositions() = default;
  LanePositions(const LanePositions& other) : first_(other.first_) {
    if (other.rest_) rest_ = std::make_unique<std::vector<LanePosition>>(*other.rest_);
  }
  LanePositions(LanePositions&&) noexcept = default;
  LanePositions& operator=(LanePositions&&) noexcept = default;
  LanePositions& operator=(const LanePositions&) = delete;
  ~LanePositions() = default;

  // The most recently added lane is found first.
  void add(LanePosition moment) {
    if (first_.is_beginning() || first_.lane() == moment.lane()) {
      first_ = std::max(first_, moment);
      return;
    }
    if (!rest_) rest_ = std::make_unique<std::vector<LanePosition>>();
    const auto found = std::ranges::find(*rest_, moment.lane(), &LanePosition::lane);
    if (found == rest_->end()) {
      rest_->push_back(first_);
      first_ = moment;
    } else {
      const LanePosition later = std::max(*found, moment);
      *found = first_;
      first_ = later;
    }
  }

  void add(const LanePositions& others) {
    others.each([&](LanePosition moment) { add(moment); });
  }

  template <class Visit>
  void each(Visit visit) const {
    if (first_.is_beginning()) return;
    visit(first_);
    if (!rest_) return;
    for (const LanePosition moment : *rest_) visit(moment);
  }

  template <class Is>
  bool all(Is is) const {
    return first_.is_beginning() || (is(first_) && (!rest_ || std::ranges::all_of(*rest_, is)));
  }

  void clear() {
    first_ = {};
    rest_.reset();
  }

 private:
  LanePosition first_;
  std::unique_ptr<std::vector<LanePosition>> rest_;  // of other lanes; empty if first_ is
};

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

// Points in a replay for which other operations wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace filereel {

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

}  // namespace filereel

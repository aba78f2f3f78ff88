// A counter with one writer thread and any number of concurrent readers.
#pragma once

#include <atomic>
#include <cstdint>

namespace filereel {

// Incrementing is a plain load and store, not a locked instruction.
class Counter {
 public:
  Counter() = default;
  Counter(std::uint64_t value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  Counter(const Counter& other) noexcept : value_(other) {}
  Counter& operator=(const Counter& other) noexcept { return *this = std::uint64_t{other}; }
  Counter& operator=(std::uint64_t value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

  operator std::uint64_t() const noexcept {  // NOLINT(google-explicit-constructor)
    return value_.load(std::memory_order_relaxed);
  }
  // The same with release and acquire order, for a value that signals that earlier stores are
  // complete.
  void publish(std::uint64_t value) noexcept { value_.store(value, std::memory_order_release); }
  std::uint64_t published() const noexcept { return value_.load(std::memory_order_acquire); }

  Counter& operator+=(std::uint64_t more) noexcept { return *this = *this + more; }
  Counter& operator++() noexcept { return *this += 1; }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace filereel

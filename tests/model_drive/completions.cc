#include "tests/model_drive/completions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "replay/measure/clock.h"
#include "tests/model_drive/prompt_thread.h"

namespace filereel::model_drive {

Completions::Completions() : thread_([this] { work(); }) {}

Completions::~Completions() {
  finish();
}

void Completions::at(std::uint64_t due_ns, std::function<void()> done) {
  if (due_ns <= kernel_ns()) {
    done();
    return;
  }
  std::unique_lock lock(mutex_);
  if (finishing_) {
    lock.unlock();
    done();
    return;
  }
  entries_.push_back({due_ns, order_++, std::move(done)});
  std::ranges::push_heap(entries_, later);
  if (due_ns >= earliest_ns_) return;
  earliest_ns_ = due_ns;
  lock.unlock();
  changed_.notify_one();
}

void Completions::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Completions::wait_for(std::uint64_t due_ns, std::unique_lock<std::mutex>& lock) {
  if (due_ns > kernel_ns() + kSleepMarginNs) {
    const std::chrono::nanoseconds end(due_ns - kSleepMarginNs);
    changed_.wait_until(lock, std::chrono::steady_clock::time_point(end));
    return;
  }
  lock.unlock();
  while (kernel_ns() < due_ns && earliest_ns_ >= due_ns && !finishing_) relax();
  lock.lock();
}

void Completions::work() {
  be_prompt();
  prepare_precise_sleep();
  std::unique_lock lock(mutex_);
  while (!finishing_ || !entries_.empty()) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const std::uint64_t due_ns = entries_.front().due_ns;
    if (!finishing_ && kernel_ns() < due_ns) {
      wait_for(due_ns, lock);
      continue;
    }
    std::ranges::pop_heap(entries_, later);
    const std::function<void()> done = std::move(entries_.back().done);
    entries_.pop_back();
    earliest_ns_ = entries_.empty() ? UINT64_MAX : entries_.front().due_ns;
    lock.unlock();
    done();
    lock.lock();
  }
}

}  // namespace filereel::model_drive

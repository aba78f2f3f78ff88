// A discrete-event simulation with a virtual clock. Its processes are coroutines that sleep, wait
// for signals and call each other.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <queue>
#include <utility>
#include <vector>

namespace filereel {

// A part of a process: co_await part(). Owns its frame, so that destroying a process destroys all
// its parts. Exceptions leave Simulation::step.
class Part {
 public:
  struct promise_type {
    std::coroutine_handle<> caller;

    Part get_return_object() {
      return Part(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
        const std::coroutine_handle<> caller = done.promise().caller;
        return caller ? caller : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { std::rethrow_exception(std::current_exception()); }
  };

  Part(Part&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part& operator=(Part&&) = delete;
  ~Part() {
    if (body_) body_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    body_.promise().caller = caller;
    return body_;
  }
  void await_resume() const noexcept {}

  std::coroutine_handle<> body() const { return body_; }

 private:
  explicit Part(std::coroutine_handle<promise_type> body) : body_(body) {}
  std::coroutine_handle<promise_type> body_;
};

// Times are nanoseconds of the virtual clock. Simultaneous events run in the order of their
// scheduling, so a simulation is deterministic.
class Simulation {
 public:
  std::uint64_t now() const { return now_; }

  // Starts a process now. It lives as long as the simulation.
  void start(Part process) {
    schedule(now_, process.body());
    processes_.push_back(std::move(process));
  }

  void schedule(std::uint64_t at, std::coroutine_handle<> who) {
    due_.push({at, ++scheduled_, who});
  }

  // Runs the next event; false if there is none.
  bool step() {
    if (due_.empty()) return false;
    const Due next = due_.top();
    due_.pop();
    now_ = next.at;
    next.who.resume();
    return true;
  }

  struct Sleep {
    Simulation& simulation;
    std::uint64_t until;
    bool await_ready() const noexcept { return until <= simulation.now_; }
    void await_suspend(std::coroutine_handle<> who) { simulation.schedule(until, who); }
    void await_resume() const noexcept {}
  };
  Sleep sleep_until(std::uint64_t time) { return {*this, time}; }
  Sleep sleep(std::uint64_t ns) { return {*this, now_ + ns}; }

 private:
  struct Due {
    std::uint64_t at, number;
    std::coroutine_handle<> who;
    bool operator<(const Due& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  std::uint64_t now_ = 0, scheduled_ = 0;
  std::priority_queue<Due> due_;
  std::vector<Part> processes_;
};

// A signal for waiting processes: co_await signal.wait().
class Signal {
 public:
  explicit Signal(Simulation& simulation) : simulation_(simulation) {}

  struct Wait {
    Signal& signal;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who) { signal.waiting_.push_back(who); }
    void await_resume() const noexcept {}
  };
  Wait wait() { return {*this}; }

  // Resumes all waiting processes now.
  void raise() {
    for (const std::coroutine_handle<> who : waiting_) simulation_.schedule(simulation_.now(), who);
    waiting_.clear();
  }

 private:
  Simulation& simulation_;
  std::vector<std::coroutine_handle<>> waiting_;
};

}  // namespace filereel

// A thread's operations written as a coroutine: a workload calls `co_yield Operation{…}` in plain
// loops and becomes an OperationSource.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "traces/operation_source.h"

namespace filereel {

// `co_yield EndOfBatch{}`: the operations so far are executed before the body resumes.
struct EndOfBatch {};

// Owns the coroutine. Memory is allocated when the coroutine is called, never when it resumes.
// Objects that the body's parameters refer to must outlive the stream.
class OperationStream final : public OperationSource {
 public:
  struct promise_type {
    const Operation* current = nullptr;  // null: the end of a batch
    std::exception_ptr failure;

    OperationStream get_return_object() {
      return OperationStream(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const Operation& operation) noexcept {
      current = &operation;  // valid until the body resumes
      return {};
    }
    std::suspend_always yield_value(EndOfBatch) noexcept {
      current = nullptr;
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() { failure = std::current_exception(); }
  };

  OperationStream(OperationStream&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  OperationStream(const OperationStream&) = delete;
  OperationStream& operator=(const OperationStream&) = delete;
  OperationStream& operator=(OperationStream&&) = delete;
  ~OperationStream() override {
    if (body_) body_.destroy();
  }

  std::size_t next(std::span<Operation> out) override {
    std::size_t filled = 0;
    while (filled < out.size() && !body_.done()) {
      body_.resume();
      if (body_.done()) break;
      if (const Operation* const operation = body_.promise().current) {
        out[filled++] = *operation;
      } else if (filled > 0) {
        break;
      }
    }
    if (body_.done() && body_.promise().failure) std::rethrow_exception(body_.promise().failure);
    return filled;
  }

 private:
  explicit OperationStream(std::coroutine_handle<promise_type> body) : body_(body) {}
  std::coroutine_handle<promise_type> body_;
};

}  // namespace filereel

// A thread's operations written as a coroutine: a workload calls `co_yield Operation{…}` in plain
// loops and becomes an OperationSource.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "traces/operation.h"
#include "traces/operation_source.h"

namespace filereel {

// --- Helpers that build operations for workloads.

inline Operation named(OperationKind kind, PathId path) {
  Operation operation;
  operation.kind = kind;
  operation.path = path;
  return operation;
}

inline Operation make_directory(PathId path, std::uint32_t mode) {
  Operation operation = named(OperationKind::make_directory, path);
  operation.mode = mode;
  return operation;
}

inline Operation open_file(PathId path, FileSlot slot, int flags, std::uint32_t mode = 0) {
  Operation operation = named(OperationKind::open, path);
  operation.file = slot;
  operation.flags = static_cast<std::uint32_t>(flags);
  operation.mode = mode;
  return operation;
}

// An operation on an open file, with no other members set.
inline Operation of_file(OperationKind kind, FileSlot slot) {
  Operation operation;
  operation.kind = kind;
  operation.file = slot;
  return operation;
}

inline Operation close_file(FileSlot slot, bool counts_file) {
  Operation operation = of_file(OperationKind::close, slot);
  operation.counts_file = counts_file;
  return operation;
}

// A read or write that transfers the full length.
inline Operation data(OperationKind kind, FileSlot slot, std::uint64_t offset,
                      std::uint64_t length) {
  Operation operation = of_file(kind, slot);
  operation.offset = offset;
  operation.length = length;
  operation.expected = static_cast<std::int64_t>(length);
  return operation;
}

inline Operation truncate_file(FileSlot slot, std::uint64_t size) {
  Operation operation = of_file(OperationKind::truncate, slot);
  operation.offset = size;
  return operation;
}

// The owner must be able to keep working in the created files. No set-uid or set-gid bits.
inline std::uint32_t directory_mode(std::uint32_t mode) {
  return (mode & 0777) | 0700;
}
inline std::uint32_t file_mode(std::uint32_t mode) {
  return (mode & 0777) | 0600;
}

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

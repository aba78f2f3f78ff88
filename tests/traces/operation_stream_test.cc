#include "traces/operation_stream.h"

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace filereel {
namespace {

Operation numbered(std::uint64_t number) {
  Operation operation;
  operation.kind = OperationKind::read;
  operation.offset = number;
  return operation;
}

OperationStream count_to(std::uint64_t end) {
  for (std::uint64_t i = 0; i < end; ++i) co_yield numbered(i);
}

OperationStream count_in_batches_of_two(std::uint64_t end) {
  for (std::uint64_t i = 0; i < end; ++i) {
    co_yield numbered(i);
    if (i % 2 == 1) co_yield EndOfBatch{};
  }
}

OperationStream fail_after(std::uint64_t end) {
  for (std::uint64_t i = 0; i < end; ++i) co_yield numbered(i);
  throw std::runtime_error("the workload is broken");
}

OperationStream hold(std::shared_ptr<int> held) {
  co_yield numbered(static_cast<std::uint64_t>(*held));
  co_yield numbered(0);
}

std::vector<std::uint64_t> drain(OperationSource& source, std::size_t batch) {
  std::vector<std::uint64_t> numbers;
  std::vector<Operation> out(batch);
  while (const std::size_t filled = source.next(out)) {
    for (std::size_t i = 0; i < filled; ++i) numbers.push_back(out[i].offset);
  }
  return numbers;
}

TEST_CASE("operations keep their order for any batch size") {
  for (const std::size_t batch : {1UL, 3UL, 10UL, 64UL}) {
    CAPTURE(batch);
    OperationStream stream = count_to(10);
    const std::vector<std::uint64_t> numbers = drain(stream, batch);
    REQUIRE(numbers.size() == 10);
    for (std::uint64_t i = 0; i < 10; ++i) CHECK(numbers[i] == i);
  }
}

TEST_CASE("batches are full until the last one") {
  OperationStream stream = count_to(10);
  std::array<Operation, 4> out;
  CHECK(stream.next(out) == 4);
  CHECK(stream.next(out) == 4);
  CHECK(stream.next(out) == 2);
  CHECK(out[1].offset == 9);
}

TEST_CASE("the body resumes only when the batch that it ended is over") {
  for (const std::size_t batch : {2UL, 64UL}) {
    CAPTURE(batch);
    OperationStream stream = count_in_batches_of_two(5);
    std::vector<Operation> out(batch);
    CHECK(stream.next(out) == 2);
    CHECK(out[1].offset == 1);
    CHECK(stream.next(out) == 2);
    CHECK(stream.next(out) == 1);
    CHECK(out[0].offset == 4);
    CHECK(stream.next(out) == 0);
  }
}

TEST_CASE("an ended stream stays ended") {
  OperationStream stream = count_to(2);
  std::array<Operation, 8> out;
  CHECK(stream.next(out) == 2);
  for (int i = 0; i < 3; ++i) CHECK(stream.next(out) == 0);
}

TEST_CASE("an empty workload and an empty batch contain nothing") {
  OperationStream nothing = count_to(0);
  std::array<Operation, 8> out;
  CHECK(nothing.next(out) == 0);
  OperationStream something = count_to(1);
  CHECK(something.next({}) == 0);
  CHECK(something.next(out) == 1);
}

TEST_CASE("the workload's exceptions reach the reader") {
  OperationStream stream = fail_after(5);
  std::array<Operation, 5> out;
  CHECK(stream.next(out) == 5);
  CHECK_THROWS_AS(stream.next(out), std::runtime_error);
}

TEST_CASE("a moved stream continues where it was") {
  OperationStream first = count_to(4);
  std::array<Operation, 2> out;
  CHECK(first.next(out) == 2);
  OperationStream second = std::move(first);
  CHECK(drain(second, 8) == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("a stream frees its memory, read to its end or not") {
  const auto held = std::make_shared<int>(7);
  {
    OperationStream untouched = hold(held);
    OperationStream halfway = hold(held);
    std::array<Operation, 1> out;
    CHECK(halfway.next(out) == 1);
    CHECK(out[0].offset == 7);
    CHECK(held.use_count() == 3);
  }
  CHECK(held.use_count() == 1);
}

}  // namespace
}  // namespace filereel

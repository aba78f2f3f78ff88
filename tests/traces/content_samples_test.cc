#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <sys/mman.h>

#include "traces/check/content_check.h"

namespace filereel {
namespace {

using enum OperationKind;

class Samples {
 public:
  Samples& take(Operation operation, std::string_view data = {}, std::uint64_t start_ns = 0,
                std::uint64_t duration_ns = 0) {
    if (operation.entry == kNoFileId) operation.entry = 7;
    samples_.add({.operation = operation,
                  .start_ns = start_ns != 0 ? start_ns : (now_ns_ += 100),
                  .duration_ns = duration_ns != 0 ? duration_ns : 10,
                  .data = data});
    return *this;
  }
  Samples& write(std::uint64_t offset, std::string_view data, std::int64_t length = 0) {
    return take({.kind = OperationKind::write,
                 .offset = offset,
                 .expected = length != 0 ? length : static_cast<std::int64_t>(data.size())},
                data);
  }

  // "offset+length" of each.
  std::string text(FileId file = 7) const {
    std::string all;
    const auto* found = samples_.of(file);
    if (!found) return "nothing";
    for (const auto& [offset, sample] : *found) {
      all += fmt::format("{}+{} ", offset, sample.length);
    }
    return all;
  }

 private:
  ContentSamples samples_;
  std::uint64_t now_ns_ = 0;
};

TEST_CASE("the first bytes of writes are kept until something overwrites them") {
  Samples samples;
  CHECK(samples.text() == "nothing");
  samples.write(0, "abc").write(100, std::string(40, 'x'), 4096).write(5000, "y");
  CHECK(samples.text() == "0+3 100+32 5000+1 ");
  SUBCASE("a write") {
    samples.write(110, "z");
    CHECK(samples.text() == "0+3 110+1 5000+1 ");
  }
  SUBCASE("a write that begins before it") {
    samples.write(90, "z", 11);
    CHECK(samples.text() == "0+3 90+1 5000+1 ");
  }
  SUBCASE("its neighbours do not") {
    samples.write(3, "z", 97).write(132, "z");
    CHECK(samples.text() == "0+3 3+1 100+32 132+1 5000+1 ");
  }
  SUBCASE("a copy") {
    samples.take({.kind = copy_range, .offset = 0, .expected = 200});
    CHECK(samples.text() == "5000+1 ");
  }
  SUBCASE("a clone, whose length is that of its source") {
    samples.take({.kind = copy_range, .method = CopyMethod::reflink, .offset = 50, .expected = 0});
    CHECK(samples.text() == "0+3 ");
  }
  SUBCASE("a failed call does not") {
    samples.take({.kind = OperationKind::write, .offset = 0, .expected = -28}, "abc");
    CHECK(samples.text() == "0+3 100+32 5000+1 ");
  }
  SUBCASE("a truncation") {
    samples.take({.kind = truncate, .offset = 110});
    CHECK(samples.text() == "0+3 ");
  }
  SUBCASE("an open with O_TRUNC") {
    samples.take({.kind = open, .flags = O_WRONLY});
    CHECK(samples.text() == "0+3 100+32 5000+1 ");
    samples.take({.kind = open, .flags = O_WRONLY | O_TRUNC});
    CHECK(samples.text().empty());
  }
  SUBCASE("a hole") {
    samples.take({.kind = allocate, .flags = FALLOC_FL_KEEP_SIZE, .offset = 0, .length = 9000});
    CHECK(samples.text() == "0+3 100+32 5000+1 ");
    samples.take({.kind = allocate,
                  .flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  .offset = 0,
                  .length = 101});
    CHECK(samples.text() == "5000+1 ");
  }
  SUBCASE("moved ranges") {
    samples.take(
        {.kind = allocate, .flags = FALLOC_FL_COLLAPSE_RANGE, .offset = 100, .length = 10});
    CHECK(samples.text() == "0+3 ");
  }
  SUBCASE("another file") {
    samples.take({.kind = truncate, .entry = 8});
    CHECK(samples.text() == "0+3 100+32 5000+1 ");
  }
}

TEST_CASE("what a shared memory map may change is unknown") {
  Samples samples;
  samples.write(0, "abc").take({.kind = map, .flags = PROT_READ | MAP_PRIVATE << 8});
  CHECK(samples.text() == "0+3 ");
  samples.take({.kind = map, .flags = PROT_READ | MAP_SHARED << 8}).write(10, "abc");
  CHECK(samples.text().empty());
}

TEST_CASE("of writes at the same time, the last one is unknown") {
  Samples samples;
  const Operation op{.kind = OperationKind::write, .thread = 1, .offset = 0, .expected = 3};
  Operation two = op;
  two.thread = 2;
  samples.take(op, "abc", 1000, 100).take(two, "xyz", 1050, 100);
  CHECK(samples.text().empty());
  Operation longer = op;
  longer.expected = 4096;
  two.offset = 100;
  samples.take(longer, "abc", 1500, 100).take(two, "xyz", 1550, 100);
  CHECK(samples.text() == "0+3 ");
  two.offset = 0;
  samples.take(op, "abc", 2000, 100).take(two, "xyz", 2200, 100);
  CHECK(samples.text() == "0+3 ");
}

}  // namespace
}  // namespace filereel

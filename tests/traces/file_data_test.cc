// The sizes and bytes of the files of a trace.
#include "traces/model/file_data.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "filesets/system/random.h"
#include "tests/traces/tale.h"

namespace filereel {
namespace {

// The holes of the only file of the initial tree.
std::vector<Hole> holes_of(Tale& tale) {
  const FileSet initial = tale.builder.trees().initial;
  REQUIRE(initial.entries.size() == 1);
  const std::span<const Hole> holes = initial.entries.holes(0);
  return {holes.begin(), holes.end()};
}

constexpr std::uint64_t kMega = 1 << 20;

TEST_CASE("a file that is only looked at is a hole") {
  Tale tale;
  tale.stat("f", S_IFREG | 0644, 100 * kMega);
  CHECK(holes_of(tale) == std::vector<Hole>{{0, 100 * kMega}});
}

TEST_CASE("large parts that no operation came near are holes") {
  Tale tale;
  tale.stat("f", S_IFREG | 0644, 100 * kMega);
  tale.open(0, "f", O_RDONLY);
  tale.read(0, 10, 100);
  CHECK(holes_of(tale) == std::vector<Hole>{{kMega, 99 * kMega}});
  tale.read(0, 90 * kMega, 100);  // what is left behind it is too small
  CHECK(holes_of(tale) == std::vector<Hole>{{kMega, 89 * kMega}});
}

TEST_CASE("the source can show holes, but not where the trace made some") {
  Tale tale;
  const FileId file = tale.stat("f", S_IFREG | 0644, 100 * kMega).entry;
  tale.open(0, "f", O_RDWR);
  tale.read(0, 0, 100 * kMega);
  CHECK(holes_of(tale).empty());
  tale.model().learn_hole(file, 4096, kMega);
  CHECK(holes_of(tale) == std::vector<Hole>{{4096, kMega}});
  tale.allocate(0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 50 * kMega, 4096);
  tale.model().learn_hole(file, 50 * kMega, kMega);
  CHECK(holes_of(tale) == std::vector<Hole>{{4096, kMega}});
}

TEST_CASE("a file was at least as large as the data read from it") {
  Tale tale;
  const FileId file = tale.open(0, "f", O_RDONLY).entry;
  tale.read(0, 0, 100);
  tale.read(0, 4096, 100);
  CHECK(tale.initial() == "f=4196");
  CHECK_FALSE(tale.model().size_is_exact(file));
}

TEST_CASE("a short read shows the end of the file") {
  Tale tale;
  const FileId file = tale.open(0, "f", O_RDONLY).entry;
  tale.read(0, 0, 4096, 100);
  CHECK(tale.initial() == "f=100");
  CHECK(tale.model().size_is_exact(file));
  const FileId empty = tale.open(1, "g", O_RDONLY).entry;
  tale.read(1, 0, 4096, 0);
  CHECK(tale.model().size_is_exact(empty));
  const FileId behind = tale.open(2, "h", O_RDONLY).entry;
  tale.read(2, 1000, 4096, 0);  // it may have any size up to 1000
  CHECK_FALSE(tale.model().size_is_exact(behind));
}

TEST_CASE("stat gives the exact size, also of a file written since") {
  Tale tale;
  const FileId file = tale.stat("f", S_IFREG | 0644, 5000).entry;
  CHECK(tale.model().size_is_exact(file));
  tale.open(0, "g", O_RDWR);
  tale.write(0, 0, 100);
  tale.stat_file(0, S_IFREG | 0644, 5000);
  CHECK(tale.initial() == "f=5000 g=5000");
}

TEST_CASE("a size produced by the trace's writes did not exist before") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.write(0, 0, 5000);
  tale.stat_file(0, S_IFREG | 0644, 5000);
  tale.read(0, 0, 5000);
  CHECK(tale.initial() == "f=0");
  CHECK(tale.final() == "f=5000");
}

TEST_CASE("bytes between written ones existed before if they were read") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.write(0, 100, 50);
  tale.write(0, 300, 50);
  tale.read(0, 0, 350);
  CHECK(tale.initial() == "f=300");
}

TEST_CASE("a file truncated before it was read was empty") {
  Tale tale;
  tale.open(0, "f", O_RDWR | O_TRUNC);
  tale.write(0, 0, 100);
  tale.read(0, 0, 100);
  tale.open(1, "g", O_RDWR);
  tale.truncate(1, 0);
  tale.write(1, 50, 50);
  tale.read(1, 0, 100);
  CHECK(tale.initial() == "f=0 g=0");
  CHECK(tale.final() == "f=100 g=100");
}

TEST_CASE("data read before a truncation counts") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.read(0, 0, 1000);
  tale.truncate(0, 10);
  tale.write(0, 2000, 10);
  tale.stat_file(0, S_IFREG | 0644, 2010);
  CHECK(tale.initial() == "f=1000");
  CHECK(tale.final() == "f=2010");
}

TEST_CASE("a file extends beyond collapsed ranges and insertion points") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.allocate(0, FALLOC_FL_COLLAPSE_RANGE, 4096, 4096);
  CHECK(tale.initial() == "f=8193");
  tale.allocate(0, FALLOC_FL_INSERT_RANGE, 8192, 4096);
  CHECK(tale.initial() == "f=12289");
  tale.read(0, 16384, 4096, 1000);
  CHECK(tale.initial() == "f=17384");
}

TEST_CASE("truncate, fallocate and copies set and extend the size") {
  Tale tale;
  tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL);
  tale.truncate(0, 500);
  CHECK(tale.final() == "f=500");
  tale.allocate(0, FALLOC_FL_KEEP_SIZE, 0, 9000);
  CHECK(tale.final() == "f=500");
  tale.allocate(0, 0, 100, 900);
  CHECK(tale.final() == "f=1000");
  tale.allocate(0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 5000);
  CHECK(tale.final() == "f=1000");
  tale.allocate(0, FALLOC_FL_ZERO_RANGE, 0, 5000);
  CHECK(tale.final() == "f=5000");
  tale.allocate(0, FALLOC_FL_COLLAPSE_RANGE, 0, 4096);
  CHECK(tale.final() == "f=904");
  tale.allocate(0, FALLOC_FL_INSERT_RANGE, 0, 4096);
  CHECK(tale.final() == "f=5000");
  tale.open(1, "g", O_RDWR | O_CREAT | O_EXCL);
  tale.copy(0, 0, 1, 100, 5000);
  CHECK(tale.final() == "f=5000 g=5100");
}

TEST_CASE("the source range of a copy existed") {
  Tale tale;
  tale.open(0, "f", O_RDONLY);
  tale.open(1, "g", O_WRONLY | O_CREAT | O_EXCL);
  tale.copy(0, 1000, 1, 0, 500);
  CHECK(tale.initial() == "f=1500");
  CHECK(tale.final() == "f=1500 g=500");
}

TEST_CASE("a reflink gives a file the size of its source") {
  Tale tale;
  tale.stat("f", S_IFREG | 0644, 12345);
  tale.open(0, "f", O_RDONLY);
  tale.open(1, "g", O_WRONLY | O_CREAT | O_EXCL);
  Operation clone = Tale::on_file(OperationKind::copy_range, 1);
  clone.source = 0;
  clone.method = CopyMethod::reflink;
  tale.add(clone);
  CHECK(tale.final() == "f=12345 g=12345");
}

TEST_CASE("a mapping requires bytes if the exact size is unknown") {
  Tale tale;
  tale.open(0, "f", O_RDONLY);
  tale.map(0, 0, PROT_READ, MAP_PRIVATE, 4096, 4096);
  tale.stat("g", S_IFREG | 0644, 5000);
  tale.open(1, "g", O_RDONLY);
  tale.map(1, 1, PROT_READ, MAP_PRIVATE, 4096, 4096);
  CHECK(tale.initial() == "f=8192 g=5000");
  tale.stat_file(0, S_IFREG | 0644, 5001);  // the last page reached over the end
  CHECK(tale.initial() == "f=5001 g=5000");
}

TEST_CASE("reads of initial and of written bytes are reads of data") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  CHECK_FALSE(tale.read(0, 0, 100).hole);
  tale.write(0, 50, 100);
  CHECK_FALSE(tale.read(0, 0, 150).hole);
  tale.open(1, "g", O_RDWR | O_CREAT | O_EXCL);
  tale.write(1, 0, 100);
  tale.write(1, 200, 100);
  CHECK_FALSE(tale.read(1, 0, 100).hole);
  CHECK_FALSE(tale.read(1, 200, 4096, 100).hole);
  CHECK(tale.read(1, 0, 300).hole);
  CHECK(tale.read(1, 150, 1).hole);
  CHECK_FALSE(tale.read(1, 300, 100, 0).hole);
  CHECK_FALSE(tale.read(1, 150, 100, -5).hole);
}

TEST_CASE("reads of copied, zeroed and otherwise foreign bytes are not reads of data") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.read(0, 0, 10'000);
  tale.open(1, "g", O_RDWR | O_CREAT | O_EXCL);
  tale.write(1, 0, 10'000);
  SUBCASE("copied") {
    tale.copy(0, 0, 1, 5000, 100);
  }
  SUBCASE("punched") {
    tale.allocate(1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5000, 100);
  }
  SUBCASE("zeroed") {
    tale.allocate(1, FALLOC_FL_ZERO_RANGE, 5000, 100);
  }
  SUBCASE("stored through a mapping") {
    tale.map(0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, 4096, 4096);
    tale.on_mapping(OperationKind::fault, 0, 1, 5000 - 4096, 100);
  }
  SUBCASE("synced from a mapping") {
    tale.map(0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, 4096, 4096);
    tale.on_mapping(OperationKind::sync_map, 0, 0, 5000 - 4096, 100);
  }
  SUBCASE("written from what was read") {
    Operation write = Tale::on_file(OperationKind::write, 1, 100);
    write.offset = 5000;
    write.length = 100;
    write.data = DataSource::last_read;
    tale.add(write);
  }
  CHECK(tale.read(1, 5000, 100).hole);
  CHECK(tale.read(1, 4999, 2).hole);
  CHECK_FALSE(tale.read(1, 4900, 100).hole);
  CHECK_FALSE(tale.read(1, 5100, 100).hole);
  tale.write(1, 5000, 100);
  CHECK_FALSE(tale.read(1, 0, 10'000).hole);
}

TEST_CASE("stores into a private mapping and read faults do not change the data") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.read(0, 0, 8192);
  tale.map(0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0, 8192);
  tale.on_mapping(OperationKind::fault, 0, 1, 0, 4096);
  tale.map(1, 0, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 8192);
  tale.on_mapping(OperationKind::fault, 1, 0, 0, 4096);
  CHECK_FALSE(tale.read(0, 0, 8192).hole);
}

TEST_CASE("bytes added by a truncation are not data") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.read(0, 0, 100);
  tale.truncate(0, 50);
  tale.truncate(0, 200);
  CHECK_FALSE(tale.read(0, 0, 50).hole);
  CHECK(tale.read(0, 0, 51).hole);
  CHECK(tale.read(0, 150, 10).hole);
  CHECK(tale.initial() == "f=100");
}

TEST_CASE("a file in too many pieces has no expected data") {
  Tale tale;
  tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL);
  for (std::uint64_t i = 0; i <= DataRanges::kMaxPieces; ++i) tale.write(0, i * 100, 50);
  CHECK(tale.read(0, 0, 50).hole);
  tale.truncate(0, 0);
  tale.write(0, 0, 50);
  CHECK_FALSE(tale.read(0, 0, 50).hole);
}

TEST_CASE("offsets and lengths at the numeric limit are harmless") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.write(0, UINT64_MAX - 5, 100);
  tale.write(0, INT64_MAX - 5, 100);
  tale.read(0, UINT64_MAX - 5, 100);
  tale.truncate(0, UINT64_MAX);
  tale.allocate(0, 0, UINT64_MAX, UINT64_MAX);
  tale.allocate(0, FALLOC_FL_COLLAPSE_RANGE, 0, UINT64_MAX);
  tale.map(0, 0, PROT_READ, MAP_SHARED, UINT64_MAX, UINT64_MAX);
  tale.on_mapping(OperationKind::fault, 0, 1, UINT64_MAX - 1, UINT64_MAX);
  CHECK_NOTHROW(check_file_set(tale.builder.trees().final));
}

TEST_CASE("ranges agree with an array of bytes after any change") {
  enum : char { kGap, kOwn, kForeign };
  constexpr std::uint64_t kSize = 64;
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    DataRanges ranges;
    std::vector<char> bytes(kSize, kGap);
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t begin = random.below(kSize),
                          end = begin + random.below(kSize - begin + 1);
      if (random.below(12) == 0) {
        ranges.truncate(begin);
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(), kGap);
      } else {
        const bool own = random.below(2) == 0;
        ranges.add(begin, end, own);
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                  bytes.begin() + static_cast<std::ptrdiff_t>(end), own ? kOwn : kForeign);
      }
      const std::uint64_t from = random.below(kSize), to = from + random.below(kSize - from + 1);
      std::uint64_t gap = 0;
      bool foreign = false;
      for (std::uint64_t i = from; i < to; ++i) {
        if (bytes[i] == kGap) gap = i + 1;
        foreign = foreign || bytes[i] == kForeign;
      }
      CHECK(ranges.last_gap_end(from, to) == gap);
      CHECK(ranges.any_foreign(from, to) == foreign);
    }
  }
}

}  // namespace
}  // namespace filereel

#include "tests/model_drive/medium.h"

#include <string>

#include <doctest/doctest.h>

#include "filesets/system/units.h"

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

Script medium_script(const std::string& rest) {
  return read_script("size: 64 MiB\n" + rest, "drive.yaml");
}

std::uint64_t write(Medium& medium, std::uint64_t length, std::uint64_t ready_ns) {
  return medium.transfer(Kind::write, 0, length, ready_ns);
}

}  // namespace

TEST_CASE("without a cache a transfer is the size by the rate of its kind, for each by itself") {
  Medium medium(medium_script("read: {rate: 1GB/s}\nflush: {rate: 3GB/s}"), 0);
  CHECK(medium.transfer(Kind::read, 0, 1'000'000, 50) == 1'000'050);
  CHECK(medium.transfer(Kind::read, 0, 1'000'000, 50) == 1'000'050);
  CHECK(medium.transfer(Kind::flush, 0, 1000, 50) == 383);
  CHECK(write(medium, 1'000'000, 50) == 50);
}

TEST_CASE("what fits into the cache is fast and the rest is slow") {
  Medium medium(medium_script("write_cache: {size: 512MiB, fast: 200MB/s, slow: 40MB/s}"), 1000);
  std::uint64_t end = 1000;
  for (int i = 0; i < 512; ++i) end = write(medium, kMiB, end);
  CHECK(end == 1000 + 512 * kMiB * 5);  // 2.684 s
  CHECK(medium.cached() == 512 * kMiB);
  for (int i = 0; i < 512; ++i) end = write(medium, kMiB, end);
  CHECK(end == 1000 + 512 * kMiB * 5 + 512 * kMiB * 25);  // 13.422 s more
  CHECK(medium.cached() == 512 * kMiB);
  CHECK(write(medium, kMiB, 3600 * kSecond) == 3600 * kSecond + kMiB * 25);  // it stays full
}

TEST_CASE("a write that does not fit as a whole is fast for what fits") {
  Medium medium(medium_script("write_cache: {size: 10kB, fast: 200MB/s, slow: 40MB/s}"), 0);
  CHECK(write(medium, 6000, 0) == 6000 * 5);
  CHECK(write(medium, 6000, 30'000) == 30'000 + 4000 * 5 + 2000 * 25);
}

TEST_CASE("writes share one path, in the order in which they come") {
  Medium medium(medium_script("write_cache: {size: 1MB, fast: 200MB/s, slow: 40MB/s}"), 0);
  CHECK(write(medium, 1000, 100) == 5100);
  CHECK(write(medium, 1000, 100) == 10'100);
  CHECK(write(medium, 1000, 10'100) == 15'100);
  CHECK(write(medium, 1000, 50'000) == 55'000);
  CHECK(write(medium, 1000, 20'000) == 60'000);  // after the one that came before
  CHECK(medium.transfer(Kind::read, 0, 1000, 100) == 100);
}

TEST_CASE("the cache is freed while no write is transferred") {
  Medium medium(
      medium_script("write_cache: {size: 1MB, fast: 200MB/s, slow: 40MB/s, refill: 10MB/s}"), 0);
  std::uint64_t end = write(medium, 1'000'000, 0);
  CHECK(end == 5'000'000);
  end = write(medium, 100'000, end);  // nothing got free during a transfer
  CHECK(end == 7'500'000);
  end = write(medium, 20'000, end + 1'000'000);  // 10 kB in 1 ms
  CHECK(end == 8'500'000 + 10'000 * 5 + 10'000 * 25);
  CHECK(medium.cached() == 1'000'000);
}

TEST_CASE("a refill ends when the cache is empty") {
  Medium medium(
      medium_script("write_cache: {size: 1MB, fast: 200MB/s, slow: 40MB/s, refill: 10MB/s}"), 0);
  write(medium, 400'000, 0);  // until 2 ms; free 40 ms later
  std::uint64_t end = write(medium, 1000, 41'999'900);
  CHECK(end == 42'004'900);
  CHECK(medium.cached() == 1001);
  end = write(medium, 1'000'001, 3600 * kSecond);
  CHECK(end == 3600 * kSecond + 1'000'000 * 5 + 25);
  CHECK(medium.cached() == 1'000'000);
}

TEST_CASE("many small writes take as long as a large one, and many short rests free as much") {
  Medium medium(medium_script("write_cache: {size: 1GiB, fast: 3GB/s, slow: 1GB/s}"), 0);
  std::uint64_t end = 0;
  for (int i = 0; i < 30'000; ++i) end = write(medium, 4096, 0);  // 1365 1/3 ns each
  CHECK(end == 40'959'999);                                       // 10 ps less than 40.96 ms

  const Script slow =
      medium_script("write_cache: {size: 4KiB, fast: 1GB/s, slow: 1GB/s, refill: 1kB/s}");
  Medium other(slow, 0);
  end = write(other, 4096, 0);
  for (std::uint64_t i = 1; i <= 10'000; ++i) other.replace(slow, end + i * 100'000);
  CHECK(other.cached() == 3096);
}

TEST_CASE("another script finds the cache as it is") {
  const std::string rates = "fast: 200MB/s, slow: 40MB/s, refill: 10MB/s}";
  Medium medium(medium_script("write_cache: {size: 1MB, " + rates), 0);
  write(medium, 1'000'000, 0);
  // In service until 5 ms; at 10 MB/s until 6 ms, then never.
  const std::string twice = "write_cache: {size: 2MB, fast: 100MB/s, slow: 20MB/s}";
  medium.replace(medium_script(twice), 1'000'000);
  CHECK(medium.cached() == 1'000'000);
  CHECK(write(medium, 1000, 1'000'000) == 5'000'000 + 1000 * 10);
  medium.replace(medium_script("write_cache: {size: 1500kB, " + rates), 6'000'000);
  CHECK(medium.cached() == 1'001'000);
  medium.replace(medium_script(twice), 7'000'000);
  CHECK(medium.cached() == 991'000);
  CHECK(write(medium, 1'010'000, 9'000'000) == 9'000'000 + 1'009'000 * 10 + 1000 * 50);
  // A smaller one is full; what has none forgets it.
  medium.replace(medium_script("write_cache: {size: 100kB, " + rates), kSecond);
  CHECK(medium.cached() == 100'000);
  medium.replace(medium_script(""), kSecond);
  CHECK(medium.cached() == 0);
}

TEST_CASE("writes slow down as the drive fills, and recover with discards") {
  // 256 blocks
  Medium medium(
      read_script("{size: 1MiB, write: {rate: 100MB/s}, decay: {from: 50%, to: 40%}}", "s"), 0);
  const auto ns_of = [&](std::uint64_t bytes) { return write(medium, bytes, 1000) - 1000; };
  CHECK(ns_of(4200) == 42'000);
  CHECK(medium.blocks_in_use() == 2);
  medium.transfer(Kind::write, 0, 512 << 10, 0);
  CHECK(medium.blocks_in_use() == 128);
  CHECK(ns_of(4200) == 42'000);  // in use since before
  medium.transfer(Kind::write, 512 << 10, 256 << 10, 0);
  CHECK(medium.blocks_in_use() == 192);
  CHECK(ns_of(4200) == 60'000);                                // 70 %
  medium.transfer(Kind::write, (1 << 20) - 4096, 1 << 20, 0);  // also the last block
  CHECK(medium.blocks_in_use() == 193);
  medium.transfer(Kind::write, 0, 1 << 20, 0);
  CHECK(medium.blocks_in_use() == 256);
  CHECK(ns_of(4200) == 105'000);  // 40 %
  medium.transfer(Kind::discard, 768 << 10, 256 << 10, 0);
  CHECK(ns_of(4200) == 60'000);
  medium.transfer(Kind::discard, 0, 1 << 20, 0);
  CHECK(medium.blocks_in_use() == 0);
  CHECK(ns_of(4200) == 42'000);
}

TEST_CASE("a block is in use from a write of any of it to a discard of all of it") {
  Medium medium(medium_script(""), 0);
  medium.transfer(Kind::write, 8191, 2, 0);
  CHECK(medium.blocks_in_use() == 2);
  medium.transfer(Kind::read, 0, 1 << 20, 0);
  medium.transfer(Kind::discard, 4096 + 512, 8192 - 1024, 0);
  CHECK(medium.blocks_in_use() == 2);
  medium.transfer(Kind::discard, 100, 8092, 0);
  CHECK(medium.blocks_in_use() == 1);
  medium.transfer(Kind::discard, 100, 50, 0);
  CHECK(medium.blocks_in_use() == 1);
  medium.replace(medium_script("slots: 1"), 0);
  CHECK(medium.blocks_in_use() == 1);
}

TEST_CASE("a full drive has slower transfers inside and outside its cache") {
  Medium medium(read_script("size: 1MiB\ndecay: {from: 0%, to: 50%}\n"
                            "write_cache: {size: 1050000, fast: 200MB/s, slow: 40MB/s}",
                            "drive.yaml"),
                0);
  CHECK(write(medium, 1 << 20, 0) == 5'242'880);  // all was unused when it began
  CHECK(write(medium, 2000, 6'000'000) == 6'000'000 + 1424 * 10 + 576 * 50);
}

TEST_CASE("a hot drive transfers more slowly until it is cool again") {
  Medium medium(medium_script("read: {rate: 500MB/s}\nflush: {rate: 1GB/s}\n"
                              "write_cache: {size: 2MB, fast: 1GB/s, slow: 100MB/s}\n"
                              "temperature: {idle: 30, hottest: 130, at: 1MB/s, half_time: 1s, "
                              "throttle: {above: 80, below: 60, to: 50%}}"),
                0);
  const auto read_ns = [&](std::uint64_t time) {
    return medium.transfer(Kind::read, 0, 1000, time) - time;
  };
  CHECK(read_ns(0) == 2000);
  CHECK(write(medium, 500'000, 0) == 500'000);  // 30 + 50 ln 2
  CHECK(read_ns(500'000) == 2000);
  CHECK(write(medium, 500'000, 500'000) == 1'000'000);
  CHECK(medium.heat()->celsius() == doctest::Approx(30 + 100.2 * 0.6931).epsilon(0.001));
  CHECK(read_ns(1'000'000) == 4000);
  CHECK(write(medium, 1000, 1'000'000) == 1'002'000);
  CHECK(medium.transfer(Kind::flush, 0, 1000, 1'000'000) == 1'001'000);
  CHECK(read_ns(kSecond) == 4000);  // 64.8
  CHECK(read_ns(2 * kSecond) == 2000);
  CHECK(write(medium, 1000, 2 * kSecond) == 2 * kSecond + 1000);
}

TEST_CASE("a full and hot drive is slow for both reasons") {
  Medium medium(read_script("{size: 1MiB, write: {rate: 100MB/s}, decay: {from: 0%, to: 40%}, "
                            "temperature: {idle: 30, hottest: 130, at: 1MB/s, half_time: 1s, "
                            "throttle: {above: 80, below: 60, to: 50%}}}",
                            "drive.yaml"),
                0);
  CHECK(write(medium, 1 << 20, 0) == 10'485'760);
  CHECK(write(medium, 1000, 20'000'000) == 20'000'000 + 50'000);
}

TEST_CASE("another script finds the drive as warm as it is, if both have a temperature") {
  const Script warm = medium_script(
      "temperature: {idle: 30, hottest: 130, at: 1MB/s, half_time: 1s, "
      "throttle: {above: 80, below: 60, to: 50%}}");
  Medium medium(warm, 0);
  write(medium, 1'000'000, 0);
  medium.replace(warm, kSecond);
  CHECK(medium.heat().value().celsius() == doctest::Approx(30 + 50 * 0.693147));
  medium.replace(medium_script(""), kSecond);
  CHECK_FALSE(medium.heat().has_value());
  medium.replace(warm, kSecond);
  CHECK(medium.heat().value().celsius() == 30);
}

TEST_CASE("old data is slow to read until it is written again or discarded") {
  const Script script = medium_script(
      "read: {rate: 500MB/s}\nold_data:\n"
      "  - {offset: 1MiB, length: 64KiB, rate: 20MB/s}\n"
      "  - {offset: 1088KiB, length: 64KiB, rate: 10MB/s}\n");
  Medium medium(script, 0);
  constexpr std::uint64_t kOld = 1 << 20, kSecondOld = kOld + (64 << 10);
  const auto read_ns = [&](std::uint64_t offset, std::uint64_t length) {
    return medium.transfer(Kind::read, offset, length, 100) - 100;
  };
  CHECK(medium.old_blocks() == 32);
  CHECK(read_ns(0, 4096) == 4096 * 2);
  CHECK(read_ns(kOld, 4096) == 4096 * 50);
  CHECK(read_ns(kOld, 4096) == 4096 * 50);  // it is not new for being read
  CHECK(read_ns(kOld + 512, 512) == 512 * 50);
  CHECK(read_ns(kOld - 1000, 3000) == 1000 * 2 + 2000 * 50);
  CHECK(read_ns(kSecondOld - 3000, 5000) == 3000 * 50 + 2000 * 100);
  CHECK(read_ns(kSecondOld + (64 << 10) - 500, 700) == 500 * 100 + 200 * 2);
  CHECK(read_ns(kOld - 4096, 136 << 10) == 2 * 4096 * 2 + (64 << 10) * 150);

  medium.transfer(Kind::write, kOld + 4096, 512, 0);  // a part of a block makes it new
  CHECK(medium.old_blocks() == 31);
  CHECK(read_ns(kOld, 3 * 4096) == 2 * 4096 * 50 + 4096 * 2);
  CHECK(read_ns(kOld + 1000, 2 * 4096) == (4096 - 1000) * 50 + 4096 * 2 + 1000 * 50);
  medium.transfer(Kind::discard, kOld + 100, 8192, 0);  // covers no further block
  CHECK(medium.old_blocks() == 31);
  medium.transfer(Kind::discard, kOld, 64 << 10, 0);
  CHECK(medium.old_blocks() == 16);
  CHECK(read_ns(kOld, 64 << 10) == (64 << 10) * 2);
  medium.transfer(Kind::write, kSecondOld, 64 << 10, 0);
  CHECK(medium.old_blocks() == 0);
  CHECK(read_ns(kOld, 128 << 10) == (128 << 10) * 2);

  medium.replace(script, 100);  // old again
  CHECK(read_ns(kOld, 4096) == 4096 * 50);
  medium.replace(medium_script("read: {rate: 500MB/s}"), 100);
  CHECK(read_ns(kOld, 4096) == 4096 * 2);
}

TEST_CASE("old data is slower still on a hot drive, and slow without a rate of reads") {
  Medium medium(medium_script("old_data: [{offset: 0, length: 64MiB, rate: 10MB/s}]\n"
                              "temperature: {idle: 30, hottest: 130, at: 1MB/s, half_time: 1s, "
                              "throttle: {above: 80, below: 60, to: 50%}}"),
                0);
  CHECK(medium.transfer(Kind::read, 0, 4096, 0) == 4096 * 100);
  write(medium, 1'000'000, 1'000'000);  // warms it, and makes the first 245 blocks new
  CHECK(medium.transfer(Kind::read, 245 * 4096, 4096, 1'000'000) == 1'000'000 + 4096 * 200);
  CHECK(medium.transfer(Kind::read, 244 * 4096, 4096, 2'000'000) == 2'000'000);
}

TEST_CASE("no rate falls below the least, however much slows it down") {
  Medium medium(read_script("{size: 1MiB, write: {rate: 2kB/s}, decay: {from: 0%, to: 1%}}", "s"),
                0);
  CHECK(write(medium, 1 << 20, 0) == 500'000 * std::uint64_t{1 << 20});
  CHECK(write(medium, 1 << 20, 0) == 1'000'000 * std::uint64_t{1 << 20});
}

}  // namespace filereel::model_drive

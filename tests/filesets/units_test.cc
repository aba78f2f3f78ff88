#include "filesets/system/units.h"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"

using filereel::format_duration;
using filereel::format_number;
using filereel::format_roughly;
using filereel::format_size;
using filereel::parse_size;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_size(text, "--size");
  } catch (const filereel::Error& e) {
    CHECK(e.kind() == filereel::ErrorKind::unusable_input);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("sizes are read with decimal, binary and bare units") {
  CHECK(parse_size("0", "") == 0);
  CHECK(parse_size("4096", "") == 4096);
  CHECK(parse_size("512 B", "") == 512);
  CHECK(parse_size("4 KiB", "") == 4096);
  CHECK(parse_size("4KiB", "") == 4096);
  CHECK(parse_size("4 kB", "") == 4000);
  CHECK(parse_size("4K", "") == 4096);
  CHECK(parse_size("990 MB", "") == 990'000'000);
  CHECK(parse_size("3M", "") == 3 * 1024 * 1024);
  CHECK(parse_size("5 GiB", "") == 5ULL << 30);
  CHECK(parse_size("4G", "") == 4ULL << 30);
  CHECK(parse_size("2TB", "") == 2'000'000'000'000);
  CHECK(parse_size("2 TiB", "") == 2ULL << 40);
  CHECK(parse_size("2t", "") == 2ULL << 40);
  CHECK(parse_size("  7 mIb\t", "") == 7 * 1024 * 1024);
}

TEST_CASE("fractions of a unit are exact and rounded down to a byte") {
  CHECK(parse_size("1.38GB", "") == 1'380'000'000);
  CHECK(parse_size("1.5 GB", "") == 1'500'000'000);
  CHECK(parse_size("0.1 kB", "") == 100);
  CHECK(parse_size("1.3 KiB", "") == 1331);
  CHECK(parse_size("4.000000000 K", "") == 4096);
  CHECK(parse_size("1.0", "") == 1);
  CHECK(parse_size("9999999.999999 TB", "") == 9'999'999'999'999'000'000U);
}

TEST_CASE("the largest 64-bit size is read and one more is not") {
  CHECK(parse_size("18446744073709551615", "") == UINT64_MAX);
  CHECK(parse_size("16777215 TiB", "") == 16'777'215ULL << 40);
  CHECK(error_of("18446744073709551616").find("too large") != std::string::npos);
  CHECK(error_of("16777216 TiB").find("too large") != std::string::npos);
  CHECK(error_of("18446744073709551.616 kB").find("too large") != std::string::npos);
  CHECK(error_of("99999999999999999999999").find("too large") != std::string::npos);
}

TEST_CASE("what is no size is refused with the place and the text") {
  for (const char* text : {"",      " ",     "GB",  "x",     "1x",           "1 XB",   "-1",
                           "-5 GB", "+1",    "1.",  ".5 GB", "1..5 GB",      "1,5 GB", "1e3",
                           "0x10",  "4 K B", "1.5", "1.5 B", "1.1234567 GB", "4 KiBs"}) {
    CAPTURE(text);
    const std::string error = error_of(text);
    CHECK(error.starts_with("--size: '" + std::string(text) + "'"));
  }
  CHECK(error_of("-5 GB").find("negative") != std::string::npos);
  CHECK(error_of("1.5").find("whole number") != std::string::npos);
  CHECK(error_of("1 XB").find("unit") != std::string::npos);
}

TEST_CASE("what is no size cannot break the line that says so") {
  CHECK(error_of("4 K\nB\x1b[31m").starts_with("--size: '4 K\\x0aB\\x1b[31m' has an unknown unit"));
}

TEST_CASE("an embedded NUL byte does not end a size") {
  CHECK(!error_of(std::string("4\0K", 3)).empty());
}

TEST_CASE("sizes are shown with at most three significant digits") {
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(512) == "512 B");
  CHECK(format_size(999) == "999 B");
  CHECK(format_size(1000) == "1 kB");
  CHECK(format_size(1500) == "1.5 kB");
  CHECK(format_size(990'000'000) == "990 MB");
  CHECK(format_size(1'380'000'000) == "1.38 GB");
  CHECK(format_size(999'499) == "999 kB");
  CHECK(format_size(999'500) == "1 MB");
  CHECK(format_size(UINT64_MAX) == "18.4 EB");
}

TEST_CASE("a shown size is read back as the same size if three digits suffice") {
  for (const std::uint64_t bytes :
       {0ULL, 7ULL, 999ULL, 1380ULL, 4'090'000ULL, 575'000'000ULL, 1'600'000'000ULL}) {
    CHECK(parse_size(format_size(bytes), "") == bytes);
  }
}

TEST_CASE("binary sizes take the largest unit that leaves them whole") {
  CHECK(filereel::format_binary_size(0) == "0 B");
  CHECK(filereel::format_binary_size(1000) == "1000 B");
  CHECK(filereel::format_binary_size(128 << 10) == "128 KiB");
  CHECK(filereel::format_binary_size(3ull << 40) == "3 TiB");
}

TEST_CASE("numbers have three significant digits and no exponent") {
  CHECK(format_number(0) == "0.00");
  CHECK(format_number(0.123) == "0.12");
  CHECK(format_number(9.994) == "9.99");
  CHECK(format_number(9.996) == "10.0");
  CHECK(format_number(99.96) == "100");
  CHECK(format_number(999.6) == "1000");
  CHECK(format_number(1294) == "1294");
  CHECK(format_number(9999.4) == "9999");
  CHECK(format_number(9999.6) == "10.0k");
  CHECK(format_number(123'456) == "123k");
  CHECK(format_number(999'600) == "1.00M");
  CHECK(format_number(2.5e9) == "2.50G");
  CHECK(format_number(5e13) == "50000G");
  CHECK(format_roughly(0) == "0");
  CHECK(format_roughly(0.00001) == "<0.001");
  CHECK(format_roughly(0.0834) == "0.083");
  CHECK(format_roughly(8.54) == "8.5");
  CHECK(format_roughly(9.96) == "10");
  CHECK(format_roughly(100) == "100");
  CHECK(format_roughly(12'345) == "12345");
}

TEST_CASE("durations are shown in the unit that people would choose") {
  CHECK(format_duration(0) == "0 s");
  CHECK(format_duration(2e-9) == "2 ns");
  CHECK(format_duration(12.34e-6) == "12.3 µs");
  CHECK(format_duration(0.00085) == "850 µs");
  CHECK(format_duration(0.85) == "850 ms");
  CHECK(format_duration(0.99949) == "999 ms");
  CHECK(format_duration(0.9996) == "1.00 s");
  CHECK(format_duration(1.46) == "1.46 s");
  CHECK(format_duration(1.54) == "1.54 s");
  CHECK(format_duration(9.996) == "10.0 s");
  CHECK(format_duration(12.34) == "12.3 s");
  CHECK(format_duration(60) == "60.0 s");
  CHECK(format_duration(99.94) == "99.9 s");
  CHECK(format_duration(99.96) == "1 min 40 s");
  CHECK(format_duration(125) == "2 min 05 s");
  CHECK(format_duration(3599.4) == "59 min 59 s");
  CHECK(format_duration(3599.6) == "1 h 00 min");
  CHECK(format_duration(7500) == "2 h 05 min");
  CHECK(format_duration(1e300).ends_with(" min"));
}

TEST_CASE("times are read with their units") {
  using filereel::parse_duration;
  CHECK(parse_duration("2s", "") == 2'000'000'000);
  CHECK(parse_duration("1.5 min", "") == 90'000'000'000);
  CHECK(parse_duration("250 ms", "") == 250'000'000);
  CHECK(parse_duration("10us", "") == 10'000);
  CHECK(parse_duration("10 µs", "") == 10'000);
  CHECK(parse_duration("7 ns", "") == 7);
  CHECK(parse_duration("3H", "") == 10'800'000'000'000);
  CHECK(parse_duration("0.999999 h", "") == 3'599'996'400'000);
  CHECK(parse_duration("0", "") == 0);
}

TEST_CASE("a time without a unit, negative or too long is refused with an example") {
  using filereel::Error;
  using filereel::parse_duration;
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_duration(text, "--from");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal("12") == "--from: '12' has no unit; expected a time such as 2s, 1.5 min or 250 ms");
  CHECK(refusal("2 parsecs").find("unknown unit") != std::string::npos);
  CHECK(refusal("-1s").find("negative") != std::string::npos);
  CHECK(refusal("1.5 ns").find("whole number of nanoseconds") != std::string::npos);
  CHECK(refusal("9999999 h").find("too large") != std::string::npos);
  CHECK(refusal("").find("is not a time") != std::string::npos);
}

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/error.h"
#include "replay/jobs/limit_checks.h"
#include "replay/volumes/file_system.h"
#include "tests/kept_file.h"
#include "tests/replay/hand_trace.h"

namespace filereel {
namespace {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  const std::uint64_t whole = ((bytes >> 16) + 1) << 16;
  std::size_t unit = 0;
  std::uint64_t number = whole;
  for (; number % 1024 == 0; number /= 1024) ++unit;
  const std::uint64_t less = whole - bytes;
  const std::string rest =
      less % 1024 == 0 ? fmt::format("{} KiB", less / 1024) : fmt::format("{}", less);
  return fmt::format("{} {} - {}", number, kUnits[unit], rest);
}

std::string or_none(std::uint64_t number) {
  return number == 0 ? "none" : std::to_string(number);
}

std::string time_text(std::int64_t seconds) {
  const bool any = seconds == INT64_MIN || seconds == INT64_MAX;
  return any ? "any" : std::to_string(seconds);
}

std::string time_unit_text(std::uint32_t ns) {
  if (ns % 1'000'000'000 == 0) return fmt::format("{} s", ns / 1'000'000'000);
  return ns % 1'000'000 == 0 ? fmt::format("{} ms", ns / 1'000'000) : fmt::format("{} ns", ns);
}

// A row of the tables in docs/file-systems.md.
struct LimitRow {
  std::string_view title;
  std::string (*text)(const FileSystemLimits&);
};
constexpr std::array<LimitRow, 11> kRows = {{
    {"largest file", [](const FileSystemLimits& limits) { return size_text(limits.largest_file); }},
    {"longest name",
     [](const FileSystemLimits& file_system_limits) -> std::string {
       return file_system_limits.ascii_names     ? "255 ASCII"
              : file_system_limits.windows_names ? "255 UTF-16"
                                                 : "255 bytes";
     }},
    {"names",
     [](const FileSystemLimits& one) -> std::string {
       return one.windows_names ? "Windows" : "any";
     }},
    {"names in the root",
     [](const FileSystemLimits& one) -> std::string {
       if (one.lists_label) return "label";
       return one.root_names.empty() ? "any" : "`$MFT` …";
     }},
    {"text of a symbolic link", [](const FileSystemLimits& one) { return or_none(one.link_text); }},
    {"hard links of a file",
     [](const FileSystemLimits& one) { return or_none(one.links ? one.names_of_file : 0); }},
    {"entries of a directory",
     [](const FileSystemLimits& one) -> std::string {
       return one.slots.most == 0 ? "any" : std::to_string(one.slots.most);
     }},
    {"value of an attribute", [](const FileSystemLimits& one) { return or_none(one.xattr_value); }},
    {"earliest time, s", [](const FileSystemLimits& one) { return time_text(one.earliest_s); }},
    {"latest time, s", [](const FileSystemLimits& one) { return time_text(one.latest_s); }},
    {"unit of times", [](const FileSystemLimits& one) { return time_unit_text(one.time_unit_ns); }},
}};

std::string table_of(const std::vector<std::string_view>& drivers) {
  const auto row = [&](std::string_view title, const auto& text) {
    std::string line = fmt::format("| {} |", title);
    for (const std::string_view driver : drivers) line += fmt::format(" {} |", text(driver));
    return line + "\n";
  };
  std::string table = row("limit", [](std::string_view driver) { return driver; });
  table += "|---|";
  for (std::size_t i = 0; i < drivers.size(); ++i) table += "---|";
  table += "\n";
  for (const LimitRow& limit_row : kRows) {
    table += row(limit_row.title,
                 [&](std::string_view driver) { return limit_row.text(limits_of_driver(driver)); });
  }
  return table;
}

TEST_CASE("the document has the limits of the table") {
  const std::string document = kept_file("../docs/file-systems.md");
  std::vector<std::string_view> linux_drivers, windows_drivers;
  for (const DriverLimits& limit : driver_limits()) {
    (limit.limits.windows_names ? windows_drivers : linux_drivers).push_back(limit.driver);
  }
  for (const auto& drivers : {linux_drivers, windows_drivers}) {
    const std::string table = table_of(drivers);
    INFO("the table should be:\n", table);
    CHECK(document.contains(table));
  }
}

TEST_CASE("the strictest limits are those of each volume") {
  const std::vector<FileSystemLimits> all = {limits_of_driver("xfs"), limits_of_driver("ntfs-3g"),
                                             limits_of_driver("ext4"), limits_of_driver("vfat")};
  const FileSystemLimits both = strictest(std::span(all).first(2));
  CHECK(both.link_text == 1023);
  CHECK(both.names_of_file == 65'535);
  CHECK(both.windows_names);
  CHECK(both.links);
  CHECK(both.time_unit_ns == 100);
  CHECK(both.root_names.size() == 11);
  const FileSystemLimits four = strictest(all);
  CHECK_FALSE(four.links);
  CHECK(four.largest_file == (4ULL << 30) - 1);
  CHECK(four.slots.most == 65'536);
  CHECK(four.xattr_value == 0);
  CHECK(four.earliest_s == 315'532'800);
  CHECK(strictest({}).largest_file == INT64_MAX);
}

TEST_CASE("times are compared in seconds, rounded down") {
  const FileSystemLimits fat = limits_of_driver("vfat"), ext4 = limits_of_driver("ext4");
  CHECK(holds_time(fat, 4'354'819'199'999'999'999));
  CHECK_FALSE(holds_time(fat, 4'354'819'200'000'000'000));
  CHECK_FALSE(holds_time(fat, 315'532'799'999'999'999));
  CHECK(holds_time(ext4, -2'147'483'648'000'000'000));
  CHECK_FALSE(holds_time(ext4, -2'147'483'648'000'000'001));
  CHECK(holds_time(limits_of_driver("tmpfs"), INT64_MIN));
}

std::string refusal(const HandTrace& trace, const TraceDemands& demands, std::string_view driver) {
  try {
    check_demands(demands, trace.tables.paths, trace.tables.texts, limits_of_driver(driver),
                  "choose another file system");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed);
    return error.what();
  }
  return "";
}

TEST_CASE("operations that ask for more than a file system holds are refused by name") {
  HandTrace trace;
  const auto link = [&](std::string_view path, std::size_t length, std::int64_t result) {
    const TextId text = trace.tables.texts.add(std::string(length, 't'));
    Operation& op = trace.add(0, OperationKind::symlink, path);
    op.text = text;
    op.expected = result;
  };
  link("failed", 4095, -ENAMETOOLONG);
  link("a/short", 1023, 0);
  trace.open(0, 1, "big", 0);
  trace.on(0, OperationKind::write, 1, 0, (4ULL << 30) - 10, 9);
  trace.on(0, OperationKind::write, 1, 0, 1ULL << 60, 9).expected = -EFBIG;
  const TraceDemands fits = demands_of(trace.source, trace.tables.texts);
  CHECK(fits.largest_file == (4ULL << 30) - 1);
  for (const char* driver : {"ext4", "xfs", "btrfs", "ntfs3", "vfat"}) {
    CHECK(refusal(trace, fits, driver).empty());
  }
  trace.source.at = 0;
  link("a/long", 1024, 0);
  trace.on(0, OperationKind::write, 1, 0, (4ULL << 30) - 1, 1);
  const TraceDemands more = demands_of(trace.source, trace.tables.texts);
  CHECK(refusal(trace, more, "ext4").empty());
  CHECK(refusal(trace, more, "xfs") ==
        "the text of the symbolic link a/long has 1024 bytes, more than the file system's limit of "
        "1023: choose another file system");
  CHECK(refusal(trace, more, "vfat").starts_with("big has 4."));
}

TEST_CASE("sizes that are set, and times and attributes beyond a file system, are seen") {
  HandTrace trace;
  trace.add(0, OperationKind::truncate, "sparse").offset = 1ULL << 45;
  Operation& times = trace.add(0, OperationKind::set_times, "sparse");
  times.offset = kTimeOmit;
  times.second = 0;
  trace.add(0, OperationKind::set_xattr, "sparse").length = 5000;
  const TraceDemands demands = demands_of(trace.source, trace.tables.texts);
  CHECK(refusal(trace, demands, "ext4").starts_with("sparse has "));
  CHECK(refusal(trace, demands, "ntfs3").starts_with("sparse has "));
  CHECK(refusal(trace, demands, "xfs").empty());
  const auto warnings = [&](std::string_view driver) {
    Result result;
    warn_of_demands(demands, limits_of_driver(driver), "fs", result);
    return result.warnings.size();
  };
  CHECK(warnings("vfat") == 2);
  CHECK(warnings("ext4") == 1);
  CHECK(warnings("xfs") == 0);
}

}  // namespace
}  // namespace filereel

#include "replay/run/conditions.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/replay/sysfs_tree.h"

namespace filereel {
namespace {

TEST_CASE("processor times are read from the first line of /proc/stat") {
  const SysfsTree tree;
  tree.file("stat", "cpu  100 20 300 4000 50 6 7 80 90 10\ncpu0 1 2 3\n");
  const ProcessorTimes look = read_processor_times(tree.sys() + "/stat");
  CHECK(look.user == 120);
  CHECK(look.stolen == 80);
  CHECK(look.all == 100 + 20 + 300 + 4000 + 50 + 6 + 7 + 80);  // guests are in user and nice
  CHECK(read_processor_times(tree.sys() + "/none").all == 0);
  tree.file("short", "cpu 1 2\n");
  CHECK(read_processor_times(tree.sys() + "/short").all == 0);
}

TEST_CASE("others' share is the user time without filereel and its drivers") {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const ProcessorTimes before{.all = 1000, .user = 200, .stolen = 10, .own_user_s = 1};
  const ProcessorTimes after{.all = 2000, .user = 700, .stolen = 60, .own_user_s = 1 + 100 / ticks};
  Conditions conditions;
  add_processor_shares(before, after, 150 / ticks, conditions);
  REQUIRE(conditions.other_cpu);
  CHECK(*conditions.other_cpu == doctest::Approx(0.25));
  CHECK(conditions.stolen_cpu == doctest::Approx(0.05));
}

TEST_CASE("shares are not negative, and unknown for short times or without /proc/stat") {
  const ProcessorTimes before{.all = 1000, .user = 200, .stolen = 10, .own_user_s = 0};
  Conditions conditions;
  add_processor_shares(before, {.all = 1005, .user = 204, .stolen = 10, .own_user_s = 0}, 0,
                       conditions);
  CHECK_FALSE(conditions.other_cpu);
  add_processor_shares({}, before, 0, conditions);
  CHECK_FALSE(conditions.other_cpu);
  add_processor_shares(before, {.all = 2000, .user = 210, .stolen = 5, .own_user_s = 3}, 0,
                       conditions);
  CHECK(conditions.other_cpu == 0.0);
  CHECK(conditions.stolen_cpu == 0.0);
}

GroupLook look(std::uint64_t periods, std::uint64_t throttled, double seconds,
               std::uint64_t waited_us, std::uint64_t at_ns) {
  return {.use = {.quotas = {{.cores = 0.4,
                              .periods = periods,
                              .throttled_periods = throttled,
                              .throttled_s = seconds},
                             {.cores = 0}},
                  .memory_limit = 500'000'000,
                  .pressure = {.cpu_us = waited_us, .io_us = {}, .memory_us = 7}},
          .at_ns = at_ns};
}

TEST_CASE("what control groups do is counted between two looks") {
  Conditions conditions;
  add_group_use(look(10, 2, 0.5, 1'000'000, 0), look(93, 54, 4.75, 3'000'000, 8'000'000'000),
                conditions);
  CHECK(conditions.cpu_quota == 0.4);
  CHECK(conditions.cpu_periods == 83.0);
  CHECK(conditions.cpu_throttled_periods == 52.0);
  CHECK(conditions.cpu_throttled_s == doctest::Approx(4.25));
  CHECK(conditions.memory_limit == 5e8);
  CHECK(conditions.cpu_pressure == doctest::Approx(0.25));
  CHECK(conditions.memory_pressure == 0.0);
  CHECK_FALSE(conditions.io_pressure);
  CHECK_FALSE(conditions.stops);
}

TEST_CASE("without a quota, nothing is throttled, and without control groups nothing is known") {
  Conditions conditions;
  GroupLook before = look(10, 2, 0.5, 0, 0), after = look(20, 4, 1, 0, 0);
  before.use.quotas.front().cores = after.use.quotas.front().cores = 0;
  add_group_use(before, after, conditions);
  CHECK(conditions.cpu_quota == 0.0);
  CHECK_FALSE(conditions.cpu_periods);
  Conditions unknown;
  add_group_use({}, {}, unknown);
  CHECK_FALSE(unknown.cpu_quota);
  CHECK_FALSE(unknown.memory_limit);
}

TEST_CASE("stops and suspends are counted, and a process that waits is neither") {
  Conditions conditions;
  add_stops({.continued = 2, .suspended_s = 5}, {.continued = 2, .suspended_s = 5.5}, conditions);
  CHECK_FALSE(conditions.stops);
  add_stops({.continued = 2, .suspended_s = 5}, {.continued = 3, .suspended_s = 65}, conditions);
  CHECK(conditions.stops == 2.0);
  CHECK(look_at_stops({}).continued == 0);
  CHECK(look_at_stops([] { return std::uint64_t{7}; }).continued == 7);
}

TEST_CASE("clock rates are a range over cores and readings") {
  const SysfsTree tree;
  tree.file("cpu0/cpufreq/scaling_cur_freq", "1200000\n");
  tree.file("cpu1/cpufreq/scaling_cur_freq", "3400000\n");
  Conditions conditions;
  add_clock_rates(conditions, tree.sys(), "/none");
  CHECK(conditions.cpu_mhz_low == 1200);
  CHECK(conditions.cpu_mhz_high == 3400);
  tree.file("cpu0/cpufreq/scaling_cur_freq", "800000\n");
  tree.file("cpu1/cpufreq/scaling_cur_freq", "900000\n");
  add_clock_rates(conditions, tree.sys(), "/none");
  CHECK(conditions.cpu_mhz_low == 800);
  CHECK(conditions.cpu_mhz_high == 3400);
}

TEST_CASE("without frequency files /proc/cpuinfo is read") {
  const SysfsTree tree;
  tree.file("cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2596.148\n\ncpu MHz\t\t: 2600.5\n");
  Conditions conditions;
  add_clock_rates(conditions, tree.sys() + "/none", tree.sys() + "/cpuinfo");
  CHECK(conditions.cpu_mhz_low == doctest::Approx(2596.148));
  CHECK(conditions.cpu_mhz_high == doctest::Approx(2600.5));
  Conditions nothing;
  add_clock_rates(nothing, tree.sys() + "/none", tree.sys() + "/none");
  CHECK_FALSE(nothing.cpu_mhz_low);
}

}  // namespace
}  // namespace filereel

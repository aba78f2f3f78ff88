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

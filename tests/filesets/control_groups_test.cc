// Limits and use of control groups of both versions, on made trees.
#include "filesets/system/control_groups.h"

#include <fstream>
#include <string>
#include <vector>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <sched.h>

#include "tests/temp_dir.h"

namespace filereel {
namespace {

struct GroupTree {
  TempDir folder;

  void file(const std::string& name, const std::string& text) const {
    boost::filesystem::create_directories(boost::filesystem::path(folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  ControlGroupUse use(const std::string& membership, const std::string& type,
                      const std::string& options) const {
    return read_group_use(membership,
                          {{.device = 0,
                            .root = "/",
                            .mount_point = folder / "cgroup",
                            .type = type,
                            .source = "cgroup",
                            .options = options}},
                          folder / "pressure");
  }
};

TEST_CASE("quota, throttling, memory limit and pressure are read (version 2)") {
  const GroupTree tree;
  tree.file("cgroup/a/b/cpu.max", "max 100000\n");
  tree.file("cgroup/a/b/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\n");
  tree.file("cgroup/a/cpu.max", "40000 100000\n");
  tree.file("cgroup/a/cpu.stat",
            "usage_usec 5\nnr_periods 83\nnr_throttled 52\nthrottled_usec 4250000\n");
  tree.file("cgroup/a/memory.max", "500000000\n");
  tree.file("cgroup/a/b/cpu.pressure",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0.00 total=9\n");
  tree.file("cgroup/a/b/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=456\n");
  const ControlGroupUse use = tree.use("0::/a/b\n", "cgroup2", "rw");
  CHECK(use.cpu_quota() == 0.4);
  REQUIRE(use.quotas.size() == 2);
  CHECK(use.quotas[1].periods == 83);
  CHECK(use.quotas[1].throttled_periods == 52);
  CHECK(use.quotas[1].throttled_s == doctest::Approx(4.25));
  CHECK(use.memory_limit == 500'000'000);
  CHECK(use.pressure.cpu_us == 123);
  CHECK(use.pressure.io_us == 456);
  CHECK_FALSE(use.pressure.memory_us);
}

TEST_CASE("the same is read of version 1, with the pressure of the machine") {
  const GroupTree tree;
  tree.file("cgroup/docker/1/cpu.cfs_quota_us", "50000\n");
  tree.file("cgroup/docker/1/cpu.cfs_period_us", "100000\n");
  tree.file("cgroup/docker/1/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 250000000\n");
  tree.file("cgroup/docker/cpu.cfs_quota_us", "-1\n");
  tree.file("cgroup/docker/cpu.cfs_period_us", "100000\n");
  tree.file("pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n");
  const ControlGroupUse use =
      tree.use("2:cpu,cpuacct:/docker/1\n0::/\n", "cgroup", "rw,cpu,cpuacct");
  CHECK(use.cpu_quota() == 0.5);
  REQUIRE(use.quotas.size() == 2);
  CHECK(use.quotas[0].throttled_periods == 3);
  CHECK(use.quotas[0].throttled_s == doctest::Approx(0.25));
  CHECK(use.quotas[1].cores == 0);
  CHECK_FALSE(use.memory_limit);  // of another hierarchy, which is not mounted
  CHECK(use.pressure.memory_us == 77);
}

TEST_CASE("no quota is told from an unknown one") {
  const GroupTree tree;
  CHECK_FALSE(tree.use("0::/a\n", "cgroup2", "rw").cpu_quota());
  tree.file("cgroup/a/cpu.max", "max 100000\n");
  CHECK(tree.use("0::/a\n", "cgroup2", "rw").cpu_quota() == 0.0);
}

TEST_CASE("the processors that may be used are counted") {
  const UsableProcessors all = usable_processors();
  CHECK(all.count >= 1);
  CHECK_FALSE(all.list.empty());
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (std::size_t i = 0; CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(usable_processors().count == 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace filereel

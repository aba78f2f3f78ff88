#include "filesets/system/limits.h"

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "tests/address_limit.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

// Lowers the soft limit for a part of a test.
class LowLimit {
 public:
  LowLimit(__rlimit_resource_t resource, rlim_t value) : resource_(resource) {
    REQUIRE(getrlimit(resource_, &before_) == 0);
    const rlimit low{value, before_.rlim_max};
    REQUIRE(setrlimit(resource_, &low) == 0);
  }
  ~LowLimit() { setrlimit(resource_, &before_); }
  LowLimit(const LowLimit&) = delete;
  LowLimit& operator=(const LowLimit&) = delete;

 private:
  __rlimit_resource_t resource_;
  rlimit before_{};
};

// A tree of control groups as it would be mounted.
struct Groups {
  TempDir folder;

  void set(const std::string& group, const std::string& file, const std::string& text) const {
    boost::filesystem::create_directories(folder / group);
    std::ofstream(folder / (group + "/" + file)) << text;
  }
  std::vector<MemoryLimit> limits(const std::string& membership, const std::string& type,
                                  const std::string& options, const std::string& root = "/") const {
    return cgroup_memory_limits(membership, {{.device = 0,
                                              .root = root,
                                              .mount_point = folder.path(),
                                              .type = type,
                                              .source = "cgroup",
                                              .options = options}});
  }
};

TEST_CASE("the memory limits of a control group and of its parents are found (version 2)") {
  const Groups groups;
  groups.set("a/b", "memory.max", "max\n");
  groups.set("a/b", "memory.high", "50000000\n");
  groups.set("a/b", "memory.current", "40000000\n");
  groups.set("a/b", "memory.stat", "anon 1\ninactive_file 20000000\nactive_file 5000000\n");
  groups.set("a", "memory.max", "100000000\n");
  groups.set("a", "memory.current", "99000000\n");
  const std::vector<MemoryLimit> limits =
      groups.limits("1:name=systemd:/x\n0::/a/b\n", "cgroup2", "rw,nsdelegate");
  REQUIRE(limits.size() == 2);
  CHECK(limits[0].bytes == 50'000'000);
  CHECK(limits[0].left == 35'000'000);  // the file cache can be emptied
  CHECK(limits[0].remedy == "raise " + groups.folder / "a/b/memory.high");
  CHECK(limits[1].bytes == 100'000'000);
  CHECK(limits[1].left == 1'000'000);
  CHECK(limits[1].text() ==
        "the memory limit of the control group is 100 MB: raise " + groups.folder / "a/memory.max");
}

TEST_CASE("the memory limits of a control group are found (version 1)") {
  const Groups groups;
  groups.set("docker/1", "memory.limit_in_bytes", "9223372036854771712\n");
  groups.set("docker", "memory.limit_in_bytes", "200000000\n");
  groups.set("docker", "memory.usage_in_bytes", "300000000\n");
  const std::string membership = "4:memory:/docker/1\n2:cpu,cpuacct:/other\n0::/\n";
  const std::vector<MemoryLimit> limits = groups.limits(membership, "cgroup", "rw,rw,memory");
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].bytes == 200'000'000);
  CHECK(limits[0].left == 0);
  CHECK(groups.limits(membership, "cgroup", "rw,cpu,cpuacct").empty());
  CHECK(groups.limits("", "cgroup", "rw,memory").empty());
}

TEST_CASE("in a container the mount begins at its own group") {
  const Groups groups;
  groups.set("", "memory.limit_in_bytes", "1000000\n");
  CHECK(groups.limits("4:memory:/docker/1\n", "cgroup", "rw,memory", "/docker/1").size() == 1);
  CHECK(groups.limits("4:memory:/elsewhere\n", "cgroup", "rw,memory", "/docker/1").size() == 1);
  CHECK(groups.limits("4:memory:/../x\n", "cgroup", "rw,memory").size() == 1);
}

TEST_CASE("the limit that leaves the least memory is the one that counts") {
  const MemoryLimit before = memory_limit();
  CHECK(before.left > 0);
  CHECK(before.left <= before.bytes);
  CHECK_FALSE(is_address_space_limited());
  constexpr std::uint64_t kLeft = 64 << 20;
  const AddressLimit low(kLeft);
  const MemoryLimit limit = memory_limit();
  CHECK(limit.name == "limit on address space");
  CHECK(limit.left <= kLeft);
  CHECK(limit.text().ends_with(": raise it (ulimit -v)"));
  CHECK(error_text(ENOMEM) == "Cannot allocate memory; " + limit.text());
  CHECK(is_address_space_limited());
}

TEST_CASE("an error that a limit caused names the limit instead of other advice") {
  CHECK(error_text(ENOENT) == "No such file or directory");
  CHECK(error_text(ENOENT, "check the name") == "No such file or directory; check the name");
  {
    const LowLimit few(RLIMIT_NOFILE, 77);
    CHECK(error_text(EMFILE, "check the name") ==
          "Too many open files; the limit on open files is 77: raise it (ulimit -n)");
  }
  CHECK(error_text(EFBIG, "use another file system") == "File too large; use another file system");
  {
    const LowLimit few(RLIMIT_FSIZE, 2'000'000);
    CHECK(error_text(EFBIG, "use another file system") ==
          "File too large; the limit on file sizes is 2 MB: raise it (ulimit -f)");
  }
  {
    const LowLimit few(RLIMIT_NPROC, 5000);
    CHECK(start_error_text(EAGAIN, "") ==
          "Resource temporarily unavailable; the number of processes and threads is limited to "
          "5000: raise it (ulimit -u, or pids.max of the control group)");
  }
  CHECK(start_error_text(ENOENT, "check PATH") == "No such file or directory; check PATH");
}

TEST_CASE("open descriptors are counted") {
  const std::uint64_t before = open_descriptors();
  CHECK(before >= 3);
  const std::ifstream one("/dev/null");
  CHECK(open_descriptors() == before + 1);
}

}  // namespace
}  // namespace filereel

#include "replay/engine/parent_cache.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <fmt/format.h>

#include "replay/engine/io_engine.h"
#include "replay/measure/clock.h"
#include "tests/replay/engine_rig.h"

namespace filereel {
namespace {

constexpr std::size_t kMost = 32;  // kept directories

namespace fs = boost::filesystem;

constexpr std::uint64_t kSlowNs = 2'000'000, kFastNs = 1'000'000;

// Opens what is not listed as missing, and remembers it.
struct PretendedCalls {
  static inline std::map<std::int64_t, std::string> open;
  static inline std::vector<std::string> opened;  // since the last look
  static inline std::string missing;
  static inline bool full = false;  // one descriptor must be closed first

  static std::int64_t open_beneath(int, const char* path) noexcept {
    const std::uint64_t end = now_ns() + kSlowNs;
    while (now_ns() < end) relax();
    opened.emplace_back(path);
    if (missing == path) return -ENOENT;
    if (full) return -EMFILE;
    std::int64_t fd = 100;
    while (open.contains(fd)) ++fd;
    open.emplace(fd, path);
    return fd;
  }
  static std::int64_t close(int fd) noexcept {
    full = false;
    return open.erase(fd) == 1 ? 0 : -EBADF;
  }
};

struct CacheRig {
  CacheRig() {
    PretendedCalls::open.clear();
    PretendedCalls::opened.clear();
    PretendedCalls::missing.clear();
    PretendedCalls::full = false;
  }

  PathId at(const std::string& path) { return paths.add(Role::near, path); }

  // The directory in which `path` is looked up: its name, and whether it had to be opened.
  std::string parent_of(const std::string& path) {
    std::string found;
    const std::int64_t result = cache.with(at(path), [&](int parent, const char*) {
      found = parent == 7 ? "." : PretendedCalls::open.at(parent);
      return 0;
    });
    return result < 0 ? std::to_string(result) : found;
  }
  std::vector<std::string> opened() { return std::exchange(PretendedCalls::opened, {}); }

  PathTable paths;
  DirectoryChanges changes;
  ParentCache<PretendedCalls> cache{paths, {7, 8}, changes, kMost, kFastNs};
};

using Names = std::vector<std::string>;

TEST_CASE("a directory is opened once, and the root never") {
  CacheRig rig;
  CHECK(rig.parent_of("f") == ".");
  CHECK(rig.parent_of("d/f") == "d");
  CHECK(rig.parent_of("d/g") == "d");
  CHECK(rig.parent_of("d/e/f") == "d/e");
  CHECK(rig.parent_of("d/f") == "d");
  CHECK(rig.opened() == Names{"d", "d/e"});
}

TEST_CASE("the share of a lookup that belongs to filereel is an opening without a walk") {
  CacheRig rig;
  rig.parent_of("d/f");
  CHECK(rig.cache.take_own_ns() == kFastNs);  // the rest was the walk
  rig.parent_of("d/f");
  CHECK(rig.cache.take_own_ns() == 0);
  PretendedCalls::missing = "gone";
  CHECK(rig.parent_of("gone/f") == std::to_string(-ENOENT));
  CHECK(rig.cache.take_own_ns() == 0);  // the program's call would have failed at that time, too
  ParentCache<PretendedCalls> quick(rig.paths, {7, 8}, rig.changes, kMost, 1000 * kSlowNs);
  quick.with(rig.at("d/f"), [](int, const char*) { return 0; });
  CHECK(quick.take_own_ns() >= kSlowNs);
  CHECK(quick.take_own_ns() == 0);
}

TEST_CASE("a removed directory is given up, and no other one") {
  CacheRig rig;
  for (const std::string name : {"d", "d/e", "g"}) rig.parent_of(name + "/f");
  rig.opened();
  rig.changes.add({rig.at("d"), false});
  for (const std::string name : {"d", "d/e", "g"}) CHECK(rig.parent_of(name + "/f") == name);
  CHECK(rig.opened() == Names{"d"});
  rig.cache.forget(rig.at("g"));
  rig.cache.forget(rig.at("nothing"));
  CHECK(PretendedCalls::open.size() == 2);
}

TEST_CASE("a renamed directory is given up with all below it, and no other one") {
  CacheRig rig;
  const Names names = {"c", "d", "d/e", "d/e/h", "de", "g"};
  for (const std::string& name : names) rig.parent_of(name + "/f");
  rig.opened();
  rig.changes.add({rig.at("d"), true});
  for (const std::string& name : names) CHECK(rig.parent_of(name + "/f") == name);
  CHECK(rig.opened() == Names{"d", "d/e", "d/e/h"});
}

TEST_CASE("after too many changes all directories are given up") {
  CacheRig rig;
  rig.parent_of("d/f");
  rig.parent_of("e/f");
  rig.opened();
  for (std::uint64_t i = 0; i < DirectoryChanges::kKept; ++i) rig.changes.add({rig.at("e"), false});
  CHECK(rig.parent_of("d/f") == "d");
  CHECK(rig.opened().empty());
  for (std::uint64_t i = 0; i <= DirectoryChanges::kKept; ++i) {
    rig.changes.add({rig.at("e"), false});
  }
  CHECK(rig.parent_of("d/f") == "d");
  CHECK(rig.opened() == Names{"d"});
  CHECK(PretendedCalls::open.size() == 1);
}

TEST_CASE("changes are known until others take their places") {
  DirectoryChanges changes;
  CHECK_FALSE(changes.at(0));
  for (PathId path = 10; path < 10 + DirectoryChanges::kKept; ++path) {
    changes.add({path, path % 2 == 0});
  }
  REQUIRE(changes.at(1));
  CHECK(changes.at(1)->path == 11);
  CHECK_FALSE(changes.at(1)->below);
  CHECK(changes.at(2)->below);
  changes.add({UINT32_MAX, true});
  CHECK_FALSE(changes.at(0));
  CHECK(changes.at(DirectoryChanges::kKept)->path == UINT32_MAX);
  CHECK(changes.count() == DirectoryChanges::kKept + 1);
}

TEST_CASE("two directories are open together, whichever are kept") {
  CacheRig rig;
  constexpr int kMany = 40;
  const auto name = [](int number) { return fmt::format("d{}", number); };
  for (int i = 0; i < kMany; ++i) {
    const int j = i * 7 % kMany;
    const std::int64_t result =
        rig.cache.with_both(rig.at(name(i) + "/f"), rig.at(name(j) + "/g"),
                            [&](int one, const char*, int other, const char*) {
                              CHECK(PretendedCalls::open.at(one) == name(i));
                              CHECK(PretendedCalls::open.at(other) == name(j));
                              return 0;
                            });
    CHECK(result == 0);
    CHECK(PretendedCalls::open.size() <= kMost);
  }
  rig.cache.make_room();
  CHECK(PretendedCalls::open.empty());
}

TEST_CASE("without entries in the trace, a directory is opened for each use") {
  CacheRig rig;
  const PathId alone = rig.at("alone");
  CHECK(PretendedCalls::open.at(rig.cache.directory(alone)) == "alone");
  CHECK(PretendedCalls::open.at(rig.cache.directory(alone)) == "alone");
  CHECK(rig.opened() == Names{"alone", "alone"});
  CHECK(PretendedCalls::open.size() == 1);
  rig.at("alone/f");
  rig.cache.directory(alone);
  rig.cache.directory(alone);
  CHECK(rig.opened() == Names{"alone"});
}

TEST_CASE("where no descriptor is left, a kept one makes room") {
  CacheRig rig;
  for (int i = 0; i < 200 && PretendedCalls::open.size() < kMost; ++i) {
    rig.parent_of(fmt::format("d{}/f", i));
  }
  REQUIRE(PretendedCalls::open.size() == kMost);
  PretendedCalls::full = true;
  CHECK(rig.parent_of("another/f") == "another");
  CHECK(PretendedCalls::open.size() == kMost);
}

// Two threads on the same directories.
struct TwoEngines : EngineRig {
  std::unique_ptr<IoEngine> first = make_engine(EngineKind::blocking, context(), 0);
  std::unique_ptr<IoEngine> second = make_engine(EngineKind::blocking, context(), 1);

  static bool run(IoEngine& engine, const Operation& operation) {
    std::span<const Operation> one(&operation, 1);
    return engine.execute(one, true) == Execution::all;
  }
};

TEST_CASE("a directory that another thread renames is found under its new name only") {
  TwoEngines rig;
  using enum OperationKind;
  REQUIRE(TwoEngines::run(*rig.first, rig.at(make_directory, "d")));
  REQUIRE(TwoEngines::run(*rig.first, rig.at(make_directory, "d/e")));
  REQUIRE(TwoEngines::run(*rig.first, rig.at(make_directory, "d/e/f")));
  REQUIRE(TwoEngines::run(*rig.second, rig.two(rename, "d", "moved")));
  Operation gone = rig.at(make_directory, "d/e/g");
  gone.expected = -ENOENT;
  CHECK(TwoEngines::run(*rig.first, gone));
  CHECK(TwoEngines::run(*rig.first, rig.at(make_directory, "moved/e/g")));
  REQUIRE(TwoEngines::run(*rig.second, rig.at(make_directory, "d")));
  CHECK(TwoEngines::run(*rig.first, rig.at(make_directory, "d/new")));
  CHECK(fs::is_directory(rig.near("d/new")));
  CHECK(fs::is_directory(rig.near("moved/e/g")));
}

TEST_CASE("a directory that another thread removes and makes anew is the new one") {
  TwoEngines rig;
  using enum OperationKind;
  REQUIRE(TwoEngines::run(*rig.first, rig.at(make_directory, "d")));
  Operation none = rig.at(stat, "d/f");
  none.expected = -ENOENT;
  REQUIRE(TwoEngines::run(*rig.first, none));
  REQUIRE(TwoEngines::run(*rig.second, rig.at(remove_directory, "d")));
  REQUIRE(TwoEngines::run(*rig.second, rig.at(make_directory, "d")));
  CHECK(TwoEngines::run(*rig.first, rig.at(make_directory, "d/f")));
  CHECK(fs::is_directory(rig.near("d/f")));
}

}  // namespace
}  // namespace filereel

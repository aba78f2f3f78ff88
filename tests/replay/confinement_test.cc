// A trace is untrusted input, and so is the tree that it is replayed in: nothing outside the
// volumes may be touched.
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "replay/engine/engine_calls.h"
#include "replay/engine/replayer.h"
#include "tests/entries.h"
#include "tests/replay/two_volumes.h"
#include "tests/skipped.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

// A directory beside the volumes with a file, and with names of what the tests try to reach.
struct Outside {
  TempDir temp;
  Outside() {
    std::ofstream(temp / "precious") << "mine";
    fs::create_directory(temp / "folder");
  }
  void check_untouched() const {
    std::ifstream in(temp / "precious");
    CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "mine");
    CHECK(fs::is_directory(temp / "folder"));
    CHECK(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()) == 2);
    CHECK(status_of("precious").st_nlink == 1);
  }
  struct stat status_of(const std::string& name) const {
    struct stat info{};
    CHECK(stat((temp / name).c_str(), &info) == 0);
    return info;
  }
};

class Operations {
 public:
  std::vector<Operation> list;
  PathTable paths;
  TextTable texts;

  Operation& add(OperationKind kind, const std::string& path, Role role = Role::near) {
    Operation operation;
    operation.kind = kind;
    operation.path = paths.add(role, path);
    operation.mode = 0755;
    return list.emplace_back(operation);
  }
  void open(const std::string& path, int flags) {
    Operation& operation = add(OperationKind::open, path);
    operation.flags = static_cast<std::uint32_t>(flags);
    operation.file = 0;
  }
  Operation& use(OperationKind kind) {
    Operation& operation = list.emplace_back();
    operation.kind = kind;
    operation.file = operation.entry = 0;
    return operation;
  }
  void write_it() {
    Operation& operation = use(OperationKind::write);
    operation.length = 4;
    operation.expected = 4;
  }
  void truncate_it() { use(OperationKind::truncate); }
  void close_it() { use(OperationKind::close); }

  ReplayOutcome replay_all(const TwoVolumes& volumes) {
    static const FileSet kFiles = set_of({file("a", 4)});
    Trace trace = trace_of(paths, kFiles, {list});
    trace.texts = &texts;
    return replay(std::move(trace), volumes.roots(), {.stop_on_divergence = false});
  }
};

void check_every_operation_failed(const ReplayOutcome& outcome) {
  CHECK(outcome.complete);
  CHECK(outcome.statistics.operations > 0);
  CHECK(outcome.statistics.divergences == outcome.statistics.operations);
}

TEST_CASE("a directory that is a symlink to the outside is not entered") {
  const Outside outside;
  const TwoVolumes volumes;
  const std::string up = "../" + fs::path(outside.temp.path()).filename().string();
  int number = 0;
  for (const std::string& target :
       {outside.temp.path(), up, std::string("/proc/self/root") + outside.temp.path()}) {
    CAPTURE(target);
    const std::string link = "link" + std::to_string(number++);
    REQUIRE(symlink(target.c_str(), (volumes.near / link).c_str()) == 0);
    Operations operations;
    operations.open(link + "/precious", O_WRONLY);
    operations.write_it();
    operations.truncate_it();
    operations.close_it();
    operations.open(link + "/new", O_WRONLY | O_CREAT);
    operations.close_it();
    operations.add(OperationKind::unlink, link + "/precious");
    operations.add(OperationKind::remove_directory, link + "/folder");
    operations.add(OperationKind::make_directory, link + "/made");
    operations.add(OperationKind::make_directory, link + "/folder/made");
    operations.add(OperationKind::symlink, link + "/s").text = operations.texts.add("/etc/passwd");
    const PathId inside = operations.paths.add(Role::near, "inside");
    operations.add(OperationKind::link, link + "/h").old_path = inside;
    const PathId precious = operations.paths.add(Role::near, link + "/precious");
    operations.add(OperationKind::link, "stolen").old_path = precious;
    std::ofstream(volumes.near / "inside") << "x";
    check_every_operation_failed(operations.replay_all(volumes));
    outside.check_untouched();
    CHECK_FALSE(fs::exists(volumes.near / "stolen"));
  }
}

TEST_CASE("a file that is a symlink to the outside is neither opened nor followed") {
  const Outside outside;
  const TwoVolumes volumes;
  REQUIRE(symlink((outside.temp / "precious").c_str(), (volumes.near / "link").c_str()) == 0);
  REQUIRE(symlink((outside.temp / "new").c_str(), (volumes.near / "dangling").c_str()) == 0);
  REQUIRE(symlink((outside.temp / "made").c_str(), (volumes.near / "folder").c_str()) == 0);
  Operations operations;
  operations.open("link", O_WRONLY);
  operations.write_it();
  operations.open("link", O_RDWR | O_TRUNC);
  operations.open("link", O_RDONLY);
  operations.open("dangling", O_WRONLY | O_CREAT);
  operations.open("dangling", O_WRONLY | O_CREAT | O_EXCL);
  operations.add(OperationKind::make_directory, "folder");
  operations.add(OperationKind::symlink, "link").text = operations.texts.add("/etc/passwd");
  check_every_operation_failed(operations.replay_all(volumes));
  outside.check_untouched();
}

TEST_CASE("removing a symlink removes the symlink") {
  const Outside outside;
  const TwoVolumes volumes;
  REQUIRE(symlink((outside.temp / "precious").c_str(), (volumes.near / "link").c_str()) == 0);
  REQUIRE(symlink((outside.temp / "folder").c_str(), (volumes.near / "dir").c_str()) == 0);
  Operations operations;
  operations.add(OperationKind::unlink, "link");
  operations.add(OperationKind::unlink, "dir");
  CHECK(operations.replay_all(volumes).statistics.divergences == 0);
  CHECK(fs::is_empty(volumes.near.path()));
  outside.check_untouched();
}

TEST_CASE("a hard link to a symlink is one to the symlink") {
  const Outside outside;
  const TwoVolumes volumes;
  REQUIRE(symlink((outside.temp / "precious").c_str(), (volumes.near / "link").c_str()) == 0);
  Operations operations;
  const PathId link = operations.paths.add(Role::near, "link");
  operations.add(OperationKind::link, "h").old_path = link;
  operations.replay_all(volumes);
  outside.check_untouched();
}

TEST_CASE("a directory replaced by a symlink since the last replay is not entered") {
  const Outside outside;
  const TwoVolumes volumes;
  fs::create_directory(volumes.near / "d");
  Operations operations;
  operations.add(OperationKind::make_directory, "d/a");
  CHECK(operations.replay_all(volumes).statistics.divergences == 0);
  fs::rename(volumes.near / "d", volumes.near / "e");
  REQUIRE(symlink(outside.temp.path().c_str(), (volumes.near / "d").c_str()) == 0);
  check_every_operation_failed(operations.replay_all(volumes));
  outside.check_untouched();
}

TEST_CASE("symlinks that stay inside are allowed") {
  const TwoVolumes volumes;
  fs::create_directory(volumes.near / "d");
  REQUIRE(symlink("d", (volumes.near / "link").c_str()) == 0);
  Operations operations;
  operations.add(OperationKind::make_directory, "link/made");
  CHECK(operations.replay_all(volumes).statistics.divergences == 0);
  CHECK(fs::is_directory(volumes.near / "d/made"));
}

TEST_CASE("the far volume is outside of the near one") {
  const TwoVolumes volumes;
  REQUIRE(symlink(volumes.far.path().c_str(), (volumes.near / "link").c_str()) == 0);
  Operations operations;
  operations.add(OperationKind::make_directory, "link/made");
  check_every_operation_failed(operations.replay_all(volumes));
  CHECK(fs::is_empty(volumes.far.path()));
}

TEST_CASE("the kernel refuses to leave the root by any path") {
  const Outside outside;
  const TwoVolumes volumes;
  REQUIRE(symlink("/", (volumes.near / "root").c_str()) == 0);
  for (const std::string& path :
       {std::string("/"), std::string(".."), std::string("a/../.."), std::string("root"),
        std::string("root/tmp"), outside.temp.path(), std::string("/proc/self/cwd")}) {
    CAPTURE(path);
    const std::int64_t fd = LinuxCalls::open_beneath(volumes.near_root.get(), path.c_str());
    CHECK(fd < 0);
    if (fd >= 0) LinuxCalls::close(static_cast<int>(fd));
  }
}

TEST_CASE("what is mounted in a volume during a replay is outside") {
  const Outside outside;
  const TwoVolumes volumes;
  fs::create_directory(volumes.near / "d");
  const std::string there = volumes.near / "d";
  if (mount(outside.temp.path().c_str(), there.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return skipped("needs the right to mount");
  }
  Operations operations;
  operations.open("d/precious", O_WRONLY | O_TRUNC);
  operations.open("d/new", O_WRONLY | O_CREAT);
  operations.add(OperationKind::unlink, "d/precious");
  operations.add(OperationKind::make_directory, "d/made");
  operations.add(OperationKind::make_directory, "d/folder/made");
  operations.add(OperationKind::remove_directory, "d/folder");
  check_every_operation_failed(operations.replay_all(volumes));
  outside.check_untouched();
  CHECK(umount(there.c_str()) == 0);
}

TEST_CASE("paths that lead out of a root are never interned") {
  for (const char* path :
       {"..", "../a", "a/..", "a/../b", "a/../../b", "/", "/etc/passwd", "a//b", ".", "./a", ""}) {
    CAPTURE(path);
    CHECK_THROWS_AS(check_path(path, "test"), Error);
  }
  CHECK_THROWS_AS(check_path(std::string_view("a\0/../b", 7), "test"), Error);
  for (const char* path : {"...", "a/..b", "..a/b", "a/b.."}) CHECK_NOTHROW(check_path(path, ""));
}

}  // namespace
}  // namespace filereel

// Directories with two names, by bind mounts.
#include <cerrno>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"

namespace filereel {
namespace {

TEST_CASE("what has two names by a bind mount gets one of them") {
  RecordedCalls calls(ResolverOptions{.working_directory = "/w/bm",
                                      .bound = {{"/w/bm", "/w/src"}, {"/w/file", "/w/other"}}});
  calls.run(on_path(Call::mkdir, "/w/bm/a")).run(on_path(Call::mkdir, "b"));
  calls.run(on_path(Call::rmdir, "/w/src/a")).run(on_path(Call::chmod, "/w/file"));
  CHECK(calls.text() == "0 mkdir w/src/a\n0 mkdir w/src/b\n0 rmdir w/src/a\n0 chmod w/other\n");
  SystemCall opened = open_at("c", O_RDWR | O_CREAT, 3);
  opened.result_path = "/w/bm/c";
  calls.run(opened);
  CHECK(calls.text() == "0 open w/src/c #0 flags 102 mode 644\n");
  // The mount stays where it is and shows the same directory.
  calls.run(two_paths(Call::rename, "/w/src", "/w/moved")).run(on_path(Call::rmdir, "/w/bm/b"));
  CHECK(calls.text() == "0 rename w/src -> w/moved\n0 rmdir w/moved/b\n");
}

TEST_CASE("the parent of a mounted directory is that of the name that led to it") {
  const std::vector<BoundName> bound = {{"/r/usr", "/usr"}};
  RecordedCalls calls(ResolverOptions{.working_directory = "/r/usr", .bound = bound});
  calls.run(on_path(Call::mkdir, "../a")).run(on_path(Call::mkdir, "b"));
  calls.run(on_path(Call::mkdir, "lib/../../c")).run(on_path(Call::mkdir, "/usr/../d"));
  CHECK(calls.text() == "0 mkdir r/a\n0 mkdir usr/b\n0 mkdir r/c\n0 mkdir d\n");
  calls.run(on_path(Call::chdir, "/r/usr/lib")).run(on_path(Call::mkdir, "../../e"));
  CHECK(calls.text() == "0 chdir usr/lib\n0 mkdir r/e\n");
  calls.run(on_path(Call::chdir, "../..")).run(on_path(Call::mkdir, "f"));
  CHECK(calls.text() == "0 chdir r\n0 mkdir r/f\n");
}

TEST_CASE("a root that was named from within a mounted directory is the name's parent") {
  RecordedCalls calls(
      ResolverOptions{.working_directory = "/r/usr", .bound = {{"/r/usr", "/usr"}}});
  calls.run(on_path(Call::chroot, "..")).run(on_path(Call::mkdir, "/tmp"));
  calls.run(on_path(Call::mkdir, "/usr/../x"));
  CHECK(calls.text() == "0 mkdir r/tmp\n0 mkdir r/x\n");
}

TEST_CASE("a descriptor named in /proc is no file where there is no /proc, as in a chroot") {
  RecordedCalls calls;
  calls.run(open_at("/f", O_RDONLY, 3));
  calls.text();
  SystemCall named = on_path(Call::chmod, "/proc/self/fd/3");
  named.result = -ENOENT;
  calls.run(named);
  CHECK(calls.text().empty());
  CHECK(calls.approximated("calls on /proc, /sys and /dev omitted") == 1);
}

TEST_CASE("two names of one directory or new file are counted") {
  RecordedCalls calls;
  const auto open = [&](const std::string& path, std::uint32_t mode, std::uint64_t inode, int fd) {
    SystemCall call = open_at(path, O_RDONLY, fd);
    call.stat = SeenStat{.mode = mode, .device = 1, .inode = inode};
    calls.run(call);
  };
  const std::string counted = "files under two names by bind mounts treated as separate files";
  open("/src", S_IFDIR | 0755, 5, 3);
  open("/src", S_IFDIR | 0755, 5, 4);
  CHECK(calls.approximated(counted) == 0);
  open("/bm", S_IFDIR | 0755, 5, 5);
  CHECK(calls.approximated(counted) == 1);
}

}  // namespace
}  // namespace filereel

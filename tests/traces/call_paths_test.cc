// How names become paths.
#include <cerrno>

#include <doctest/doctest.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/traces/recorded_calls.h"
#include "traces/open_flags.h"

using namespace filereel;

namespace {

SystemCall in_directory(int dir, SystemCall call) {
  call.dir = dir;
  return call;
}

SystemCall opened_as(const std::string& path, const std::string& real, std::int64_t result) {
  SystemCall call = open_at(path, O_RDONLY, result);
  call.result_path = real;
  return call;
}

SystemCall link_of(const std::string& path, const std::string& target) {
  SystemCall call = on_path(Call::symlink, path);
  call.text = target;
  return call;
}

SystemCall stat_seen(SystemCall call, std::uint32_t mode, std::uint64_t size) {
  call.stat = SeenStat{.mode = mode, .size = size};
  return call;
}

}  // namespace

TEST_CASE("relative names start at the current working directory") {
  RecordedCalls calls("/home/me");
  calls.run(on_path(Call::stat, "x"))
      .run(on_path(Call::chdir, "sub/./dir/.."))
      .run(on_path(Call::stat, "x"))
      .run(on_path(Call::chdir, "missing", -ENOENT))
      .run(open_at("/var", O_RDONLY | open_flags::kDirectory, 3))
      .run(on_file(Call::fchdir, 3))
      .run(on_path(Call::stat, "x/"));
  CHECK(calls.text() ==
        "0 stat home/me/x +0\n"
        "0 chdir home/me/sub\n"
        "0 stat home/me/sub/x +0\n"
        "0 chdir home/me/sub/missing = -2\n"
        "0 open var #0 flags 200000\n"
        "0 chdir var\n"
        "0 stat var/x +0\n");
}

TEST_CASE("relative names can start at an open directory") {
  RecordedCalls calls;
  SystemCall known = in_directory(9, on_path(Call::unlink, "x"));
  known.dir_path = "/etc";
  calls.run(open_at("/d", O_RDONLY | open_flags::kDirectory, 3))
      .run(in_directory(3, on_path(Call::mkdir, "e")))
      .run(in_directory(3, on_path(Call::stat, "/abs")))
      .run(known);
  CHECK(calls.text() ==
        "0 open d #0 flags 200000\n"
        "0 mkdir d/e\n"
        "0 stat abs +0\n"
        "0 unlink etc/x\n");
}

TEST_CASE("a working directory reported by the tracer stays valid for later calls") {
  RecordedCalls calls;
  SystemCall stat = on_path(Call::stat, "x");
  stat.dir_path = "/home/me";
  calls.run(stat).run(on_path(Call::stat, "y"));
  CHECK(calls.text() == "0 stat home/me/x +0\n0 stat home/me/y +0\n");
}

TEST_CASE("an empty name means the descriptor itself") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(in_directory(3, on_path(Call::stat, "", 0, AT_EMPTY_PATH)))
      .run(on_path(Call::stat, "", -ENOENT));
  CHECK(calls.text() == "0 open a #0\n0 stat #0 +0\n");
}

TEST_CASE("an O_PATH descriptor stands for its path if no file is needed") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_PATH, 3)).run(on_path(Call::chmod, "/proc/self/fd/3"));
  CHECK(calls.text() == "0 open a #0 flags 10000000\n0 chmod a\n");
}

TEST_CASE("an unnamed file gets its name through its descriptor") {
  RecordedCalls calls;
  SystemCall temporary = open_at("/d", open_flags::kTemporary | O_RDWR, 3);
  temporary.result_path = std::string("/d/#123") + kRemovedMark;
  calls.run(temporary)
      .run(data(Call::write, 3, 10, 10))
      .run(two_paths(Call::link, "/proc/self/fd/3", "/d/name", 0, AT_SYMLINK_FOLLOW))
      .run(in_directory(3, two_paths(Call::link, "", "/d/second", 0, AT_EMPTY_PATH)));
  CHECK(calls.text() ==
        "0 open d #0 flags 20200002 mode 644\n"
        "0 write #0 @0 +10 = 10\n"
        "0 link d/name #0\n"
        "0 link d/second #0\n");
}

TEST_CASE("links created by the trace are followed, the last one if the call follows it") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/real"))
      .run(on_path(Call::mkdir, "/real/x"))
      .run(link_of("/link", "real"))
      .run(link_of("/real/abs", "/other/file"));
  calls.text();
  calls.run(on_path(Call::stat, "/link/x"))
      .run(on_path(Call::stat, "/link"))
      .run(on_path(Call::stat, "/link", 0, AT_SYMLINK_NOFOLLOW))
      .run(on_path(Call::stat, "/link/abs"))
      .run(on_path(Call::stat, "/link/../up"))
      .run(on_path(Call::readlink, "/link/abs"))
      .run(open_at("/link/abs", O_RDONLY | open_flags::kNoFollow, -ELOOP))
      .run(on_path(Call::unlink, "/link"))
      .run(on_path(Call::stat, "/link", -ENOENT));
  CHECK(calls.text() ==
        "0 stat real/x +0\n"
        "0 stat real +0\n"
        "0 stat link +0\n"
        "0 stat other/file +0\n"
        "0 stat up +0\n"
        "0 readlink real/abs ''\n"
        "0 open real/abs flags 400000 = -40\n"
        "0 unlink link\n"
        "0 stat link +0 = -2\n");
}

TEST_CASE("circular links are followed a limited number of times") {
  RecordedCalls calls;
  calls.run(link_of("/a", "b/x")).run(link_of("/b", "a/y"));
  calls.text();
  calls.run(on_path(Call::stat, "/a/z", -ELOOP));
  CHECK(calls.operations.size() == 1);
}

TEST_CASE("readlink reveals a link") {
  RecordedCalls calls;
  SystemCall readlink = on_path(Call::readlink, "/run", 8);
  readlink.text = "var/run";
  calls.run(readlink).run(on_path(Call::stat, "/run/x"));
  CHECK(calls.text() == "0 readlink run 'var/run'\n0 stat var/run/x +0\n");
}

TEST_CASE("a file at another path than its name reveals a link") {
  RecordedCalls calls;
  calls.run(opened_as("/lib/x/y.so", "/usr/lib/x/y.so", 3)).run(on_path(Call::stat, "/lib/z"));
  CHECK(calls.text() == "0 open usr/lib/x/y.so #0\n0 stat usr/lib/z +0\n");
  calls.run(opened_as("/p/current/cfg", "/p/releases/5/cfg", 4))
      .run(on_path(Call::stat, "/p/current/x"));
  CHECK(calls.text() == "0 open p/releases/5/cfg #1\n0 stat p/releases/5/x +0\n");
}

TEST_CASE("a file with another name and directory is itself a link") {
  RecordedCalls calls;
  calls.run(opened_as("/usr/lib/libz.so.1", "/usr/lib/libz.so.1.2.13", 3))
      .run(opened_as("/etc/alternatives/editor", "/usr/bin/editor", 4))
      .run(on_path(Call::stat, "/usr/lib/libz.so.1"))
      .run(on_path(Call::stat, "/etc/alternatives/pager"));
  CHECK(calls.text() ==
        "0 open usr/lib/libz.so.1.2.13 #0\n"
        "0 open usr/bin/editor #1\n"
        "0 stat usr/lib/libz.so.1.2.13 +0\n"
        "0 stat etc/alternatives/pager +0\n");
}

TEST_CASE("a file renamed before the tracer looked is not a link") {
  RecordedCalls calls;
  calls.run(open_at("/tmp/new", O_WRONLY | O_CREAT, 3));
  calls.run(opened_as("/tmp/new", "/tmp/final", 4)).run(on_path(Call::stat, "/tmp/new"));
  CHECK(calls.text() ==
        "0 open tmp/new #0 flags 101 mode 644\n"
        "0 open tmp/new #1\n"
        "0 stat tmp/new +0\n");
}

TEST_CASE("a name unlinked during its open is the given name") {
  RecordedCalls calls;
  calls.run(opened_as("/tmp/x", std::string("/tmp/x") + kRemovedMark, 3));
  CHECK(calls.text() == "0 open tmp/x #0\n");
}

TEST_CASE("open directories and working directories move with the directories above them") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/a"))
      .run(on_path(Call::mkdir, "/a/b"))
      .run(open_at("/a/b", O_RDONLY | open_flags::kDirectory, 3))
      .run(on_path(Call::chdir, "/a/b"))
      .run(on_path(Call::mkdir, "/a/b/x"))
      .run(on_path(Call::mkdir, "/a/y"))
      .run(two_paths(Call::rename, "/a", "/c"));
  calls.text();
  calls.run(in_directory(3, on_path(Call::stat, "x"))).run(on_path(Call::stat, "../y"));
  CHECK(calls.text() == "0 stat c/b/x +0\n0 stat c/y +0\n");
}

TEST_CASE("exchanged directories keep their open files") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/a"))
      .run(on_path(Call::mkdir, "/b"))
      .run(on_path(Call::mkdir, "/a/x"))
      .run(on_path(Call::mkdir, "/b/x"))
      .run(open_at("/a", O_RDONLY | open_flags::kDirectory, 3))
      .run(open_at("/b", O_RDONLY | open_flags::kDirectory, 4))
      .run(two_paths(Call::rename, "/a", "/b", 0, RENAME_EXCHANGE));
  calls.text();
  calls.run(in_directory(3, on_path(Call::stat, "x")))
      .run(in_directory(4, on_path(Call::stat, "x")));
  CHECK(calls.text() == "0 stat b/x +0\n0 stat a/x +0\n");
}

TEST_CASE("the parent of a missing directory exists") {
  RecordedCalls calls;
  calls.run(on_path(Call::stat, "/gone", -ENOENT)).run(on_path(Call::stat, "/gone/../x", -ENOENT));
  calls.run(on_path(Call::stat, "/x"));
  CHECK(calls.text() ==
        "0 stat gone +0 = -2\n"
        "0 stat gone +0 = -2\n"
        "0 stat x +0\n");
}

TEST_CASE("the umask is removed from the mode of created files") {
  RecordedCalls calls;
  SystemCall umask = call_of(Call::umask, 022);
  umask.mode = 077;
  SystemCall mkdir = on_path(Call::mkdir, "/d");
  mkdir.mode = 01777;
  calls.run(open_at("/a", O_CREAT | O_WRONLY, 3))
      .run(umask)
      .run(open_at("/b", O_CREAT, 4))
      .run(mkdir);
  CHECK(calls.text() ==
        "0 open a #0 flags 101 mode 644\n"
        "0 open b #1 flags 100 mode 600\n"
        "0 mkdir d mode 1700\n");
}

TEST_CASE("stat reports only facts not known yet") {
  RecordedCalls calls;
  const std::uint32_t mode = S_IFREG | 0640;
  calls.run(stat_seen(on_path(Call::stat, "/a"), mode, 1000))
      .run(stat_seen(on_path(Call::stat, "/a"), mode, 1000))
      .run(open_at("/a", O_RDONLY, 3))
      .run(stat_seen(on_file(Call::fstat, 3), mode, 1000))
      .run(stat_seen(on_file(Call::fstat, 3), mode, 1000));
  const std::string text = calls.text();
  CHECK(text.starts_with("0 stat a mode 100640 +1000\n"));
  CHECK(text.ends_with("0 stat #0 +0\n"));
}

TEST_CASE("pipes and sockets in the tree are omitted") {
  RecordedCalls calls;
  SystemCall mknod = on_path(Call::mknod, "/fifo");
  mknod.mode = S_IFIFO | 0600;
  calls.run(mknod)
      .run(open_at("/fifo", O_RDONLY, 3))
      .run(data(Call::read, 3, 10, 10))
      .run(stat_seen(on_path(Call::stat, "/socket"), S_IFSOCK | 0700, 0))
      .run(on_path(Call::chmod, "/socket"))
      .run(on_path(Call::unlink, "/fifo"));
  CHECK(calls.text() == "0 mknod fifo mode 10600\n0 unlink fifo loose\n");
}

TEST_CASE("mknod creates a regular file") {
  RecordedCalls calls;
  SystemCall mknod = on_path(Call::mknod, "/a");
  mknod.mode = S_IFREG | 0666;
  calls.run(mknod);
  CHECK(calls.text() == "0 open a #0 flags 301 mode 644\n0 close #0\n");
}

TEST_CASE("calls that lacked permission are not compared, and omitted if they would change names") {
  RecordedCalls calls;
  calls.run(open_at("/secret", O_RDONLY, -EACCES))
      .run(on_path(Call::mkdir, "/no", -EACCES))
      .run(two_paths(Call::rename, "/a", "/mnt/a", -EXDEV))
      .run(on_path(Call::mkdir, "/there", -EEXIST));
  CHECK(calls.text() ==
        "0 open secret = -13 loose\n"
        "0 mkdir there = -17\n");
  CHECK(calls.lost("changes that failed for lack of permission, space or support") == 2);
}

TEST_CASE("attributes are recorded by name, path and descriptor") {
  RecordedCalls calls;
  SystemCall set = on_path(Call::setxattr, "/a", 0, 1 | AT_SYMLINK_NOFOLLOW);
  set.text = "user.x";
  set.length = 5;
  SystemCall get = on_file(Call::getxattr, 3, 5);
  get.text = "user.x";
  get.length = 100;
  SystemCall list = on_path(Call::listxattr, "/a", 7);
  list.length = 100;
  calls.run(open_at("/a", O_RDONLY, 3)).run(set).run(get).run(list);
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 setxattr a flags 1 +5 'user.x'\n"
        "0 getxattr #0 +100 'user.x'\n"
        "0 listxattr a +100\n");
}

TEST_CASE("names that are too long are shortened or omitted") {
  RecordedCalls calls;
  const std::string name(300, 'x');
  calls.run(on_path(Call::stat, "/" + name, -ENAMETOOLONG));
  CHECK(calls.text().empty());
  calls.run(on_path(Call::stat, "/d/" + name, -ENOENT));
  REQUIRE(calls.operations.size() == 1);
  CHECK(calls.tables.paths.node(calls.operations[0].operation.path).name.size() <= 255);
  CHECK(calls.tables.paths.relative(calls.operations[0].operation.path).starts_with("d/xxx"));
}

TEST_CASE("a file that appears without a creating call is created before its use") {
  RecordedCalls calls;
  calls.run(on_path(Call::stat, "/run/socket", -ENOENT))
      .run(on_path(Call::unlink, "/run/socket"))
      .run(on_path(Call::mkdir, "/d"))
      .run(stat_seen(on_path(Call::stat, "/d/sub/f"), S_IFREG | 0600, 77))
      .run(on_path(Call::chdir, "/d/other"));
  CHECK(calls.text() ==
        "0 stat run/socket +0 = -2\n"
        "0 open run/socket #0 flags 301 mode 755\n"
        "0 close #0\n"
        "0 unlink run/socket\n"
        "0 mkdir d\n"
        "0 mkdir d/sub mode 755\n"
        "0 open d/sub/f #0 flags 301 mode 600\n"
        "0 close #0\n"
        "0 truncate d/sub/f @77\n"
        "0 stat d/sub/f mode 100600 +77\n"
        "0 mkdir d/other mode 755\n"
        "0 chdir d/other\n");
  CHECK(calls.approximated("files that appear without a call that creates them") == 3);
}

TEST_CASE("a result behind a link with unknown target is not compared") {
  RecordedCalls calls;
  calls.run(stat_seen(on_path(Call::stat, "/d/link", 0, AT_SYMLINK_NOFOLLOW), S_IFLNK | 0777, 3))
      .run(open_at("/d/link", O_CREAT | O_WRONLY, -EISDIR));
  CHECK(calls.text() ==
        "0 stat d/link mode 120777 +0\n"
        "0 open d/link flags 101 mode 644 = -21 loose\n");
}

TEST_CASE("a pipe in the tree stays one when the tracer names it") {
  RecordedCalls calls;
  SystemCall mknod = on_path(Call::mknod, "/fifo");
  mknod.mode = S_IFIFO | 0600;
  SystemCall read = data(Call::read, 3, 10, 10);
  read.fd_path = "/fifo";
  calls.run(mknod).run(opened_as("/fifo", "/fifo", 3)).run(read);
  CHECK(calls.text() == "0 mknod fifo mode 10600\n");
}

TEST_CASE("a file opened through a link with unknown target gets a path") {
  RecordedCalls calls;
  calls.run(stat_seen(on_path(Call::stat, "/d/link", 0, AT_SYMLINK_NOFOLLOW), S_IFLNK | 0777, 3))
      .run(open_at("/d/link", O_CREAT | O_WRONLY, 3))
      .run(on_path(Call::stat, "/d/link"));
  CHECK(calls.text() ==
        "0 stat d/link mode 120777 +0\n"
        "0 open d/link.filereel-unknown #0 flags 101 mode 644\n"
        "0 stat d/link.filereel-unknown +0\n");
  CHECK(calls.approximated("symbolic links with unknown targets") == 1);
}

TEST_CASE("an empty name that fails with ENOENT is not a call on the descriptor") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  calls.text();
  calls.run(in_directory(3, on_path(Call::stat, "", -ENOENT)))
      .run(in_directory(3, on_path(Call::rmdir, "", -ENOENT)));
  CHECK(calls.text().empty());
}

TEST_CASE("calls that fail because of a trailing slash are not expected to fail without it") {
  RecordedCalls calls;
  calls.run(open_at("/z/y", O_RDONLY, 3)).run(close_of(3));
  calls.text();
  calls.run(on_path(Call::stat, "/z/y/", -ENOTDIR))
      .run(on_path(Call::stat, "/z/no/", -ENOENT))
      .run(on_path(Call::mkdir, "/z/", -EEXIST));
  CHECK(calls.text() ==
        "0 stat z/y +0 = -20 loose\n"
        "0 stat z/no +0 = -2\n"
        "0 mkdir z = -17\n");
  // Without the slash these would change something.
  calls.run(on_path(Call::unlink, "/z/y/", -ENOTDIR))
      .run(open_at("/z/new/", O_CREAT | O_WRONLY, -EISDIR))
      .run(two_paths(Call::rename, "/z/y", "/z/x/", -ENOTDIR));
  CHECK(calls.text().empty());
  CHECK(calls.lost("changes that failed because of a trailing slash") == 3);
}

TEST_CASE("calls that fail because of the name . or .. are omitted") {
  RecordedCalls calls("/w");
  calls.run(on_path(Call::rmdir, "/w/empty/.", -EINVAL))
      .run(on_path(Call::rmdir, "a/..//", -ENOTEMPTY))
      .run(on_path(Call::rmdir, "a..", -ENOTEMPTY));
  CHECK(calls.text() == "0 rmdir w/a.. = -39\n");
  CHECK(calls.lost("changes that failed because of the name . or ..") == 2);
}

TEST_CASE("a link with a trailing slash is followed, except by calls that remove it") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/d")).run(link_of("/l", "d"));
  calls.text();
  calls.run(on_path(Call::stat, "/l/", 0, AT_SYMLINK_NOFOLLOW))
      .run(on_path(Call::rmdir, "/l/", -ENOTDIR));
  CHECK(calls.text() == "0 stat d +0\n0 rmdir l = -20\n");
}

TEST_CASE("links to themselves fail only if they are followed") {
  RecordedCalls calls;
  calls.run(link_of("/a", "a"));
  calls.text();
  calls.run(on_path(Call::stat, "/a/", -ELOOP, AT_SYMLINK_NOFOLLOW))
      .run(on_path(Call::stat, "/a/x", -ELOOP))
      .run(open_at("/a", O_RDONLY | open_flags::kNoFollow, -ELOOP));
  CHECK(calls.text() ==
        "0 stat a +0 = -40 loose\n"
        "0 stat a/x +0 = -40 loose\n"
        "0 open a flags 400000 = -40\n");
}

TEST_CASE("paths can start with an open file in /proc") {
  RecordedCalls calls("/w");
  calls.run(open_at("/d", O_RDONLY | open_flags::kDirectory, 3));
  calls.text();
  calls.run(open_at("/proc/self/fd/3/sub/y", O_RDONLY, 4))
      .run(on_path(Call::stat, "/dev/fd/3/x"))
      .run(on_path(Call::stat, "/proc/self/cwd/x"))
      .run(on_path(Call::readlink, "/proc/self/fd/3"))
      .run(on_path(Call::chdir, "/proc/self/fd/3"))
      .run(on_path(Call::stat, "z"));
  CHECK(calls.text() ==
        "0 open d/sub/y #1\n"
        "0 stat d/x +0\n"
        "0 stat w/x +0\n"
        "0 chdir d\n"
        "0 stat d/z +0\n");
}

TEST_CASE("a file reopened through its descriptor has its current name") {
  RecordedCalls calls;
  calls.run(open_at("/old", O_PATH, 3)).run(two_paths(Call::rename, "/old", "/new"));
  calls.text();
  calls.run(open_at("/proc/self/fd/3", O_RDWR, 4)).run(on_path(Call::stat, "/proc/self/fd/3"));
  CHECK(calls.text() == "0 open new #1 flags 2\n0 stat new +0\n");
}

TEST_CASE("openat2 can use a directory as the root") {
  RecordedCalls calls;
  SystemCall open = in_directory(3, open_at("/etc/../../passwd", O_RDONLY, 4));
  open.resolve = RESOLVE_IN_ROOT;
  calls.run(open_at("/d", O_RDONLY | open_flags::kDirectory, 3)).run(open);
  CHECK(calls.text() == "0 open d #0 flags 200000\n0 open d/passwd #1\n");
}

TEST_CASE("files deeper than any path are lost") {
  RecordedCalls calls;
  for (int i = 0; i < 5000; ++i) {
    calls.run(on_path(Call::mkdir, "x")).run(on_path(Call::chdir, "x"));
  }
  CHECK(calls.operations.size() == 2 * 2048);
  CHECK(calls.lost("calls with paths that are too long") == 2 * (5000 - 2048));
}

TEST_CASE("a call uses the working directory of its time, later calls the last one") {
  RecordedCalls calls("/w");
  calls.run(fork_of(200, CLONE_THREAD | CLONE_FS | CLONE_FILES | CLONE_VM));
  SystemCall rename = two_paths(Call::rename, "a", "b");
  rename.dir_path = rename.dir2_path = "/w";
  rename.enter_ns = calls.now_ns++;
  calls.run(by(200, on_path(Call::chdir, "/v")));
  rename.exit_ns = calls.now_ns++;
  calls.run(rename).run(on_path(Call::stat, "x"));
  CHECK(calls.text() ==
        "0 fork second 1\n"
        "1 chdir v\n"
        "0 rename w/a -> w/b\n"
        "0 stat v/x +0\n");
}

TEST_CASE("a working directory seen by the tracer stays valid until it is changed") {
  RecordedCalls calls("/w");
  SystemCall seen = on_path(Call::stat, "x");  // after a change that was missed
  seen.dir_path = "/u";
  calls.run(seen).run(on_path(Call::stat, "y"));
  CHECK(calls.text() == "0 stat u/x +0\n0 stat u/y +0\n");
}

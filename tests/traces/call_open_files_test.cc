// Open files that the tracer knows by the kernel's numbers.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"
#include "traces/open_flags.h"

using namespace filereel;

namespace {

SystemCall open_as(std::uint64_t number, const std::string& path, int flags, std::int64_t result) {
  SystemCall call = open_at(path, flags, result);
  call.result_file = number;
  return call;
}

SystemCall of(std::uint64_t number, SystemCall call, const std::string& path = {}) {
  call.file = number;
  call.fd_path = path;
  return call;
}

SystemCall submit_of(int fd, std::uint64_t offset, std::uint64_t request) {
  SystemCall call = data_at(Call::submit, fd, offset, 512, 0);
  call.requested = Call::read;
  call.request = request;
  return call;
}

SystemCall complete_of(std::uint64_t request) {
  SystemCall call = call_of(Call::complete, 512);
  call.request = request;
  return call;
}

}  // namespace

TEST_CASE("a descriptor received from another process is the file with its kernel number") {
  RecordedCalls calls;
  calls.run(open_as(70, "/a", O_RDWR, 3))
      .run(by(200, of(70, data(Call::read, 9, 10, 10), "/a")))
      .run(close_of(3))
      .run(by(200, data(Call::read, 9, 10, 10)));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "1 read #0 @0 +10 = 10\n"
        "1 read #0 @10 +10 = 10\n");
  calls.run(by(200, close_of(9)));
  CHECK(calls.text() == "1 close #0\n");
}

TEST_CASE("a descriptor taken from another process shares its position") {
  RecordedCalls calls;
  SystemCall taken = on_file(Call::new_descriptor, SystemCall::kNone, 5);
  taken.result_file = 70;
  taken.result_path = "/a";
  calls.run(open_as(70, "/a", O_RDWR, 3))
      .run(data(Call::read, 3, 10, 10))
      .run(by(200, taken))
      .run(by(200, data(Call::read, 5, 10, 10)));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 read #0 @0 +10 = 10\n"
        "1 read #0 @10 +10 = 10\n");
}

TEST_CASE("an unknown kernel number denotes another file than the one open at the descriptor") {
  RecordedCalls calls;
  calls.run(open_as(70, "/a", O_RDWR, 3))
      .run(of(71, data(Call::read, 3, 10, 10), "/b"))
      .run(of(71, data(Call::read, 3, 10, 10), "/b"));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 open b #1 loose\n"
        "0 read #1 @0 +10 = 10 loose\n"
        "0 close #0\n"
        "0 read #1 @10 +10 = 10 loose\n");
}

TEST_CASE("duplicates from before the trace are one file by their kernel number") {
  RecordedCalls calls;
  calls.run(of(70, data(Call::read, 3, 10, 10), "/a"))
      .run(of(70, data(Call::read, 4, 10, 10), "/a"));
  CHECK(calls.text() ==
        "0 open a #0 loose\n"
        "0 read #0 @0 +10 = 10 loose\n"
        "0 read #0 @10 +10 = 10 loose\n");
}

TEST_CASE("the kernel number of a closed file can be reused") {
  RecordedCalls calls;
  calls.run(open_as(70, "/a", O_RDONLY, 3)).run(close_of(3)).run(open_as(70, "/b", O_RDONLY, 4));
  calls.run(of(70, data(Call::read, 4, 10, 10)));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 close #0\n"
        "0 open b #0\n"
        "0 read #0 @0 +10 = 10\n");
  // Its close was missed.
  calls.run(open_as(70, "/c", O_RDONLY, 5)).run(of(70, data(Call::read, 5, 10, 10)));
  calls.run(on_file(Call::new_descriptor, SystemCall::kNone, 6));
  CHECK(calls.text() == "0 open c #1\n0 read #1 @0 +10 = 10\n");
}

TEST_CASE("a read that started before its descriptor was reused refers to the earlier file") {
  RecordedCalls calls;
  calls.run(fork_of(200, CLONE_THREAD | CLONE_FILES | CLONE_VM))
      .run(open_as(70, "/a", O_RDONLY, 3));
  SystemCall read = of(70, data(Call::read, 3, 10, 0), "/a");
  read.enter_ns = calls.now_ns++;
  calls.run(by(200, close_of(3))).run(by(200, open_as(71, "/b", O_RDONLY, 3)));
  read.result = 10;
  read.exit_ns = calls.now_ns++;
  calls.text();
  calls.run(read).run(of(71, data(Call::read, 3, 10, 10)));
  CHECK(calls.text() ==
        "0 open a #1 loose\n"
        "0 read #1 @0 +10 = 10 loose\n"
        "0 close #1\n"
        "0 read #0 @0 +10 = 10\n");
}

TEST_CASE("a socket at a file's former descriptor is not a file") {
  RecordedCalls calls;
  calls.run(open_as(70, "/a", O_RDONLY, 3))
      .run(of(71, data(Call::read, 3, 10, 10), "socket:[7]"))
      .run(of(71, data(Call::read, 3, 10, 10)));
  CHECK(calls.text() == "0 open a #0\n0 close #0\n");
}

TEST_CASE("requests on registered files find them by kernel number") {
  RecordedCalls calls;
  calls.run(open_as(70, "/a", O_RDWR, 3))
      .run(of(70, submit_of(SystemCall::kNone, 0, 1)))
      .run(complete_of(1))
      .run(close_of(3))
      .run(of(70, submit_of(SystemCall::kNone, 512, 2)))
      .run(complete_of(2));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 read #0 @0 +512 = 512 asynchronous\n"
        "0 reap +0\n"
        "0 read #0 @512 +512 = 512 asynchronous\n");
  calls.run(call_of(Call::exit_group, 0));
  CHECK(calls.text() == "0 reap +0\n0 close #0\n0 exit\n");
}

TEST_CASE("a registered file closed before is found by its path") {
  RecordedCalls calls;
  calls.run(open_as(70, "/a", O_RDWR, 3)).run(close_of(3));
  calls.text();
  calls.run(of(70, submit_of(SystemCall::kNone, 0, 1), "/a")).run(complete_of(1));
  calls.run(of(70, submit_of(SystemCall::kNone, 512, 2))).run(complete_of(2));
  CHECK(calls.text() ==
        "0 open a #0 loose\n"
        "0 read #0 @0 +512 = 512 asynchronous\n"
        "0 reap +0\n"
        "0 read #0 @512 +512 = 512 asynchronous\n");
  // Without either nothing is known of it.
  calls.run(of(99, submit_of(SystemCall::kNone, 0, 3))).run(complete_of(3));
  calls.run(on_path(Call::exec, "/bin/true"));
  CHECK(calls.text() == "0 reap +0\n0 exec bin/true\n0 close #0\n");
}

TEST_CASE("a request keeps its file while its descriptor is closed") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR, 3)).run(submit_of(3, 0, 1));
  calls.run(by(200, on_path(Call::stat, "/x")));
  CHECK(calls.text() == "0 open a #0 flags 2\n1 stat x +0\n");
  calls.run(close_of(3)).run(complete_of(1));
  CHECK(calls.text() ==
        "0 read #0 @0 +512 = 512 asynchronous\n"
        "0 close #0\n");
}

TEST_CASE("kernel numbers determine the base of a relative name") {
  RecordedCalls calls;
  SystemCall make = on_path(Call::mkdir, "x");
  make.dir = 8;
  make.dir_file = 70;
  calls.run(open_as(70, "/d", open_flags::kDirectory, 3)).run(by(200, make));
  CHECK(calls.text() == "0 open d #0 flags 200000\n1 mkdir d/x\n");
}

TEST_CASE("a call goes on with the files that it started with") {
  RecordedCalls calls;
  const auto numbered = [](SystemCall call, std::uint64_t file, std::uint64_t file2) {
    call.file = file;
    call.file2 = file2;
    return call;
  };
  SystemCall pipe = on_file(Call::new_pair, 5);
  pipe.fd2 = 6;
  SystemCall splice = on_file(Call::splice, 5);
  splice.fd2 = 3;
  splice.offset2 = 0;
  splice.length = 1000;
  SystemCall dup = on_file(Call::dup, 4, 3);
  dup.fd2 = 3;
  SUBCASE("numbers of the kernel") {
    calls.run(open_as(70, "/a", O_RDWR, 3)).run(open_as(71, "/b", O_RDWR, 4));
    pipe = numbered(pipe, 80, 81);
    splice = numbered(splice, 80, 70);
    splice.fd_path = "anon_inode:";
    dup = numbered(dup, 71, 0);
    dup.result_file = 71;
  }
  SUBCASE("descriptors only") {
    calls.run(open_at("/a", O_RDWR, 3)).run(open_at("/b", O_RDWR, 4));
  }
  calls.run(pipe).run(fork_of(200, CLONE_THREAD | CLONE_VM | CLONE_FILES | CLONE_FS));
  calls.text();
  const SystemCall begun = calls.begin(by(200, splice));
  calls.run(dup);
  calls.end(begun, 777);
  CHECK(calls.text() ==
        "1 write #0 @0 +1000 = 777\n"
        "1 close #0\n");
}

TEST_CASE("a descriptor that was none of a file when a call started is none for this call") {
  RecordedCalls calls;
  SystemCall pipe = on_file(Call::new_pair, 5);
  pipe.fd2 = 6;
  SystemCall dup = on_file(Call::dup, 3, 5);
  dup.fd2 = 5;
  SystemCall read = data(Call::read, 5, 50, 0);
  SUBCASE("with its name") {
    read.fd_path = "pipe:[7]";
  }
  SUBCASE("without") {}
  calls.run(open_at("/a", O_RDWR, 3))
      .run(pipe)
      .run(fork_of(200, CLONE_THREAD | CLONE_VM | CLONE_FILES | CLONE_FS));
  calls.text();
  const SystemCall begun = calls.begin(by(200, read));
  calls.run(dup);
  calls.end(begun, 5);
  CHECK(calls.text().empty());
}

TEST_CASE("positions seen by the tracer replace unknown ones") {
  RecordedCalls calls;
  const auto at = [](std::uint64_t position, SystemCall call) {
    call.position = position;
    return call;
  };
  calls.run(at(510, of(70, data(Call::read, 3, 10, 10), "/a")))
      .run(at(600, data(Call::read, 3, 10, 10)))  // somebody else moved it
      .run(data(Call::read, 3, 10, 10));
  CHECK(calls.text() ==
        "0 open a #0 loose\n"
        "0 read #0 @500 +10 = 10\n"
        "0 read #0 @590 +10 = 10\n"
        "0 read #0 @600 +10 = 10\n");
  calls.run(open_at("/log", O_WRONLY | O_APPEND, 4))
      .run(at(1010, data(Call::write, 4, 10, 10)))
      .run(at(2010, data(Call::write, 4, 10, 10)))      // another process appended too
      .run(at(2010, data_at(Call::write, 4, 0, 5, 5)))  // moves no position
      .run(at(3, data(Call::write, 4, 10, 10)));        // nonsense
  CHECK(calls.text() ==
        "0 open log #1 flags 2001\n"
        "0 write #1 @1000 +10 = 10\n"
        "0 write #1 @2000 +10 = 10\n"
        "0 write #1 @2010 +5 = 5\n"
        "0 write #1 @2015 +10 = 10\n");
  CHECK(calls.approximated("positions of files opened before the trace assumed to be 0") == 0);
  const TraceTrees trees = calls.builder.trees();
  REQUIRE(trees.initial.entries.size() == 2);
  CHECK(trees.initial.entries[1].size == 1000);
  // What the trace opened itself it follows itself.
  calls.run(open_at("/b", O_RDONLY, 5)).run(at(70, data(Call::read, 5, 10, 10)));
  CHECK(calls.text() == "0 open b #2\n0 read #2 @0 +10 = 10\n");
}

TEST_CASE("a file whose directory was removed is still the open one") {
  RecordedCalls calls;
  SystemCall stat = on_path(Call::stat, "", 0, AT_EMPTY_PATH);
  stat.dir = 3;
  calls.run(on_path(Call::mkdir, "/d"))
      .run(open_at("/d/a", O_RDWR | O_CREAT, 3))
      .run(on_path(Call::unlink, "/d/a"))
      .run(on_path(Call::rmdir, "/d"))
      .run(stat);
  CHECK(calls.text() ==
        "0 mkdir d\n"
        "0 open d/a #0 flags 102 mode 644\n"
        "0 unlink d/a\n"
        "0 rmdir d\n"
        "0 stat #0 +0\n");
}

TEST_CASE("reopening an unlinked file yields the open one") {
  RecordedCalls calls;
  SystemCall open = open_as(70, "/d/a", O_RDWR | O_CREAT, 3);
  SystemCall again = open_as(71, "/proc/self/fd/3", O_RDONLY, 4);
  again.result_path = std::string("/d/a") + kRemovedMark;
  open.stat = again.stat = SeenStat{.mode = S_IFREG | 0644, .size = 0, .device = 1, .inode = 5};
  calls.run(open).run(data(Call::write, 3, 10, 10)).run(on_path(Call::unlink, "/d/a"));
  SUBCASE("by its descriptor") {}
  SUBCASE("by that of another process") {
    again.path = "/proc/77/fd/9";
  }
  SUBCASE("by a link to it") {
    again.path = "/dev/stdin";
  }
  SUBCASE("by its former path, which is all that the tracer tells") {
    again.path = again.result_path = "/d/a";
  }
  calls.text();
  calls.run(again).run(data(Call::read, 4, 5, 5)).run(close_of(3));
  // Each has its own position, and the last to be closed closes.
  CHECK(calls.text() == "0 read #0 @0 +5 = 5\n");
  calls.run(of(71, data(Call::read, 4, 5, 5))).run(close_of(4));
  CHECK(calls.text() ==
        "0 read #0 @5 +5 = 5\n"
        "0 close #0\n");
}

TEST_CASE("reopening an unlinked file with O_TRUNC truncates it") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR | O_CREAT, 3)).run(on_path(Call::unlink, "/a"));
  calls.text();
  calls.run(open_at("/proc/self/fd/3", O_WRONLY | O_TRUNC, 4));
  CHECK(calls.text() == "0 truncate #0 @0\n");
}

TEST_CASE("reopening an unlinked file without a suitable open file is lost") {
  RecordedCalls calls;
  SystemCall elsewhere = open_at("/proc/77/fd/9", O_RDWR, 4);
  elsewhere.result_path = std::string("/b") + kRemovedMark;
  calls.run(open_at("/a", O_RDONLY | O_CREAT, 3)).run(on_path(Call::unlink, "/a"));
  calls.text();
  SUBCASE("it is not known") {
    calls.run(elsewhere);
  }
  SUBCASE("it is not open for writing") {
    calls.run(open_at("/proc/self/fd/3", O_RDWR, 4));
  }
  calls.run(data(Call::write, 4, 5, 5)).run(close_of(4));
  CHECK(calls.text().empty());
  CHECK(calls.lost("opens of unlinked files without a suitable open file") == 1);
}

// Descriptors, descriptions and positions.
#include "traces/calls/call_resolver.h"

#include <cerrno>

#include <doctest/doctest.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/traces/recorded_calls.h"
#include "traces/open_flags.h"

using namespace filereel;

TEST_CASE("reads and writes use and move the position of the open file") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR, 3))
      .run(data(Call::read, 3, 100, 60))
      .run(data(Call::write, 3, 10, 10))
      .run(data_at(Call::read, 3, 5, 10, 10))
      .run(data(Call::read, 3, 100, 0))
      .run(close_of(3));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 read #0 @0 +100 = 60\n"
        "0 write #0 @60 +10 = 10\n"
        "0 read #0 @5 +10 = 10\n"
        "0 read #0 @70 +100\n"
        "0 close #0\n");
}

TEST_CASE("a seek moves the position and is not an operation") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(on_file(Call::seek, 3, 4096, SEEK_END))
      .run(data(Call::read, 3, 8, 8));
  CHECK(calls.text() == "0 open a #0\n0 read #0 @4096 +8 = 8\n");
}

TEST_CASE("a seek for data or a hole is an operation and moves the position") {
  RecordedCalls calls;
  SystemCall seek = on_file(Call::seek, 3, 8192, SEEK_DATA);
  seek.offset = 100;
  SystemCall in_vain = on_file(Call::seek, 3, -ENXIO, SEEK_HOLE);
  in_vain.offset = 9000;
  calls.run(open_at("/a", O_RDONLY, 3)).run(seek).run(in_vain).run(data(Call::read, 3, 8, 8));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 seek #0 flags 3 @100\n"
        "0 seek #0 flags 4 @9000 = -6\n"
        "0 read #0 @8192 +8 = 8\n");
}

TEST_CASE("appending writes carry the offset of the end of the file") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_WRONLY | O_CREAT | O_APPEND, 3))
      .run(open_at("/a", O_WRONLY, 4))
      .run(data(Call::write, 3, 10, 10))
      .run(data(Call::write, 4, 30, 30))
      .run(data_at(Call::write, 3, 0, 5, 5))
      .run(data(Call::write, 3, 1, 1));
  CHECK(calls.text() ==
        "0 open a #0 flags 2101 mode 644\n"
        "0 open a #1 flags 1\n"
        "0 write #0 @0 +10 = 10\n"
        "0 write #1 @0 +30 = 30\n"
        "0 write #0 @30 +5 = 5\n"
        "0 write #0 @35 +1 = 1\n");
}

TEST_CASE("status flags set later change the offsets of writes") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_WRONLY | O_CREAT, 3))
      .run(data(Call::write, 3, 10, 10))
      .run(on_file(Call::seek, 3, 0, SEEK_SET))
      .run(on_file(Call::set_flags, 3, 0, O_APPEND | O_WRONLY))
      .run(data(Call::write, 3, 4, 4));
  CHECK(calls.text() ==
        "0 open a #0 flags 101 mode 644\n"
        "0 write #0 @0 +10 = 10\n"
        "0 set_flags #0 flags 2000\n"
        "0 write #0 @10 +4 = 4\n");
}

TEST_CASE("duplicates share a position, and only the last close is one") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(dup_of(3, 7))
      .run(data(Call::read, 3, 10, 10))
      .run(close_of(3))
      .run(data(Call::read, 7, 10, 10));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 read #0 @0 +10 = 10\n"
        "0 read #0 @10 +10 = 10\n");
  calls.run(close_of(7));
  CHECK(calls.text() == "0 close #0\n");
}

TEST_CASE("closing all duplicates at once is one close") {
  RecordedCalls calls;
  SystemCall range = on_file(Call::close_range, 3);
  range.fd2 = -1;
  calls.run(open_at("/a", O_RDONLY, 3)).run(dup_of(3, 4)).run(range);
  calls.run(open_at("/b", O_RDONLY, 3)).run(dup_of(3, 4)).run(call_of(Call::exit_group, 0));
  CHECK(calls.text() == "0 open a #0\n0 close #0\n0 open b #0\n0 close #0\n0 exit\n");
}

TEST_CASE("dup2 closes the number's previous file") {
  RecordedCalls calls;
  SystemCall dup2 = dup_of(3, 4);
  dup2.fd2 = 4;
  calls.run(open_at("/a", O_RDONLY, 3)).run(open_at("/b", O_RDONLY, 4)).run(dup2);
  CHECK(calls.text() == "0 open a #0\n0 open b #1\n0 close #1\n");
  calls.run(dup_of(3, 3)).run(close_of(3));
  CHECK(calls.text().empty());
}

TEST_CASE("closing a range closes all files in it") {
  RecordedCalls calls;
  SystemCall range = on_file(Call::close_range, 4);
  range.fd2 = -1;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(open_at("/b", O_RDONLY, 4))
      .run(open_at("/c", O_RDONLY, 900));
  calls.text();
  calls.run(range);
  CHECK(calls.text() == "0 close #1\n0 close #2\n");
  calls.run(data(Call::read, 3, 1, 1));
  CHECK(calls.text() == "0 read #0 @0 +1 = 1\n");
}

TEST_CASE("a number reused before its close returns belongs to the new file") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  SystemCall close = close_of(3);
  close.enter_ns = calls.now_ns++;
  calls.run(by(101, open_at("/x", O_RDONLY, -ENOENT)));
  SystemCall reopen = open_at("/b", O_RDONLY, 3);
  reopen.enter_ns = calls.now_ns++;
  reopen.exit_ns = calls.now_ns++;
  calls.resolver.returned(reopen);
  close.exit_ns = calls.now_ns++;
  calls.resolver.returned(close);
  calls.run(data(Call::read, 3, 4, 4));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "1 open x = -2\n"
        "0 close #0\n"
        "0 open b #0\n"
        "0 read #0 @0 +4 = 4\n");
}

TEST_CASE("a close that returns late does not close the number's new file") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3)).run(fork_of(101, CLONE_FILES));
  const SystemCall late = calls.begin(by(101, close_of(3)));
  SUBCASE("opened") {
    calls.run(open_at("/b", O_RDONLY, 3)).run(close_of(3)).run(open_at("/c", O_RDONLY, 3));
  }
  SUBCASE("duplicated") {
    calls.run(open_at("/b", O_RDONLY, 4)).run(dup_of(4, 3)).run(close_of(4)).run(close_of(3));
    calls.run(open_at("/c", O_RDONLY, 3));
  }
  calls.text();
  calls.end(late, 0);
  CHECK(calls.text().empty());
  calls.run(data(Call::read, 3, 4, 4)).run(close_of(3));
  CHECK(calls.text() ==
        "0 read #0 @0 +4 = 4\n"
        "0 close #0\n");
}

TEST_CASE("two closes that return late each close their own file") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  calls.run(fork_of(101, CLONE_FILES)).run(fork_of(102, CLONE_FILES));
  const SystemCall first = calls.begin(by(101, close_of(3)));
  calls.run(open_at("/b", O_RDONLY, 3));
  const SystemCall second = calls.begin(by(102, close_of(3)));
  calls.run(open_at("/c", O_RDONLY, 3));
  calls.text();
  SUBCASE("in their order") {
    calls.end(first, 0);
    calls.end(second, 0);
  }
  SUBCASE("the other way round") {
    calls.end(second, 0);
    calls.end(first, 0);
  }
  CHECK(calls.text().empty());
  calls.run(close_of(3));
  CHECK(calls.text() == "0 close #0\n");
}

TEST_CASE("a file that is closed while it is read is closed after the read") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3)).run(fork_of(101, 0x10f00));
  const SystemCall read = calls.begin(by(101, data(Call::read, 3, 10, 0)));
  calls.run(close_of(3));
  calls.end(read, 10);
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 fork second 1\n"
        "1 read #0 @0 +10 = 10\n"
        "1 close #0\n");
}

TEST_CASE("calls on pipes, sockets and devices are omitted, their numbers kept") {
  RecordedCalls calls;
  SystemCall pipe = on_file(Call::new_pair, 3);
  pipe.fd2 = 4;
  SystemCall tty = open_at("/dev/tty", O_RDWR, 6);
  tty.result_path = "/dev/pts/1";
  calls.run(pipe)
      .run(on_file(Call::new_descriptor, SystemCall::kNone, 5))
      .run(tty)
      .run(open_at("/proc/self/stat", O_RDONLY, 7));
  for (int fd = 0; fd <= 7; ++fd) {
    calls.run(data(Call::read, fd, 10, 10)).run(data(Call::write, fd, 10, 10)).run(close_of(fd));
  }
  CHECK(calls.text().empty());
  CHECK(calls.approximated("calls on /proc, /sys and /dev omitted") == 2);
}

TEST_CASE("files in /dev/shm are files") {
  RecordedCalls calls;
  SystemCall open = open_at("/dev/shm/x", O_RDWR | O_CREAT, 3);
  open.result_path = "/dev/shm/x";
  calls.run(open).run(data(Call::write, 3, 1, 1));
  CHECK(calls.text() == "0 open dev/shm/x #0 flags 102 mode 644\n0 write #0 @0 +1 = 1\n");
}

TEST_CASE("a descriptor from before the trace is opened by its path when it is used") {
  RecordedCalls calls;
  SystemCall read = data(Call::read, 5, 10, 10);
  read.fd_path = "/data/in";
  SystemCall write = data(Call::write, 6, 10, 10);
  write.fd_path = "/data/out";
  SystemCall list = data(Call::getdents, 7, 1000, 48);
  list.fd_path = "/data";
  SystemCall socket = data(Call::read, 8, 10, 10);
  socket.fd_path = "socket:[123]";
  calls.run(read).run(write).run(list).run(socket).run(data(Call::read, 0, 10, 10));
  CHECK(calls.text() ==
        "0 open data/in #0 loose\n"
        "0 read #0 @0 +10 = 10 loose\n"
        "0 open data/out #1 flags 2 loose\n"
        "0 write #1 @0 +10 = 10\n"
        "0 open data #2 flags 200000 loose\n"
        "0 getdents #2 @0 +1000\n");
  CHECK(calls.approximated("positions of files opened before the trace assumed to be 0") == 2);
}

TEST_CASE("reads at a guessed position are not compared until the position is known") {
  RecordedCalls calls;
  SystemCall read = data(Call::read, 5, 10, 4);
  read.fd_path = "/a";
  calls.run(read)
      .run(data_at(Call::read, 5, 100, 10, 10))
      .run(on_file(Call::seek, 5, 40, SEEK_CUR))
      .run(data(Call::read, 5, 10, 10));
  CHECK(calls.text() ==
        "0 open a #0 loose\n"
        "0 read #0 @0 +10 = 4 loose\n"
        "0 read #0 @100 +10 = 10\n"
        "0 read #0 @40 +10 = 10\n");
}

TEST_CASE("a descriptor from before the trace that is written to was open for writing") {
  RecordedCalls calls;
  SystemCall read = data_at(Call::read, 5, 0, 10, 10);
  read.fd_path = "/a";
  calls.run(read).run(data_at(Call::write, 5, 0, 4, 4));
  CHECK(calls.text() ==
        "0 open a #0 loose\n"
        "0 read #0 @0 +10 = 10\n"
        "0 close #0\n"
        "0 open a #0 flags 2 loose\n"
        "0 write #0 @0 +4 = 4\n");
}

TEST_CASE("an unknown descriptor is a file with a generated name") {
  RecordedCalls calls;
  calls.run(data(Call::write, 9, 10, 10)).run(close_of(9));
  CHECK(calls.text() ==
        "0 open filereel-unknown/100-9 #0 flags 2 loose\n"
        "0 write #0 @0 +10 = 10\n"
        "0 close #0\n");
  CHECK(calls.approximated("descriptors not opened in the trace") == 1);
}

TEST_CASE("a descriptor from before the trace that cannot seek is not a file") {
  RecordedCalls calls;
  calls.run(on_file(Call::seek, 9, -ESPIPE)).run(data(Call::read, 9, 10, 10));
  CHECK(calls.text().empty());
}

TEST_CASE("directory listings continue until the directory is rewound") {
  RecordedCalls calls;
  SystemCall first = data(Call::getdents, 3, 100, 96);
  first.entries = 4;
  calls.run(open_at("/d", O_RDONLY | open_flags::kDirectory, 3))
      .run(first)
      .run(data(Call::getdents, 3, 100, 0))
      .run(on_file(Call::seek, 3, 0, SEEK_SET))
      .run(first);
  CHECK(calls.text() ==
        "0 open d #0 flags 200000\n"
        "0 getdents #0 @0 +100\n"
        "0 getdents #0 @4 +100\n"
        "0 getdents #0 @0 +100\n");
}

TEST_CASE("interrupted and invalid calls are omitted") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  calls.text();
  for (const int error : {EINTR, EAGAIN, EFAULT, ENOSYS, EBADF, 512, 513, 514, 516}) {
    calls.run(data(Call::read, 3, 10, -error));
  }
  CHECK(calls.text().empty());
  CHECK(calls.lost("calls with a bad pointer or descriptor") == 2);
  calls.run(data(Call::read, 3, 10, -EISDIR));
  CHECK(calls.text() == "0 read #0 @0 +10 = -21\n");
}

TEST_CASE("calls with a bad pointer or descriptor are counted if they concern files") {
  RecordedCalls calls;
  const auto named = [](SystemCall call, std::string_view name) {
    call.name = name;
    return call;
  };
  const auto lost = [&](const std::string& name) {
    return calls.lost("calls with a bad pointer or descriptor: " + name);
  };
  SystemCall socket = call_of(Call::new_descriptor, 4);
  calls.run(open_at("/a", O_RDONLY, 3)).run(socket);
  // Names, which may be what could not be read.
  calls.run(named(on_path(Call::stat, "/a", -EFAULT), "stat"));
  SystemCall unread = named(on_path(Call::unlink, "", -EFAULT), "unlink");
  unread.path_unread = true;
  calls.run(unread);
  SystemCall nowhere = named(on_path(Call::open, "x", -EBADF), "openat");
  nowhere.dir = 77;
  calls.run(nowhere);
  // Open files, also one that only the tracer knows, which keeps its name for later calls.
  calls.run(named(data(Call::write, 3, 10, -EBADF), "write"));
  SystemCall known = named(data(Call::read, 9, 10, -EFAULT), "read");
  known.fd_path = "/b";
  calls.run(known);
  CHECK(lost("stat") == 1);
  CHECK(lost("unlink") == 1);
  CHECK(lost("openat") == 1);
  CHECK(lost("write") == 1);
  CHECK(lost("read") == 1);
  calls.text();
  calls.run(data(Call::read, 9, 10, 10));
  CHECK(calls.text() == "0 open b #1 loose\n0 read #1 @0 +10 = 10 loose\n");
  // No files, and numbers that stand for nothing.
  const std::size_t reasons = calls.builder.info().lost.size();
  calls.run(named(data(Call::read, 4, 10, -EFAULT), "socket"));
  calls.run(named(data(Call::read, 55, 10, -EBADF), "nothing"));
  calls.run(named(on_file(Call::close, 55), "close"));
  SystemCall closed = named(on_file(Call::close, 55), "close");
  closed.result = -EBADF;
  calls.run(closed);
  SystemCall empty = named(on_path(Call::stat, "", -EBADF), "fstatat");
  empty.dir = 55;
  calls.run(empty);
  CHECK(calls.builder.info().lost.size() == reasons);
}

TEST_CASE("copies between files are copies, others are reads or writes") {
  RecordedCalls calls;
  SystemCall pipe = on_file(Call::new_pair, 5);
  pipe.fd2 = 6;
  const auto copy = [](Call kind, int from, int to, std::int64_t result) {
    SystemCall call = data(kind, from, 100, result);
    call.fd2 = to;
    return call;
  };
  SystemCall with_offsets = copy(Call::copy_file_range, 3, 4, 10);
  with_offsets.offset = 7;
  with_offsets.offset2 = 1000;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(open_at("/b", O_WRONLY | O_CREAT, 4))
      .run(pipe)
      .run(copy(Call::sendfile, 3, 4, 60))
      .run(copy(Call::sendfile, 3, 4, 40))
      .run(with_offsets)
      .run(copy(Call::splice, 3, 6, 20))
      .run(copy(Call::splice, 5, 4, 20));
  calls.operations.erase(calls.operations.begin(), calls.operations.begin() + 2);
  CHECK(calls.text() ==
        "0 copy_range #1 from 0 @0 +100 second 0 = 60\n"
        "0 copy_range #1 from 0 @60 +100 second 60 = 40\n"
        "0 copy_range #1 from 0 @1000 +100 second 7 = 10\n"
        "0 read #0 @100 +20 = 20\n"
        "0 write #1 @100 +100 = 20\n");
}

TEST_CASE("copies that fail because of a pipe or socket are omitted") {
  RecordedCalls calls;
  SystemCall pipe = on_file(Call::new_pair, 5);
  pipe.fd2 = 6;
  const auto copy = [](Call kind, int from, int to) {
    SystemCall call = data(kind, from, 100, -EINVAL);
    call.fd2 = to;
    return call;
  };
  calls.run(open_at("/a", O_RDONLY, 3)).run(open_at("/b", O_WRONLY | O_CREAT, 4)).run(pipe);
  calls.text();
  calls.run(copy(Call::sendfile, 5, 4))
      .run(copy(Call::splice, 3, 6))
      .run(copy(Call::splice, 3, 4))
      .run(copy(Call::copy_file_range, 3, 4));
  CHECK(calls.text() == "0 copy_range #1 from 0 @0 +100 second 0 = -22\n");
}

TEST_CASE("copies that fail on the recorded system only are omitted") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3)).run(open_at("/b", O_RDWR, 4));
  calls.text();
  SystemCall copy = data(Call::copy_file_range, 3, 100, -EXDEV);
  copy.fd2 = 4;
  SystemCall clone = on_file(Call::clone_range, 3, -EOPNOTSUPP);
  clone.fd2 = 4;
  calls.run(copy).run(clone);
  CHECK(calls.text().empty());
  CHECK(calls.lost("clones and copies that the file systems do not support") == 2);
}

TEST_CASE("changes of an open file that failed at a limit or for lack of space are omitted") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR | O_CREAT, 3)).run(open_at("/b", O_RDWR, 4));
  calls.run(data(Call::write, 3, 200, 100));
  calls.text();
  SystemCall send = data(Call::sendfile, 4, 100, -ENOSPC);
  send.fd2 = 3;
  SystemCall grow = on_file(Call::ftruncate, 3, -EFBIG);
  grow.offset = 1000;
  SystemCall allocate = data_at(Call::fallocate, 3, 0, 1000, -ENOSPC);
  calls.run(data(Call::write, 3, 100, -EFBIG))
      .run(data(Call::write, 3, 100, -EDQUOT))
      .run(data_at(Call::write, 3, 500, 100, -EIO))
      .run(send)
      .run(grow)
      .run(allocate);
  CHECK(calls.text().empty());
  CHECK(calls.lost("changes that failed for lack of permission, space or support") == 6);
  // What comes next is where the last write ended.
  calls.run(data(Call::write, 3, 10, 10));
  CHECK(calls.text() == "0 write #0 @100 +10 = 10\n");
}

TEST_CASE("a failed write to something that is not a file is no loss") {
  RecordedCalls calls;
  calls.run(call_of(Call::new_descriptor, 3)).run(data(Call::write, 3, 100, -EPERM));
  CHECK(calls.lost("changes that failed for lack of permission, space or support") == 0);
}

TEST_CASE("a clone of a whole file has the file's length") {
  RecordedCalls calls;
  SystemCall clone = on_file(Call::clone_range, 3);
  clone.fd2 = 4;
  calls.run(open_at("/a", O_RDWR | O_CREAT | O_EXCL, 3))
      .run(data(Call::write, 3, 5000, 5000))
      .run(open_at("/b", O_WRONLY | O_CREAT, 4));
  calls.text();
  calls.run(clone);
  clone.result = -EINVAL;
  calls.run(clone);
  CHECK(calls.text() ==
        "0 copy_range #1 from 0 @0 +5000 second 0 = 5000\n"
        "0 copy_range #1 from 0 @0 +5000 second 0 = -22\n");
}

TEST_CASE("requests are asynchronous operations at their submission") {
  RecordedCalls calls;
  const auto submit = [](std::uint64_t request, Call kind, std::uint64_t offset) {
    SystemCall call = data_at(Call::submit, 3, offset, 512, 0);
    call.request = request;
    call.requested = kind;
    return call;
  };
  const auto complete = [](std::uint64_t request, std::int64_t result) {
    SystemCall call = call_of(Call::complete, result);
    call.request = request;
    return call;
  };
  calls.run(open_at("/a", O_RDWR, 3));
  calls.text();
  calls.run(submit(1, Call::read, 0))
      .run(submit(2, Call::write, 512))
      .run(submit(3, Call::fsync, 0));
  calls.run(data_at(Call::read, 3, 0, 1, 1));
  CHECK(calls.text().empty());  // how they end is not known
  calls.run(complete(2, 512)).run(complete(1, 100));
  CHECK(calls.text() ==
        "0 read #0 @0 +512 = 100 asynchronous\n"
        "0 write #0 @512 +512 = 512 asynchronous\n");
  calls.run(complete(3, 0));
  calls.run(data_at(Call::read, 3, 0, 1, 1));
  CHECK(calls.text() ==
        "0 fsync #0 asynchronous\n"
        "0 read #0 @0 +1 = 1\n"
        "0 reap +0\n"
        "0 read #0 @0 +1 = 1\n");
}

TEST_CASE("a request with unknown completion counts as completed") {
  RecordedCalls calls;
  SystemCall submit = data_at(Call::submit, 3, 0, 512, 0);
  submit.requested = Call::write;
  calls.run(open_at("/a", O_RDWR, 3)).run(submit);
  calls.text();
  calls.resolver.finish(1000);
  CHECK(calls.text() == "0 write #0 @0 +512 = 512 asynchronous\n0 close #0\n");
  CHECK(calls.approximated("asynchronous requests with unknown completion") == 1);
}

TEST_CASE("locks record their range and whether they wait") {
  RecordedCalls calls;
  SystemCall record = data_at(Call::record_lock, 3, 10, 20, 0);
  record.flags = F_WRLCK;
  record.mode = 1;
  calls.run(open_at("/a", O_RDWR, 3))
      .run(on_file(Call::flock, 3, 0, LOCK_SH | LOCK_NB))
      .run(on_file(Call::flock, 3, -EAGAIN, LOCK_EX | LOCK_NB))
      .run(on_file(Call::flock, 3, 0, LOCK_EX))
      .run(on_file(Call::flock, 3, 0, LOCK_UN))
      .run(record);
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 lock #0 flags 1 @0 +0\n"
        "0 lock #0 flags 2 @0 +0 = -11 loose\n"
        "0 lock #0 flags 22 @0 +0\n"
        "0 lock #0 flags 4 @0 +0\n"
        "0 lock #0 flags 32 @10 +20\n");
}

TEST_CASE("impossible calls are dropped and counted") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR, 3));
  calls.text();
  calls.run(data_at(Call::read, 3, UINT64_MAX, 10, 10));
  calls.run(data_at(Call::write, 3, INT64_MAX, UINT64_MAX, 10));
  CHECK(calls.text().empty());
  CHECK(calls.lost("calls with offsets out of range") == 2);
  calls.run(data(Call::read, 3, 10, INT64_MAX));
  CHECK(calls.text() == "0 read #0 @0 +10 = 10\n");
  calls.run(data(Call::read, -7, 10, 10)).run(close_of(-1)).run(dup_of(3, INT64_MAX));
  calls.run(data(Call::read, 3, 10, INT64_MIN));
  CHECK(calls.text().empty());
}

TEST_CASE("times do not go back within a thread") {
  RecordedCalls calls;
  SystemCall late = open_at("/a", O_RDONLY, 3);
  late.enter_ns = 500;
  late.exit_ns = 600;
  SystemCall early = data(Call::read, 3, 10, 10);
  early.enter_ns = 100;
  early.exit_ns = 50;
  calls.run(late).run(early);
  REQUIRE(calls.operations.size() == 2);
  CHECK(calls.operations[1].start_ns == 500);
  CHECK(calls.operations[1].duration_ns == 0);
}

TEST_CASE("requests in flight at the end of their thread count as completed") {
  RecordedCalls calls;
  SystemCall submit = data_at(Call::submit, 3, 0, 512, 0);
  submit.requested = Call::read;
  calls.run(open_at("/a", O_RDWR, 3)).run(submit).run(call_of(Call::exit_group, 0));
  CHECK(calls.text() ==
        "0 open a #0 flags 2\n"
        "0 read #0 @0 +512 = 512 asynchronous\n"
        "0 close #0\n"
        "0 exit\n");
}

TEST_CASE("requests on pipes and sockets hold nothing back") {
  RecordedCalls calls;
  SystemCall submit = data_at(Call::submit, 5, 0, 512, 0);
  calls.run(on_file(Call::new_descriptor, SystemCall::kNone, 5)).run(submit);
  calls.run(on_path(Call::stat, "/x"));
  CHECK(calls.text() == "0 stat x +0\n");
}

TEST_CASE("a single write can append or be synchronous") {
  RecordedCalls calls;
  SystemCall append = data_at(Call::write, 3, 0, 50, 50);
  append.flags = RWF_APPEND | RWF_DSYNC;
  calls.run(open_at("/a", O_WRONLY | O_CREAT | O_TRUNC, 3))
      .run(data(Call::write, 3, 100, 100))
      .run(append)
      .run(data(Call::write, 3, 1, 1));
  CHECK(calls.text() ==
        "0 open a #0 flags 1101 mode 644\n"
        "0 write #0 @0 +100 = 100\n"
        "0 write #0 @100 +50 = 50\n"
        "0 fdatasync #0\n"
        "0 write #0 @100 +1 = 1\n");
}

TEST_CASE("a file open since before the trace is opened for writing by its current name") {
  RecordedCalls calls;
  SystemCall read = data(Call::read, 3, 10, 10);
  read.fd_path = "/d/a";
  SystemCall write = data(Call::write, 3, 10, 10);
  write.fd_path = "/d/b";
  calls.run(read).run(two_paths(Call::rename, "/d/a", "/d/b")).run(write);
  CHECK(calls.text() ==
        "0 open d/a #0 loose\n"
        "0 read #0 @0 +10 = 10 loose\n"
        "0 rename d/a -> d/b\n"
        "0 close #0\n"
        "0 open d/b #0 flags 2 loose\n"
        "0 write #0 @10 +10 = 10\n");
}

TEST_CASE("record locks have a reference point") {
  RecordedCalls calls;
  const auto lock = [](std::uint64_t whence, std::int64_t start, std::int64_t length) {
    SystemCall call = on_file(Call::record_lock, 3, 0, F_RDLCK);
    call.offset = static_cast<std::uint64_t>(start);
    call.offset2 = whence;
    call.length = static_cast<std::uint64_t>(length);
    return call;
  };
  calls.run(open_at("/a", O_RDWR | O_CREAT | O_TRUNC, 3)).run(data(Call::write, 3, 100, 100));
  calls.text();
  calls.run(lock(SEEK_CUR, 10, 5))
      .run(lock(SEEK_END, -20, 20))
      .run(lock(SEEK_SET, 50, -30))
      .run(lock(SEEK_SET, -1, 1));
  CHECK(calls.text() ==
        "0 lock #0 flags 11 @110 +5\n"
        "0 lock #0 flags 11 @80 +20\n"
        "0 lock #0 flags 11 @20 +30\n");
  CHECK(calls.lost("calls with offsets out of range") == 1);
}

TEST_CASE("a seek to the end reveals the size of a file") {
  RecordedCalls calls;
  SystemCall seek = on_file(Call::seek, 3, 5000, SEEK_END);
  seek.offset = 0;
  calls.run(open_at("/a", O_RDONLY, 3)).run(seek).run(seek).run(close_of(3));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 stat #0 mode 100000 +5000 loose\n"
        "0 close #0\n");
  const TraceTrees trees = calls.builder.trees();
  REQUIRE(trees.initial.entries.size() == 1);
  CHECK(trees.initial.entries[0].size == 5000);
}

#include "traces/import/strace_reader.h"

#include <cerrno>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "traces/open_flags.h"
#include "traces/operation.h"

using namespace filereel;
using Outcome = StraceReader::Outcome;

namespace {

// The single call of a line.
SystemCall read(std::string_view text, StraceReader* keep = nullptr) {
  CAPTURE(text);
  StraceReader own;
  StraceReader& reader = keep != nullptr ? *keep : own;
  const StraceLine line = read_strace_line(text);
  REQUIRE(line.kind == StraceLine::Kind::call);
  const CallRow* call = find_call(line.name);
  REQUIRE(call != nullptr);
  REQUIRE(reader.read(*call, line.text) == Outcome::read);
  REQUIRE(reader.calls().size() >= 1);
  return reader.calls()[0];
}

Outcome outcome(std::string_view text) {
  StraceReader reader;
  const StraceLine line = read_strace_line(text);
  const CallRow* call = find_call(line.name);
  REQUIRE(call != nullptr);
  return reader.read(*call, line.text);
}

}  // namespace

TEST_CASE("Opens have their path, flags, mode and opened file") {
  SystemCall call = read(R"(openat(3</d>, "f", O_RDWR|O_CREAT|O_APPEND, 0640) = 4</d/f>)");
  CHECK(call.call == Call::open);
  CHECK(call.dir == 3);
  CHECK(call.dir_path == "/d");
  CHECK(call.path == "f");
  CHECK(call.flags == (O_RDWR | O_CREAT | O_APPEND));
  CHECK(call.mode == 0640);
  CHECK(call.result == 4);
  CHECK(call.result_path == "/d/f");
  call = read(
      R"(openat2(3, "g", {flags=O_RDWR|O_CREAT, mode=0600, resolve=RESOLVE_BENEATH}, 24) = 5)");
  CHECK(call.flags == (O_RDWR | O_CREAT));
  CHECK(call.mode == 0600);
  call = read(R"(creat("c", 0644) = 6)");
  CHECK(call.dir == SystemCall::kCwd);
  CHECK(call.flags == (O_CREAT | O_WRONLY | O_TRUNC));
  call = read(R"(open("/x", O_RDONLY) = -1 ENOENT (No such file or directory))");
  CHECK(call.result == -ENOENT);
  call = read(R"(openat(AT_FDCWD</w>, "d", O_RDWR|O_TMPFILE, 0600) = 7</w/d/#1001>(deleted))");
  CHECK(call.dir_path == "/w");
  CHECK(call.flags == (O_RDWR | open_flags::kTemporary));
  CHECK(call.result_path.empty());
}

TEST_CASE("Sockets that get a path are nodes") {
  SystemCall call = read(R"(bind(3, {sa_family=AF_UNIX, sun_path="d/s"}, 110) = 0)");
  CHECK(call.call == Call::mknod);
  CHECK(call.path == "d/s");
  CHECK(call.mode == (S_IFSOCK | 0777));
  call = read(R"(bind(3, {sa_family=AF_LOCAL, sun_path="s"}, 4) = -1 EADDRINUSE (In use))");
  CHECK(call.result == -EEXIST);
  CHECK(outcome(R"(bind(3, {sa_family=AF_UNIX, sun_path=@"s"}, 4) = 0)") != Outcome::read);
  CHECK(outcome(R"(bind(3, {sa_family=AF_UNIX}, 2) = 0)") != Outcome::read);
  CHECK(outcome(R"(bind(3, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0)") != Outcome::read);
}

TEST_CASE("Transfers have their length and offset") {
  SystemCall call = read(R"(pread64(3, "ab"..., 784, 64) = 700)");
  CHECK(call.call == Call::read);
  CHECK(call.fd == 3);
  CHECK(call.length == 784);
  CHECK(call.offset == 64);
  CHECK(call.result == 700);
  call = read(R"(writev(3, [{iov_base="a, b]", iov_len=10}, {iov_base="b", iov_len=20}], 2) = 30)");
  CHECK(call.call == Call::write);
  CHECK(call.length == 30);
  CHECK_FALSE(call.offset.has_value());
  CHECK_FALSE(read("preadv2(3, [{iov_base=\"\", iov_len=1}], 1, -1, 0) = 0").offset.has_value());
  CHECK(read("preadv2(3, [{iov_base=\"\", iov_len=1}], 1, 5, 0) = 0").offset == 5);
  call = read("sendfile(6</g>, 5</c>, [100] => [150], 50) = 50");
  CHECK(call.fd == 5);
  CHECK(call.fd2 == 6);
  CHECK(call.fd2_path == "/g");
  CHECK(call.offset == 100);
  CHECK_FALSE(call.offset2.has_value());
  call = read("copy_file_range(5, [0], 6, [10], 100, 0) = 100");
  CHECK(call.offset == 0);
  CHECK(call.offset2 == 10);
  CHECK(call.length == 100);
  call = read("lseek(4, -10, SEEK_CUR) = 140");
  CHECK(static_cast<std::int64_t>(*call.offset) == -10);
  CHECK(call.flags == SEEK_CUR);
  StraceReader reader;
  call = read("readv(3, 0x7f01, 2) = 12", &reader);
  CHECK(call.length == 12);
  CHECK(reader.doubts(StraceDoubt::hidden_buffer) == 1);
}

TEST_CASE("Clones of files name the source and the destination") {
  SystemCall call = read("ioctl(6</g>, BTRFS_IOC_CLONE or FICLONE, 5) = 0");
  CHECK(call.call == Call::clone_range);
  CHECK(call.fd == 5);
  CHECK(call.fd2 == 6);
  CHECK(call.fd2_path == "/g");
  CHECK(call.length == 0);
  call = read(
      "ioctl(6, BTRFS_IOC_CLONE_RANGE or FICLONERANGE, {src_fd=5</c>, src_offset=1, "
      "src_length=4096, dest_offset=2}) = 0");
  CHECK(call.fd_path == "/c");
  CHECK(call.offset == 1);
  CHECK(call.offset2 == 2);
  CHECK(call.length == 4096);
  CHECK(outcome("ioctl(1, TCGETS, {B38400 opost isig icanon echo ...}) = 0") ==
        Outcome::no_file_call);
  CHECK(read("ioctl(1, FIOCLEX) = 0").call == Call::set_cloexec);
}

TEST_CASE("The attributes returned by stat are kept") {
  SystemCall call = read(
      R"(newfstatat(3</e>, "", {st_mode=S_IFREG|0644, st_size=38643, ...}, AT_EMPTY_PATH) = 0)");
  CHECK(call.call == Call::fstat);
  CHECK(call.fd == 3);
  CHECK(call.fd_path == "/e");
  REQUIRE(call.stat.has_value());
  CHECK(call.stat->mode == (S_IFREG | 0644));
  CHECK(call.stat->size == 38643);
  call = read(
      R"(lstat("/x", {st_dev=makedev(0xfe, 0), st_ino=77, st_mode=S_IFLNK|0777, st_size=4}) = 0)");
  CHECK(call.call == Call::stat);
  CHECK(call.flags == AT_SYMLINK_NOFOLLOW);
  CHECK(call.stat->device == makedev(0xfe, 0));
  CHECK(call.stat->inode == 77);
  call = read(
      "statx(AT_FDCWD, \"g\", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=STATX_ALL, "
      "stx_mode=S_IFDIR|0755, stx_size=40, ...}) = 0");
  CHECK(call.stat->mode == (S_IFDIR | 0755));
  CHECK(call.stat->size == 40);
  call = read("newfstatat(3</e>, NULL, {st_mode=S_IFREG|0644, st_size=5, ...}, AT_EMPTY_PATH) = 0");
  CHECK(call.call == Call::fstat);
  CHECK(call.fd == 3);
  CHECK_FALSE(read(R"(stat("/n", 0x7ffc) = -1 ENOENT (No such file or directory))").stat);
}

TEST_CASE("Names are renamed, linked and removed") {
  SystemCall call = read(R"(renameat2(3, "a", AT_FDCWD, "b", RENAME_EXCHANGE) = 0)");
  CHECK(call.call == Call::rename);
  CHECK(call.dir == 3);
  CHECK(call.dir2 == SystemCall::kCwd);
  CHECK(call.path == "a");
  CHECK(call.path2 == "b");
  CHECK(call.flags == RENAME_EXCHANGE);
  call = read(R"(symlinkat("../t", 3, "s") = 0)");
  CHECK(call.text == "../t");
  CHECK(call.path == "s");
  CHECK(call.dir == 3);
  CHECK(read(R"(unlinkat(3, "d", AT_REMOVEDIR) = 0)").call == Call::rmdir);
  CHECK(read(R"(unlinkat(3, "d", 0) = 0)").call == Call::unlink);
  call = read(R"(linkat(7, "", 3, "new", AT_EMPTY_PATH) = 0)");
  CHECK(call.path.empty());
  CHECK(call.path2 == "new");
  CHECK(call.flags == AT_EMPTY_PATH);
  call = read(R"(mknodat(AT_FDCWD, "dev", S_IFCHR|0600, makedev(0x1, 0x3)) = 0)");
  CHECK(call.mode == (S_IFCHR | 0600));
}

TEST_CASE("The truncated text of a link is omitted") {
  StraceReader reader;
  CHECK(read(R"(readlink("/s", "target", 100) = 6)", &reader).text == "target");
  CHECK(read(R"(readlinkat(3, "s", "targ"..., 100) = 60)", &reader).text.empty());
  CHECK(reader.doubts(StraceDoubt::cut_text) == 1);
  CHECK(read(R"(unlink("/long-na"...) = 0)", &reader).path == "/long-na");
  CHECK(reader.doubts(StraceDoubt::cut_name) == 1);
  read("open(\"" + std::string(4095, 'a') + "\"..., O_RDONLY) = -1 ENAMETOOLONG (x)", &reader);
  CHECK(reader.doubts(StraceDoubt::cut_name) == 1);  // the kernel accepts no longer name
}

TEST_CASE("Times are nanoseconds, now or unchanged") {
  SystemCall call = read(
      "utimensat(3, \"g\", [{tv_sec=1, tv_nsec=2} /* 1970-01-01T00:00:01 */, UTIME_OMIT], 0) = 0");
  CHECK(call.times[0] == 1'000'000'002);
  CHECK(call.times[1] == kTimeOmit);
  call = read("utimensat(4</f>, NULL, [UTIME_NOW, {tv_sec=1700000000, tv_nsec=5}], 0) = 0");
  CHECK(call.call == Call::futimens);
  CHECK(call.fd == 4);
  CHECK(call.times[0] == kTimeNow);
  CHECK(call.times[1] == 1'700'000'000'000'000'005);
  call = read(R"(utimensat(3, "g", NULL, 0) = 0)");
  CHECK(call.call == Call::utimens);
  CHECK(call.times[1] == kTimeNow);
  call = read(R"(utimes("g", [{tv_sec=1, tv_usec=2}, {tv_sec=-3, tv_usec=4}]) = 0)");
  CHECK(call.times[0] == 1'000'002'000);
  CHECK(static_cast<std::int64_t>(call.times[1]) == -2'999'996'000);
  call = read(R"(utime("g", {actime=1 /* x */, modtime=2 /* y */}) = 0)");
  CHECK(call.times[1] == 2'000'000'000);
}

TEST_CASE("fcntl stands for many calls") {
  SystemCall call = read("fcntl(4, F_DUPFD_CLOEXEC, 50) = 50");
  CHECK(call.call == Call::dup);
  CHECK(call.flags == O_CLOEXEC);
  CHECK(call.fd2 == SystemCall::kNone);
  CHECK(read("fcntl(4, F_SETFD, FD_CLOEXEC) = 0").call == Call::set_cloexec);
  CHECK(read("fcntl(4, F_SETFL, O_RDWR|O_APPEND) = 0").flags == (O_RDWR | O_APPEND));
  call = read("fcntl(4, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1, l_len=10}) = 0");
  CHECK(call.call == Call::record_lock);
  CHECK(call.flags == F_WRLCK);
  CHECK(call.mode == 1);
  CHECK(call.offset == 1);
  CHECK(call.length == 10);
  CHECK(outcome("fcntl(4, F_GETFL) = 0x8402 (flags O_RDWR|O_APPEND|O_LARGEFILE)") ==
        Outcome::no_file_call);
  CHECK(outcome("fcntl(4, F_SETPIPE_SZ, 65536) = 65536") == Outcome::no_file_call);
  CHECK(read("flock(4, LOCK_EX|LOCK_NB) = 0").flags == (LOCK_EX | LOCK_NB));
}

TEST_CASE("Processes, descriptors and memory are followed") {
  SystemCall call =
      read("clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|SIGCHLD, child_tidptr=0x7f) = 121");
  CHECK(call.call == Call::fork);
  CHECK((call.flags & (CLONE_VM | CLONE_FILES)) == (CLONE_VM | CLONE_FILES));
  CHECK(call.result == 121);
  StraceReader reader;
  call = read("clone3({flags=CLONE_PIDFD, exit_signal=SIGCHLD} => {pidfd=[9]}, 88) = 122", &reader);
  CHECK(call.result == 122);
  REQUIRE(reader.calls().size() == 2);
  CHECK(reader.calls()[1].call == Call::new_descriptor);
  CHECK(reader.calls()[1].result == 9);
  CHECK(read("wait4(-1, NULL, 0, NULL) = 12").result == 12);
  CHECK(outcome("wait4(-1, NULL, WNOHANG, NULL) = 0") == Outcome::no_file_call);
  CHECK(read("waitid(P_PID, 7, {si_signo=SIGCHLD, si_pid=7, ...}, WEXITED, NULL) = 0").result == 7);
  call = read("pipe2([8<pipe:[4]>, 9<pipe:[4]>], O_CLOEXEC) = 0");
  CHECK(call.call == Call::new_pair);
  CHECK(call.fd == 8);
  CHECK(call.fd2 == 9);
  CHECK(call.flags == O_CLOEXEC);
  call = read("socketpair(AF_UNIX, SOCK_STREAM, 0, [15<UNIX:[1->2]>, 16<UNIX:[2->1]>]) = 0");
  CHECK(call.fd2 == 16);
  CHECK(read("socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 14<UNIX:[1]>").flags == O_CLOEXEC);
  CHECK(read("memfd_create(\"m\", MFD_CLOEXEC) = 24").flags == O_CLOEXEC);
  CHECK(outcome("signalfd4(5, [], 8, 0) = 5") == Outcome::no_file_call);
  call = read("mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 5</c>, 0x1000) = 0x7f54d31db000");
  CHECK(call.fd == 5);
  CHECK(call.mode == (PROT_READ | PROT_WRITE));
  CHECK(call.flags == MAP_SHARED);
  CHECK(call.offset == 4096);
  CHECK(call.result == 0x7f54d31db000);
  CHECK(read("mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f").fd ==
        SystemCall::kNone);
  call = read("mremap(0x1000, 8192, 16384, MREMAP_MAYMOVE) = 0x5000");
  CHECK(call.address == 0x1000);
  CHECK(call.offset == 8192);
  CHECK(call.length == 16384);
  call = read("close_range(60, 4294967295, CLOSE_RANGE_CLOEXEC) = 0");
  CHECK(call.fd == 60);
  CHECK(call.fd2 == INT32_MAX);
  call = read("dup3(4, 62, O_CLOEXEC) = 62");
  CHECK(call.fd2 == 62);
  call = read("fchownat(3, \"\", 0, -1, AT_EMPTY_PATH) = 0");
  CHECK(call.call == Call::fchown);
  CHECK(call.offset == 0);
  CHECK(call.offset2 == UINT64_MAX);
}

TEST_CASE("The other calls are mapped too") {
  CHECK(read("fallocate(5, FALLOC_FL_KEEP_SIZE, 1, 2) = 0").length == 2);
  CHECK(read("sync_file_range(4, 0, 100, SYNC_FILE_RANGE_WRITE) = 0").length == 100);
  CHECK(read("fadvise64(4, 0, 5, POSIX_FADV_DONTNEED) = 0").flags == POSIX_FADV_DONTNEED);
  CHECK(read("faccessat2(3, \"g\", R_OK|X_OK, AT_EACCESS) = 0").mode == (R_OK | X_OK));
  CHECK(read("getdents64(3, 0x7f /* 8 entries */, 4096) = 200").entries == 8);
  CHECK(read("getdents64(3, [{d_name=\".\"}, {d_name=\"..\"}], 4096) = 48").entries == 2);
  SystemCall call = read("lsetxattr(\"g\", \"user.b\", \"val\\0x\", 5, XATTR_CREATE) = 0");
  CHECK(call.call == Call::setxattr);
  CHECK(call.text == "user.b");
  CHECK(call.length == 5);
  CHECK(call.flags == (1 | AT_SYMLINK_NOFOLLOW));
  CHECK(call.value == std::string("val\0x", 5));
  CHECK(read("setxattr(\"g\", \"user.b\", \"va\"..., 5, 0) = 0").value.empty());
  call = read("fgetxattr(4, \"user.a\", 0x7f, 100) = -1 ENODATA (No data available)");
  CHECK(call.fd == 4);
  CHECK(call.result == -ENODATA);
  for (const char* text : {"sync() = 0",
                           "syncfs(4) = 0",
                           "fsync(4) = 0",
                           "fdatasync(4) = 0",
                           "umask(022) = 022",
                           "chdir(\"d\") = 0",
                           "fchdir(3) = 0",
                           "chroot(\"/\") = 0",
                           "statfs(\"d\", {f_type=1}) = 0",
                           "fstatfs(4, {}) = 0",
                           "truncate(\"c\", 12) = 0",
                           "ftruncate(5, 12) = 0",
                           "readahead(4, 0, 1) = 0",
                           "msync(0x7f, 1, MS_SYNC) = 0",
                           "madvise(0x7f, 1, 4) = 0",
                           "munmap(0x7f, 1) = 0",
                           "rmdir(\"d\") = 0",
                           "mkdirat(3, \"d\", 0700) = 0",
                           "fchmodat(3, \"g\", 0644) = 0",
                           "listxattr(\"g\", NULL, 0) = 0",
                           "exit(0) = ?",
                           "splice(5, [150], 12, NULL, 30, SPLICE_F_MOVE) = 30",
                           "execveat(AT_FDCWD, \"x\", [], NULL, 0) = 0",
                           "accept4(3, NULL, NULL, 0) = 5"}) {
    read(text);
  }
}

TEST_CASE("Kinds of incomplete calls are distinguished") {
  CHECK(outcome("read(3, \"abc") == Outcome::torn);
  CHECK(outcome("read(NULL, 0x7f, 3) = 0") == Outcome::torn);
  CHECK(outcome("read(3, 0x7f, 3) = ?") == Outcome::cut_off);
  CHECK(outcome("open(0x7f, O_RDONLY) = 3") == Outcome::no_path);
  CHECK(outcome("open(0x7f, O_RDONLY) = -1 EFAULT (Bad address)") == Outcome::read);
  CHECK(find_call("futex") == nullptr);
  StraceReader reader;
  CHECK(reader.read_beginning(*find_call("openat"), "AT_FDCWD, \"/x\", O_RDONLY") == Outcome::read);
  CHECK(reader.calls()[0].path == "/x");
  CHECK(reader.read_beginning(*find_call("openat"), "AT_FDCWD, ") == Outcome::no_path);
}

TEST_CASE("Calls of 32-bit programs are read like those of 64-bit programs") {
  SystemCall call = read("_llseek(3, 5, [10], SEEK_CUR) = 0");
  CHECK(call.call == Call::seek);
  CHECK(call.offset == 5);
  CHECK(call.flags == SEEK_CUR);
  CHECK(call.result == 10);
  CHECK(read("fchown32(3, 1, 2) = 0").offset2 == 2);
  CHECK(read("mmap2(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0x1000) = 0xf7000000").offset == 0x1000);
  call = read("sync_file_range2(3, SYNC_FILE_RANGE_WRITE, 10, 20) = 0");
  CHECK(call.offset == 10);
  CHECK(call.length == 20);
  CHECK(read("unshare(CLONE_FS|CLONE_FILES) = 0").flags == (CLONE_FS | CLONE_FILES));
  call =
      read("fcntl64(4, F_SETLKW64, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1, l_len=10}) = 0");
  CHECK(call.call == Call::record_lock);
  CHECK(call.mode == 1);
  CHECK(call.length == 10);
}

TEST_CASE("Calls that change the meaning of names invisibly are counted") {
  StraceReader reader;
  const auto run = [&](std::string_view text) {
    const StraceLine line = read_strace_line(text);
    const CallRow* call = find_call(line.name);
    REQUIRE(call != nullptr);
    return reader.read(*call, line.text);
  };
  CHECK(run("mount(\"a\", \"/b\", \"\", MS_BIND, NULL) = 0") == Outcome::read);
  CHECK(reader.calls()[0].call == Call::unsupported);
  CHECK(run("setns(3, CLONE_NEWNS) = -1 EPERM (x)") == Outcome::no_file_call);
  CHECK(run("pidfd_getfd(3, 4, 0) = 5") == Outcome::read);
  CHECK(reader.calls()[0].call == Call::unsupported_open);
  CHECK(run("pidfd_getfd(3, 4, 0) = 5</a>") == Outcome::read);
  CHECK(reader.calls()[0].call == Call::new_descriptor);
  CHECK(reader.calls()[1].call == Call::unsupported);
}

TEST_CASE("A record lock has the origin of its offset") {
  const SystemCall call =
      read("fcntl(4, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_CUR, l_start=-1, l_len=10}) = 0");
  CHECK(call.offset2 == SEEK_CUR);
  CHECK(call.offset == UINT64_MAX);
}

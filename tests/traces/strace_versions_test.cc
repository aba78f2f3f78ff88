// The forms in which versions of strace write each structure: 4.8 (and what 4.9 to 4.24
// wrote), 4.26, 5.10 and 6.1. The lines of 5.10 and 6.1 are output of these versions, those of
// older ones were written by hand. docs/import.md has the table of what is read.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/traces/recorded_calls.h"
#include "traces/import/importers.h"

using namespace filereel;

namespace {

constexpr std::string_view kOpened =
    "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n"
    "open(\"/a\", O_RDWR|O_CREAT|O_TRUNC, 0644) = 3\n"
    "open(\"/b\", O_RDWR|O_CREAT|O_TRUNC, 0644) = 4\n"
    "write(3, \"\"..., 200) = 200\n"
    "open(\"/\", O_RDONLY|O_DIRECTORY) = 5\n";

struct Sample {
  std::string_view versions;
  std::string_view line;
  std::string_view operations;  // that it adds; empty: it is counted instead
  std::string_view name = {};   // of the counted call
};

// The lines that `line` adds to the trace.
std::string added(std::string_view line, TraceInfo& info) {
  const auto trace = [&](std::string_view last) {
    const std::string text = std::string(kOpened) + std::string(last);
    RecordedCalls recorded;
    LineReader input(text, "app.strace");
    CHECK(strace_importer().read(input, recorded.builder, {.working_directory = "/"}));
    info = recorded.builder.info();
    return recorded.text();
  };
  const std::string before = trace("");
  const std::string after = trace(std::string(line) + "\n");
  // Files are closed at the end.
  std::size_t begin = 0;
  while (begin < before.size() && before[begin] == after[begin]) ++begin;
  begin = after.rfind('\n', begin == 0 ? 0 : begin - 1) + 1;
  std::size_t end = after.find("close", begin);
  return after.substr(begin, end == std::string::npos ? end : after.rfind('\n', end) + 1 - begin);
}

constexpr Sample kSamples[] = {
    // struct iovec
    {"4.8", "writev(3, [{\"www.example.org\", 15}, {\"\\n\", 1}], 2) = 16",
     "0 write #0 @200 +16 = 16\n"},
    {"4.26",
     "writev(3, [{iov_base=\"www\"..., iov_len=15}, {iov_base=\"\\n\", iov_len=1}], 2) = 16",
     "0 write #0 @200 +16 = 16\n"},
    {"", "writev(3, [{iov_base=\"www\", iov_len=?}], 2) = 16", "0 write #0 @200 +16 = 16\n",
     "writev"},
    {"", "pwritev(3, [{iov_base=\"www\"}], 1, 5) = 16", "0 write #0 @5 +16 = 16\n", "pwritev"},
    // struct flock
    {"4.8", "fcntl(3, F_SETLK, {type=F_WRLCK, whence=SEEK_SET, start=1, len=2}) = 0",
     "0 lock #0 flags 12 @1 +2\n"},
    {"4.26", "fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1, l_len=2}) = 0",
     "0 lock #0 flags 12 @1 +2\n"},
    {"4.8", "fcntl(3, F_SETLK, {...}) = 0", "", "fcntl"},
    {"", "fcntl(3, F_SETLK, 0x7ffc1000) = 0", "", "fcntl"},
    {"", "fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1}) = 0", "", "fcntl"},
    // struct stat
    {"4.8", "fstat(4, {st_mode=S_IFREG|0600, st_size=77, ...}) = 0", "0 stat #1 mode 100600 +77\n"},
    {"4.8",
     "fstat(4, {st_dev=makedev(8, 1), st_ino=9, st_mode=S_IFREG|0600, st_nlink=1, st_uid=0, "
     "st_gid=0, st_blksize=4096, st_blocks=8, st_size=77, st_atime=2013/01/01-12:00:00, "
     "st_mtime=2013/01/01-12:00:00, st_ctime=2013/01/01-12:00:00}) = 0",
     "0 stat #1 mode 100600 +77\n"},
    {"6.1",
     "fstat(4, {st_dev=makedev(0xfe, 0), st_ino=9, st_mode=S_IFREG|0600, st_size=77, ...}) = 0",
     "0 stat #1 mode 100600 +77\n"},
    {"4.26",
     "statx(AT_FDCWD, \"/b\", 0, STATX_ALL, {stx_mask=STATX_ALL, stx_attributes=0, "
     "stx_mode=S_IFREG|0600, stx_size=77, ...}) = 0",
     "0 stat b mode 100600 +77\n"},
    // An unreadable size is not 0.
    {"", "fstat(4, {st_mode=S_IFREG|0600, st_size=?, ...}) = 0", "0 stat #1 +0\n"},
    {"", "fstat(4, 0x7ffc1000) = 0", "0 stat #1 +0\n"},
    // Times.
    {"4.8", "utimensat(AT_FDCWD, \"/a\", {{1, 2}, UTIME_OMIT}, 0) = 0",
     "0 utimens a @1000000002 second 18446744073709551614\n"},
    {"4.26",
     "utimensat(AT_FDCWD, \"/a\", [{tv_sec=1, tv_nsec=2} /* 1970-01-01T00:00:01 */, "
     "UTIME_OMIT], 0) = 0",
     "0 utimens a @1000000002 second 18446744073709551614\n"},
    {"4.8", "utimes(\"/a\", {{1, 2}, {3, 4}}) = 0", "0 utimens a @1000002000 second 3000004000\n"},
    {"4.26", "utimes(\"/a\", [{tv_sec=1, tv_usec=2}, {tv_sec=3, tv_usec=4}]) = 0",
     "0 utimens a @1000002000 second 3000004000\n"},
    {"4.8", "utime(\"/a\", [2013/01/01-12:00:00, 2013/01/01-12:00:00]) = 0", "", "utime"},
    {"4.26", "utime(\"/a\", {actime=5 /* 1970-01-01T00:00:05+0000 */, modtime=6}) = 0",
     "0 utimens a @5000000000 second 6000000000\n"},
    {"", "utimensat(AT_FDCWD, \"/a\", 0x7ffc1000, 0) = 0", "", "utimensat"},
    {"", "utimensat(AT_FDCWD, \"/a\", NULL, 0) = 0",
     "0 utimens a @18446744073709551615 second 18446744073709551615\n"},
    // Offsets behind pointers.
    {"4.8", "sendfile(4, 3, [100], 50) = 50", "0 copy_range #1 from 0 @0 +50 second 100 = 50\n"},
    {"5.10", "sendfile(4, 3, [100] => [150], 50) = 50",
     "0 copy_range #1 from 0 @0 +50 second 100 = 50\n"},
    {"4.8", "sendfile(4, 3, NULL, 50) = 0", "0 copy_range #1 from 0 @0 +50 second 200\n"},
    {"", "sendfile(4, 3, 0x7ffc1000, 50) = 50", "", "sendfile"},
    {"4.26", "copy_file_range(3, [0], 4, [20], 5, 0) = 5",
     "0 copy_range #1 from 0 @20 +5 second 0 = 5\n"},
    {"", "copy_file_range(3, [?], 4, [20], 5, 0) = 5", "", "copy_file_range"},
    // struct open_how
    {"5.10", "openat2(AT_FDCWD, \"/c\", {flags=O_RDWR|O_CREAT, mode=0600, resolve=0}, 24) = 7",
     "0 open c #3 flags 102 mode 600\n"},
    {"5.10", "openat2(AT_FDCWD, \"/a\", {flags=O_RDONLY, resolve=0}, 24) = 7", "0 open a #3\n"},
    {"", "openat2(AT_FDCWD, \"/c\", 0x7ffc1000, 24) = 7", "", "openat2"},
    // struct file_clone_range
    {"4.26",
     "ioctl(4, BTRFS_IOC_CLONE_RANGE or FICLONERANGE, {src_fd=3, src_offset=0, "
     "src_length=100, dest_offset=0}) = 0",
     "0 copy_range #1 from 0 @0 +100 second 0 = 100\n"},
    {"", "ioctl(4, FICLONERANGE, 0x7ffc1000) = 0", "", "ioctl"},
    // struct iocb and struct io_event
    {"4.8",
     "io_submit(1, 2, {{data:0x7, pwrite, filedes:3, str:\"ab\", nbytes:2, offset:50}, "
     "{pwritev, filedes:3, 60, [{\"www\", 3}, {\"\\n\", 1}]}}) = 2\n"
     "io_getevents(1, 2, 2, {{0x7, 0x7ffc, 2, 0}, {(nil), 0x7ffd, 4, 0}}, NULL) = 2",
     "0 write #0 @50 +2 = 2 asynchronous\n0 write #0 @60 +4 = 4 asynchronous\n0 reap +0\n"},
    {"4.12",
     "io_submit(1, 2, [{data=0x7, pwrite, filedes=3, str=\"ab\", nbytes=2, offset=50}, "
     "{preadv, filedes=3, 60, [{iov_base=0x7f, iov_len=3}]}]) = 2\n"
     "io_getevents(1, 2, 2, [{data=0x7, obj=0x7ffc, res=2, res2=0}, {data=0, obj=0x7ffd, res=3, "
     "res2=0}], NULL) = 2",
     "0 write #0 @50 +2 = 2 asynchronous\n0 read #0 @60 +3 = 3 asynchronous\n0 reap +0\n"},
    {"6.1",
     "io_submit(0x7f9a, 2, [{aio_data=0x7, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, "
     "aio_buf=\"ab\", aio_nbytes=2, aio_offset=50}, {aio_data=0, "
     "aio_lio_opcode=IOCB_CMD_PWRITEV, aio_fildes=3, aio_buf=[{iov_base=\"www\", iov_len=3}], "
     "aio_offset=60}]) = 2\n"
     "io_getevents(0x7f9a, 2, 2, [{data=0x7, obj=0x7ffc, res=2, res2=0}, {data=0, obj=0x7ffd, "
     "res=3, res2=0}], NULL) = 2",
     "0 write #0 @50 +2 = 2 asynchronous\n0 write #0 @60 +3 = 3 asynchronous\n0 reap +0\n"},
    {"4.8", "io_submit(1, 1, {{...}}) = 1", "", "io_submit"},
    {"4.8", "io_submit(1, 1, 0x7ffc1000) = 1", "", "io_submit"},
    // siginfo_t, clone's arguments, pairs of descriptors
    {"4.8", "clone(child_stack=0, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 99",
     "0 fork second 1\n"},
    {"6.1", "clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f}, 88) = 99",
     "0 fork second 1\n"},
    {"", "clone3(0x7ffc1000, 88) = 99", "0 fork second 1\n", "clone3"},
    {"4.8", "pipe([7, 8]) = 0\nwrite(8, \"\"..., 5) = 5", ""},
    {"", "pipe(0x7ffc1000) = 0", "", "pipe"},
    // Numbers.
    {"", "pwrite64(3, \"\"..., 5, ?) = 5", "", "pwrite64"},
    {"", "ftruncate(3, ?) = 0", "", "ftruncate"},
    {"", "fallocate(3, 0, 0, 99999999999999999999999) = 0", "", "fallocate"},
    {"", "mkdir(\"/d\", ?) = 0", "", "mkdir"},
};

}  // namespace

TEST_CASE("Each structure is read as each version of strace writes it, or counted") {
  for (const Sample& sample : kSamples) {
    CAPTURE(sample.versions);
    CAPTURE(sample.line);
    TraceInfo info;
    CHECK(added(sample.line, info) == sample.operations);
    std::string lost;
    for (const auto& [what, count] : info.lost) lost += what;
    const std::string reason = "calls with values that could not be read: ";
    CHECK(lost == (sample.name.empty() ? "" : reason + std::string(sample.name)));
  }
}

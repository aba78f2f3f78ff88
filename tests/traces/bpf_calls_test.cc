#include "traces/record/bpf/bpf_calls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/traces/bpf_events.h"
#include "traces/calls/call_table.h"
#include "traces/open_flags.h"
#include "traces/operation.h"
#include "traces/record/bpf/bpf_translation.h"
#include "traces/record/bpf/compat_calls.h"

namespace filereel {
namespace {

constexpr std::uint32_t kCreatedMode = 0x100000;  // FMODE_CREATED

std::optional<SystemCall> read_call(const BpfEvent& event, bool ended = true) {
  const std::vector<std::byte> bytes = event.bytes();
  BpfEventView view;
  REQUIRE(view.read(bytes));
  SystemCall call;
  if (read_bpf_call(view, ended, call) != CallReading::call) return std::nullopt;
  return call;
}

bpf_shape shape_of(long number) {
  std::vector<bpf_shape> shapes(SHAPES);
  set_shapes(std::span<bpf_shape, SHAPES>(shapes.data(), SHAPES), false);
  return shapes[static_cast<std::size_t>(number)];
}

TEST_CASE("32-bit calls have a path or a descriptor, and a unique number") {
  std::vector<bpf_shape> shapes(SHAPES);
  set_compat_shapes(std::span<bpf_shape, SHAPES>(shapes.data(), SHAPES));
  std::set<std::uint32_t> numbers;
  for (const CompatCall& call : compat_calls()) {
    CAPTURE(call.name);
    CHECK(find_call(call.name) != nullptr);
    CHECK(numbers.insert(call.number).second);
    CHECK(call.number < COMPAT_CALLS);
    CHECK(shapes.at(call.number).recorded == 1);
  }
  constexpr std::size_t kWrite = 4, kOpen = 5, kMmap2 = 192, kSendfile64 = 239;  // on i386
  CHECK(shapes[kWrite].file[0] == 1);
  CHECK(shapes[kOpen].file[0] == 0);
  CHECK(shapes[kMmap2].file[0] == 5);
  CHECK(shapes[kSendfile64].file[0] == 2);
  CHECK(shapes[kSendfile64].file[1] == 1);
}

TEST_CASE("a call that the processor lacks has no number") {
  CHECK(number_in("257") == 257);
  CHECK(number_in("0") == 0);
  CHECK(number_in("SYS_open") == kNoNumber);
  CHECK(number_in("__NR_open") == kNoNumber);
}

TEST_CASE("every recorded call is in the table and has a unique number") {
  std::set<long> numbers;
  for (const BpfCall& call : bpf_calls()) {
    CAPTURE(call.name);
    CHECK(find_call(call.name) != nullptr);
    CHECK(numbers.insert(call.number).second);
    CHECK(call.number < SHAPES);
    CHECK(shape_of(call.number).recorded == 1);
  }
}

TEST_CASE("every call of the table is recorded in the kernel, too") {
  const std::set<std::string_view> by_other_events = {"fork",   "vfork", "clone",
                                                      "clone3", "exit",  "exit_group"};
  const std::set<std::string_view> of_other_machines = {"oldstat",
                                                        "oldlstat",
                                                        "oldfstat",
                                                        "readdir",
                                                        "pread",
                                                        "pwrite",
                                                        "_llseek",
                                                        "io_pgetevents_time64",
                                                        "truncate64",
                                                        "sendfile64",
                                                        "sync_file_range2",
                                                        "fadvise64_64",
                                                        "ftruncate64",
                                                        "fcntl64",
                                                        "stat64",
                                                        "lstat64",
                                                        "fstat64",
                                                        "fstatat64",
                                                        "statfs64",
                                                        "fstatfs64",
                                                        "utimensat_time64",
                                                        "mmap2",
                                                        "chown32",
                                                        "lchown32",
                                                        "fchown32",
                                                        "waitpid",
                                                        "umount"};
  // Calls with a successor, which newer processors lack.
  const std::set<std::string_view> older = {
      "open",    "creat", "stat",     "lstat",        "access",      "readlink",  "getdents",
      "mkdir",   "rmdir", "unlink",   "rename",       "link",        "symlink",   "mknod",
      "chmod",   "chown", "lchown",   "utime",        "utimes",      "futimesat", "dup2",
      "eventfd", "pipe",  "signalfd", "epoll_create", "inotify_init"};
  std::set<std::string_view> recorded;
  for (const BpfCall& call : bpf_calls()) recorded.insert(call.name);
  for (const CallRow& call : call_rows()) {
    CAPTURE(call.name);
    const bool is_expected = !by_other_events.contains(call.name) &&
                             !of_other_machines.contains(call.name) &&
                             (recorded.contains("open") || !older.contains(call.name));
    CHECK(recorded.contains(call.name) == is_expected);
  }
}

TEST_CASE("unsupported calls count only if they had an effect") {
  const auto reading = [](const BpfEvent& event, bool ended = true) {
    const std::vector<std::byte> bytes = event.bytes();
    BpfEventView view;
    REQUIRE(view.read(bytes));
    SystemCall call;
    return read_bpf_call(view, ended, call);
  };
  constexpr long kSetxattrat = 463;
  for (const long number : {long{SYS_mount}, long{SYS_umount2}, long{SYS_pivot_root},
                            long{SYS_setns}, long{SYS_move_mount}, kSetxattrat}) {
    CAPTURE(number);
    CHECK(reading(BpfEvent::call(number, {kPointer, kPointer})) == CallReading::call);
    CHECK(reading(BpfEvent::call(number, {kPointer, kPointer}, -EPERM)) == CallReading::nothing);
    CHECK(reading(BpfEvent::call(number, {kPointer, kPointer}), false) == CallReading::nothing);
    CHECK(shape_of(number).flags == 0);
  }
}

TEST_CASE("fchmodat2 is fchmodat with flags, or fchmod") {
  constexpr long kFchmodat2 = 452;
  auto call =
      read_call(BpfEvent::call(kFchmodat2, {kCwd, kPointer, 0640, AT_SYMLINK_NOFOLLOW}).path("f"));
  REQUIRE(call);
  CHECK(call->call == Call::chmod);
  CHECK(call->path == "f");
  CHECK(call->mode == 0640);
  CHECK(call->flags == AT_SYMLINK_NOFOLLOW);
  call =
      read_call(BpfEvent::call(kFchmodat2, {6, kPointer, 0600, AT_EMPTY_PATH}).path("").file(0x60));
  REQUIRE(call);
  CHECK(call->call == Call::fchmod);
  CHECK(call->fd == 6);
  CHECK(call->file == 0x60);
}

TEST_CASE("no shape exceeds the kernel program's limits") {
  for (const BpfCall& call : bpf_calls()) {
    CAPTURE(call.name);
    const bpf_shape shape = shape_of(call.number);
    for (int i = 0; i < 2; ++i) {
      CHECK((shape.file[i] == 0 || shape.dir[i] == 0));  // they share a place in the event
      CHECK((shape.copy[i] == 0) == (shape.copy_size[i] == 0));
      CHECK(shape.copy_size[i] <= 144);
    }
    CHECK(std::max({shape.string[0], shape.string[1], shape.string[2], shape.vector}) <= 6);
  }
}

TEST_CASE("shapes give the positions of arguments") {
  const bpf_shape openat = shape_of(SYS_openat);
  CHECK(openat.flags == (SHAPE_OPENS | SHAPE_CREATES | SHAPE_CHANGES));
  CHECK(openat.dir[0] == 1);
  CHECK(openat.string[0] == 2);
  CHECK(openat.open_flags == 3);
  const bpf_shape rename = shape_of(SYS_renameat2);
  CHECK(rename.flags == (SHAPE_NAMES | SHAPE_CHANGES));
  CHECK(rename.dir[1] == 3);
  CHECK(rename.string[1] == 4);
  const bpf_shape copy = shape_of(SYS_copy_file_range);
  CHECK(copy.flags == (SHAPE_FILES_ONLY | SHAPE_CHANGES));
  CHECK(copy.copy[0] == 2);
  CHECK(copy.copy[1] == 4);
  const bpf_shape sendfile = shape_of(SYS_sendfile);
  CHECK(sendfile.file[0] == 2);
  CHECK(sendfile.file[1] == 1);
  CHECK(shape_of(SYS_preadv2).vector == 2);
  CHECK(shape_of(SYS_dup3).file[1] == 0);  // no open file yet
  CHECK(shape_of(SYS_dup3).flags == SHAPE_DUPLICATES);
  CHECK(shape_of(SYS_execve).flags == SHAPE_EXECUTES);
  CHECK(shape_of(SYS_readlinkat).buffer == 3);
  CHECK(shape_of(SYS_getdents64).flags == (SHAPE_LISTS | SHAPE_FILES_ONLY));
  CHECK(shape_of(SYS_fcntl).flags == (SHAPE_DUPLICATES | SHAPE_LOCKS | SHAPE_NAMES));
  CHECK(shape_of(SYS_getpid).recorded == 0);
}

TEST_CASE("an open contains the identity and path of its file") {
  const auto call =
      read_call(BpfEvent::call(SYS_openat, {kCwd, kPointer, O_RDWR | O_CREAT | O_CLOEXEC, 0640}, 5)
                    .path("d/f")
                    .extra(0xffff'8881'0000'0100)
                    .identity(77, S_IFREG | 0600, 12, kCreatedMode)
                    .real(0, "/home/d/f"));
  REQUIRE(call);
  CHECK(call->call == Call::open);
  CHECK(call->dir == SystemCall::kCwd);
  CHECK(call->path == "d/f");
  CHECK(call->flags == (O_RDWR | O_CREAT | O_CLOEXEC));
  CHECK(call->mode == 0640);
  CHECK(call->result == 5);
  CHECK(call->result_file == 0xffff'8881'0000'0100);
  CHECK(call->result_path == "/home/d/f");
  REQUIRE(call->stat);
  CHECK(call->stat->inode == 77);
  CHECK(call->stat->device == makedev(8, 1));
  CHECK(call->created == true);
}

TEST_CASE("an open that failed has neither file nor identity") {
  const auto call =
      read_call(BpfEvent::call(SYS_openat, {kCwd, kPointer, O_RDONLY, 0}, -ENOENT).path("gone"));
  REQUIRE(call);
  CHECK(call->result == -ENOENT);
  CHECK(call->result_file == 0);
  CHECK_FALSE(call->stat);
}

TEST_CASE("an open in the same directory as the previous one may omit its path") {
  const auto event = [] {
    return BpfEvent::call(SYS_openat, {kCwd, kPointer, O_CREAT, 0600}, 5).identity(1, S_IFREG);
  };
  const auto call = read_call(event().real(0, "name", PART_SIBLING));
  REQUIRE(call);
  CHECK(call->path.empty());
  CHECK(call->result_path == "/name");
  CHECK_FALSE(read_call(event().real(0, "/a/name")));
}

TEST_CASE("a call whose path could not be read is omitted") {
  CHECK_FALSE(
      read_call(BpfEvent::call(SYS_unlinkat, {kCwd, kPointer}).part(PART_STRING, 0, "", PART_CUT)));
  CHECK_FALSE(read_call(BpfEvent::call(SYS_renameat, {kCwd, kPointer, kCwd, kPointer}).path("a")));
  CHECK(read_call(
      BpfEvent::call(SYS_renameat, {kCwd, kPointer, kCwd, kPointer}).path("a").path2("b")));
}

TEST_CASE("openat2 passes its flags through a pointer") {
  const open_how how{.flags = O_PATH | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_BENEATH};
  const auto event = [] {
    return BpfEvent::call(SYS_openat2, {7, kPointer, kPointer, 24}, 8).path("x").file(0x700);
  };
  const auto call = read_call(event().copy(0, how));
  REQUIRE(call);
  CHECK(call->flags == (O_PATH | O_CLOEXEC));
  CHECK(call->resolve == RESOLVE_BENEATH);
  CHECK(call->dir == 7);
  CHECK(call->dir_file == 0x700);
  CHECK(call->file == 0);
  CHECK(read_call(event())->unreadable);
}

TEST_CASE("the kernel's flags of opens become those of a trace") {
  constexpr int kAll = O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_RDWR | O_CREAT;
  constexpr int kInTrace =
      open_flags::kDirect | open_flags::kDirectory | open_flags::kNoFollow | O_RDWR | O_CREAT;
  const auto call = read_call(BpfEvent::call(SYS_openat, {kCwd, kPointer, kAll, 0600}, 5)
                                  .path("f")
                                  .identity(1, S_IFREG)
                                  .real(0, "/f"));
  REQUIRE(call);
  CHECK(call->flags == kInTrace);
  const open_how how{.flags = kAll, .mode = 0600, .resolve = 0};
  const auto by_how = read_call(
      BpfEvent::call(SYS_openat2, {kCwd, kPointer, kPointer, 24}, -ENOENT).path("f").copy(0, how));
  REQUIRE(by_how);
  CHECK(by_how->flags == kInTrace);
  const auto set = read_call(BpfEvent::call(SYS_fcntl, {3, F_SETFL, O_DIRECT}));
  REQUIRE(set);
  CHECK(set->flags == open_flags::kDirect);
  // Of another kind: a bit of these is no flag of an open.
  const auto status = read_call(
      BpfEvent::call(SYS_statx, {kCwd, kPointer, AT_STATX_DONT_SYNC, 0, kPointer}, -ENOENT)
          .path("f"));
  REQUIRE(status);
  CHECK(status->flags == AT_STATX_DONT_SYNC);
}

TEST_CASE("a file opened by handle has its real path") {
  const auto call = read_call(BpfEvent::call(SYS_open_by_handle_at, {3, kPointer, O_RDONLY}, 6)
                                  .identity(5, S_IFREG)
                                  .extra(0x600)
                                  .real(0, "/srv/f"));
  REQUIRE(call);
  CHECK(call->call == Call::open);
  CHECK(call->path == "/srv/f");
  CHECK(call->result_file == 0x600);
}

TEST_CASE("the event contains a working directory shared by threads") {
  const auto call = read_call(
      BpfEvent::call(SYS_mkdirat, {kCwd, kPointer, 0700}).path("sub").real(1, "/var/tmp"), false);
  REQUIRE(call);
  CHECK(call->dir_path == "/var/tmp");
  const auto other = read_call(BpfEvent::call(SYS_renameat, {4, kPointer, kCwd, kPointer})
                                   .path("a")
                                   .path2("b")
                                   .real(1, "/w"));
  REQUIRE(other);
  CHECK(other->dir_path.empty());
  CHECK(other->dir2_path == "/w");
}

TEST_CASE("reads and writes have offsets, lengths and positions") {
  auto call = read_call(BpfEvent::call(SYS_pread64, {3, kPointer, 4096, 1ull << 40}, 100).file(9));
  REQUIRE(call);
  CHECK(call->call == Call::read);
  CHECK(call->fd == 3);
  CHECK(call->file == 9);
  CHECK(call->length == 4096);
  CHECK(call->offset == 1ull << 40);
  BpfEvent write = BpfEvent::call(SYS_write, {4, kPointer, 10}, 10).file(8);
  write.head.position = 110;
  call = read_call(write);
  REQUIRE(call);
  CHECK(call->call == Call::write);
  CHECK_FALSE(call->offset);
  CHECK(call->position == 110);
  CHECK_FALSE(read_call(write, false)->position);
}

TEST_CASE("the length of a vector is the sum of its buffers, and offset -1 means none") {
  const auto event = [](long number, std::uint64_t offset) {
    return BpfEvent::call(number, {3, kPointer, 2, offset, 0, RWF_DSYNC}, 600).extra(700);
  };
  auto call = read_call(event(SYS_pwritev2, UINT64_MAX));
  REQUIRE(call);
  CHECK(call->length == 700);
  CHECK_FALSE(call->offset);
  CHECK(call->flags == RWF_DSYNC);
  call = read_call(event(SYS_preadv2, 0));
  REQUIRE(call);
  CHECK(call->offset == 0);
  call = read_call(event(SYS_preadv, 77));
  REQUIRE(call);
  CHECK(call->offset == 77);
  CHECK(call->flags == 0);
}

TEST_CASE("offsets behind pointers are those before the call") {
  auto call = read_call(BpfEvent::call(SYS_sendfile, {1, 3, kPointer, 500}, 300)
                            .copy(0, std::uint64_t{1300})
                            .file(0x30, 0x10));
  REQUIRE(call);
  CHECK(call->fd == 3);
  CHECK(call->fd2 == 1);
  CHECK(call->file == 0x30);
  CHECK(call->file2 == 0x10);
  CHECK(call->offset == 1000);
  CHECK(call->length == 500);
  call = read_call(BpfEvent::call(SYS_copy_file_range, {3, 0, 4, kPointer, 500, 0}, 500)
                       .copy(1, std::uint64_t{500}));
  REQUIRE(call);
  CHECK_FALSE(call->offset);
  CHECK(call->offset2 == 0);
  call = read_call(BpfEvent::call(SYS_copy_file_range, {3, kPointer, 4, kPointer, 500, 0}, -EXDEV)
                       .copy(0, std::uint64_t{7})
                       .copy(1, std::uint64_t{8}));
  REQUIRE(call);
  CHECK(call->offset == 7);
  CHECK(call->offset2 == 8);
}

TEST_CASE("lseek keeps negative offsets") {
  const auto call =
      read_call(BpfEvent::call(SYS_lseek, {3, static_cast<std::uint64_t>(-10), SEEK_END}, 90));
  REQUIRE(call);
  CHECK(call->offset == static_cast<std::uint64_t>(-10));
  CHECK(call->flags == SEEK_END);
}

TEST_CASE("fcntl duplicates, changes flags and locks") {
  auto call = read_call(BpfEvent::call(SYS_fcntl, {3, F_DUPFD_CLOEXEC, 10}, 11).file(5).extra(5));
  REQUIRE(call);
  CHECK(call->call == Call::dup);
  CHECK(call->flags == O_CLOEXEC);
  CHECK(call->result == 11);
  CHECK(call->result_file == 5);
  call = read_call(BpfEvent::call(SYS_fcntl, {3, F_SETFD, FD_CLOEXEC}));
  REQUIRE(call);
  CHECK(call->call == Call::set_cloexec);
  CHECK(call->flags == FD_CLOEXEC);
  call = read_call(BpfEvent::call(SYS_fcntl, {3, F_SETFL, 0xffff'ffff'0000'0000 | O_APPEND}));
  REQUIRE(call);
  CHECK(call->call == Call::set_flags);
  CHECK(call->flags == O_APPEND);
  CHECK_FALSE(read_call(BpfEvent::call(SYS_fcntl, {3, F_GETFL, 0}, O_RDWR)));
  CHECK_FALSE(read_call(BpfEvent::call(SYS_fcntl, {3, F_GETLK, kPointer})));
}

TEST_CASE("record locks are read as requested") {
  const struct flock lock{
      .l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -5, .l_len = 10, .l_pid = 0};
  const auto call = read_call(BpfEvent::call(SYS_fcntl, {3, F_OFD_SETLKW, kPointer}).copy(0, lock));
  REQUIRE(call);
  CHECK(call->call == Call::record_lock);
  CHECK(call->flags == F_WRLCK);
  CHECK(call->mode == 1);
  CHECK(call->offset == static_cast<std::uint64_t>(-5));
  CHECK(call->offset2 == SEEK_END);
  CHECK(call->length == 10);
  CHECK(read_call(BpfEvent::call(SYS_fcntl, {3, F_SETLK, kPointer}))->unreadable);
}

TEST_CASE("files are cloned whole or in part") {
  auto call = read_call(BpfEvent::call(SYS_ioctl, {4, FICLONE, 3}).file(0x40));
  REQUIRE(call);
  CHECK(call->call == Call::clone_range);
  CHECK(call->fd == 3);
  CHECK(call->fd2 == 4);
  CHECK(call->file == 0);
  CHECK(call->file2 == 0x40);
  CHECK(call->length == 0);
  const file_clone_range range{
      .src_fd = 3, .src_offset = 4096, .src_length = 8192, .dest_offset = 65536};
  call = read_call(BpfEvent::call(SYS_ioctl, {4, FICLONERANGE, kPointer}).copy(0, range));
  REQUIRE(call);
  CHECK(call->fd == 3);
  CHECK(call->offset == 4096);
  CHECK(call->length == 8192);
  CHECK(call->offset2 == 65536);
}

TEST_CASE("a clone with an unreadable range cannot be read") {
  CHECK(read_call(BpfEvent::call(SYS_ioctl, {4, FICLONERANGE, kPointer}))->unreadable);
}

TEST_CASE("other ioctl requests do not concern files, except those on descriptors") {
  CHECK_FALSE(read_call(BpfEvent::call(SYS_ioctl, {0, TCGETS, kPointer}, -ENOTTY)));
  auto call = read_call(BpfEvent::call(SYS_ioctl, {3, FIOCLEX}));
  REQUIRE(call);
  CHECK(call->call == Call::set_cloexec);
  CHECK(call->flags == 1);
  call = read_call(BpfEvent::call(SYS_ioctl, {3, FIONCLEX}));
  REQUIRE(call);
  CHECK(call->flags == 0);
}

struct stat seen_by_stat() {
  struct stat status{};
  status.st_mode = S_IFREG | 0644;
  status.st_size = 1234;
  status.st_dev = makedev(8, 1);
  status.st_ino = 55;
  return status;
}

TEST_CASE("bind makes a name if the socket's address is one") {
  CHECK(shape_of(SYS_bind).value == 2);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = "d/s"};
  const auto bound = [&](std::int64_t result) {
    return read_call(BpfEvent::call(SYS_bind, {3, kPointer, 110}, result).copy(0, address));
  };
  CHECK(bound(0)->call == Call::mknod);
  CHECK(bound(0)->path == "d/s");
  CHECK(bound(0)->mode == (S_IFSOCK | 0777));
  CHECK(bound(-EADDRINUSE)->result == -EEXIST);
  std::memcpy(address.sun_path, "\0s", 3);
  CHECK(!bound(0));  // abstract
  std::memcpy(address.sun_path, "d/s", 4);
  address.sun_family = AF_INET;
  CHECK(!bound(0));
}

TEST_CASE("setxattr reports the value of the attribute") {
  CHECK(shape_of(SYS_fsetxattr).value == 3);
  CHECK(shape_of(SYS_lsetxattr).value == 3);
  CHECK(shape_of(SYS_getxattr).value == 0);
  const auto call = read_call(BpfEvent::call(SYS_fsetxattr, {3, kPointer, kPointer, 4, 0}, 0)
                                  .file(0x30)
                                  .text("user.x")
                                  .copy(0, std::array<char, 4>{'a', 'b', 0, 'c'}));
  REQUIRE(call);
  CHECK(call->value == std::string("ab\0c", 4));
  CHECK(call->length == 4);
}

TEST_CASE("stat reports its results, by path or descriptor") {
  using Bytes = std::array<char, 56>;
  const struct stat status = seen_by_stat();
  Bytes bytes;
  std::copy_n(reinterpret_cast<const char*>(&status), bytes.size(), bytes.data());
  auto call = read_call(
      BpfEvent::call(SYS_newfstatat, {kCwd, kPointer, kPointer, 0}, 0).path("f").copy(0, bytes));
  REQUIRE(call);
  CHECK(call->call == Call::stat);
  REQUIRE(call->stat);
  CHECK(call->stat->mode == (S_IFREG | 0644));
  CHECK(call->stat->size == 1234);
  CHECK(call->stat->device == makedev(8, 1));
  CHECK(call->stat->inode == 55);
  call = read_call(BpfEvent::call(SYS_newfstatat, {6, kPointer, kPointer, AT_EMPTY_PATH})
                       .path("")
                       .copy(0, bytes)
                       .file(0x60));
  REQUIRE(call);
  CHECK(call->call == Call::fstat);
  CHECK(call->fd == 6);
  CHECK(call->file == 0x60);
  CHECK(call->dir == SystemCall::kCwd);
  call = read_call(
      BpfEvent::call(SYS_newfstatat, {kCwd, kPointer, kPointer, AT_SYMLINK_NOFOLLOW}, -ENOENT)
          .path("f"));
  REQUIRE(call);
  CHECK(call->flags == AT_SYMLINK_NOFOLLOW);
  CHECK_FALSE(call->stat);
}

TEST_CASE("a null path can denote a descriptor") {
  const auto call =
      read_call(BpfEvent::call(SYS_statx, {6, 0, AT_EMPTY_PATH, STATX_SIZE, kPointer}).file(0x60));
  REQUIRE(call);
  CHECK(call->call == Call::fstat);
  CHECK(call->fd == 6);
  CHECK_FALSE(read_call(BpfEvent::call(SYS_statx, {6, 0, 0, STATX_SIZE, kPointer})));
}

TEST_CASE("statx has its own structure") {
  struct statx status{};
  status.stx_mode = S_IFDIR | 0711;
  status.stx_size = 4096;
  status.stx_ino = 66;
  status.stx_dev_major = 259;
  status.stx_dev_minor = 3;
  std::array<char, 144> bytes;
  std::copy_n(reinterpret_cast<const char*>(&status), bytes.size(), bytes.data());
  const auto call =
      read_call(BpfEvent::call(SYS_statx, {kCwd, kPointer, AT_SYMLINK_NOFOLLOW, 0, kPointer})
                    .path("d")
                    .copy(0, bytes));
  REQUIRE(call);
  REQUIRE(call->stat);
  CHECK(call->flags == AT_SYMLINK_NOFOLLOW);
  CHECK(call->stat->mode == (S_IFDIR | 0711));
  CHECK(call->stat->size == 4096);
  CHECK(call->stat->inode == 66);
  CHECK(call->stat->device == makedev(259, 3));
}

TEST_CASE("times are set to what a structure says, or to now") {
  const std::array<timespec, 2> times = {timespec{5, 6}, timespec{0, UTIME_OMIT}};
  auto call = read_call(
      BpfEvent::call(SYS_utimensat, {kCwd, kPointer, kPointer, 0}).path("f").copy(0, times));
  REQUIRE(call);
  CHECK(call->call == Call::utimens);
  CHECK(call->times[0] == 5'000'000'006);
  CHECK(call->times[1] == kTimeOmit);
  call = read_call(BpfEvent::call(SYS_utimensat, {3, 0, 0, 0}).file(0x30));
  REQUIRE(call);
  CHECK(call->call == Call::futimens);
  CHECK(call->fd == 3);
  CHECK(call->file == 0x30);
  CHECK(call->times[0] == kTimeNow);
}

TEST_CASE("symbolic links are created, read and removed with their target") {
  auto call = read_call(BpfEvent::call(SYS_readlinkat, {kCwd, kPointer, kPointer, 100}, 3)
                            .path("l")
                            .part(PART_RESULT, 0, "abc"));
  REQUIRE(call);
  CHECK(call->text == "abc");
  call = read_call(BpfEvent::call(SYS_symlinkat, {kPointer, 5, kPointer}).text("to").path("l"));
  REQUIRE(call);
  CHECK(call->call == Call::symlink);
  CHECK(call->text == "to");
  CHECK(call->path == "l");
  CHECK(call->dir == 5);
  call = read_call(BpfEvent::call(SYS_unlinkat, {kCwd, kPointer, AT_REMOVEDIR}).path("d"));
  REQUIRE(call);
  CHECK(call->call == Call::rmdir);
}

TEST_CASE("maps are of files, or of memory alone") {
  auto call = read_call(
      BpfEvent::call(SYS_mmap, {0, 8192, PROT_READ, MAP_SHARED, 3, 4096}, 0x7f00'0000'0000)
          .file(0x30));
  REQUIRE(call);
  CHECK(call->call == Call::mmap);
  CHECK(call->fd == 3);
  CHECK(call->file == 0x30);
  CHECK(call->mode == PROT_READ);
  CHECK(call->flags == MAP_SHARED);
  CHECK(call->length == 8192);
  CHECK(call->offset == 4096);
  CHECK(call->result == 0x7f00'0000'0000);
  call = read_call(BpfEvent::call(
      SYS_mmap, {0x10000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 3, 0}));
  REQUIRE(call);
  CHECK(call->fd == SystemCall::kNone);
  call = read_call(BpfEvent::call(SYS_mremap, {0x10000, 4096, 8192, MREMAP_MAYMOVE}, 0x20000));
  REQUIRE(call);
  CHECK(call->address == 0x10000);
  CHECK(call->offset == 4096);
  CHECK(call->length == 8192);
}

TEST_CASE("only a wait that reaped a process reports its end") {
  auto call = read_call(BpfEvent::call(SYS_wait4, {0xffff'ffff, kPointer, 0, 0}, 321));
  REQUIRE(call);
  CHECK(call->call == Call::wait);
  CHECK(call->result == 321);
  CHECK_FALSE(read_call(BpfEvent::call(SYS_wait4, {0xffff'ffff, kPointer, WNOHANG, 0}, 0)));
  siginfo_t ended{};
  ended.si_pid = 654;
  std::array<char, 32> bytes;
  std::copy_n(reinterpret_cast<const char*>(&ended), bytes.size(), bytes.data());
  const auto waitid = [&](std::uint64_t options) {
    return read_call(BpfEvent::call(SYS_waitid, {P_ALL, 0, kPointer, options, 0}).copy(0, bytes));
  };
  REQUIRE(waitid(WEXITED));
  CHECK(waitid(WEXITED)->result == 654);
  CHECK_FALSE(waitid(WEXITED | WNOWAIT));
  bytes.fill(0);
  CHECK_FALSE(waitid(WEXITED | WNOHANG));
}

TEST_CASE("pairs of descriptors are behind a pointer") {
  const std::array<int, 2> ends = {5, 6};
  auto call =
      read_call(BpfEvent::call(SYS_pipe2, {kPointer, O_CLOEXEC | O_NONBLOCK}).copy(0, ends));
  REQUIRE(call);
  CHECK(call->call == Call::new_pair);
  CHECK(call->fd == 5);
  CHECK(call->fd2 == 6);
  CHECK(call->flags == O_CLOEXEC);
  call = read_call(BpfEvent::call(SYS_socketpair, {1, 1, 0, kPointer}).copy(0, ends));
  REQUIRE(call);
  CHECK(call->fd2 == 6);
  CHECK_FALSE(read_call(BpfEvent::call(SYS_pipe2, {kPointer, 0}, -EMFILE)));
  CHECK(read_call(BpfEvent::call(SYS_pipe2, {kPointer, 0}))->unreadable);
}

TEST_CASE("descriptors are duplicated and closed one by one or many at once") {
  auto call = read_call(BpfEvent::call(SYS_dup3, {3, 9, O_CLOEXEC}, 9).file(0x30).extra(0x30));
  REQUIRE(call);
  CHECK(call->fd == 3);
  CHECK(call->fd2 == 9);
  CHECK(call->result_file == 0x30);
  CHECK(call->flags == O_CLOEXEC);
  call = read_call(BpfEvent::call(SYS_close_range, {3, 0xffff'ffff, CLOSE_RANGE_CLOEXEC}));
  REQUIRE(call);
  CHECK(call->fd == 3);
  CHECK(call->fd2 == INT32_MAX);
  CHECK(call->flags == CLOSE_RANGE_CLOEXEC);
  CHECK(read_call(BpfEvent::call(SYS_close, {3}))->call == Call::close);
}

TEST_CASE("descriptors are 32-bit numbers, and the upper bits are ignored") {
  const auto call = read_call(BpfEvent::call(SYS_dup3, {0xffff'ffff, 0xdead'0000'0005, 0}));
  REQUIRE(call);
  CHECK(call->fd == -1);
  CHECK(call->fd2 == 5);
}

TEST_CASE("new descriptors record close-on-exec") {
  const auto flags = [](long number, std::initializer_list<std::uint64_t> arguments) {
    const auto call = read_call(BpfEvent::call(number, arguments, 7).text("t"));
    REQUIRE(call);
    CHECK(call->call == Call::new_descriptor);
    return call->flags;
  };
  CHECK(flags(SYS_memfd_create, {kPointer, 1}) == O_CLOEXEC);
  CHECK(flags(SYS_memfd_create, {kPointer, 2}) == 0);
  CHECK(flags(SYS_perf_event_open, {kPointer, 0, 0, 0, 8}) == O_CLOEXEC);
  CHECK((flags(SYS_socket, {1, 1 | O_CLOEXEC, 0}) & O_CLOEXEC) != 0);
  CHECK(flags(SYS_signalfd4, {0xffff'ffff, kPointer, 8, O_CLOEXEC}) == O_CLOEXEC);
  CHECK_FALSE(read_call(BpfEvent::call(SYS_signalfd4, {5, kPointer, 8, 0}, 5)));
}

TEST_CASE("listings report the number of entries, unshare the unshared state") {
  auto call = read_call(BpfEvent::call(SYS_getdents64, {3, kPointer, 32768}, 96).extra(3));
  REQUIRE(call);
  CHECK(call->entries == 3);
  CHECK(call->length == 32768);
  call = read_call(BpfEvent::call(SYS_unshare, {CLONE_FS | CLONE_FILES}));
  REQUIRE(call);
  CHECK(call->flags == (CLONE_FS | CLONE_FILES));
}

TEST_CASE("a call that is not in the table is not read") {
  CHECK_FALSE(read_call(BpfEvent::call(SYS_getpid, {})));
  CHECK_FALSE(read_call(BpfEvent::call(65535, {})));
}

TEST_CASE("the start of a call has no result") {
  BpfEvent event = BpfEvent::call(SYS_unlinkat, {kCwd, kPointer}, -5).path("f");
  const auto call = read_call(event, false);
  REQUIRE(call);
  CHECK(call->result == 0);
}

}  // namespace
}  // namespace filereel

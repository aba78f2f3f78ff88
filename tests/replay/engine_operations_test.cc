// Each kind of operation, done for real.
#include <bitset>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "replay/engine/operation_executor.h"
#include "tests/replay/engine_rig.h"
#include "tests/skipped.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;
using enum OperationKind;

std::string bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct stat status_of(const std::string& path) {
  struct stat info{};
  CAPTURE(path);
  CHECK(lstat(path.c_str(), &info) == 0);
  return info;
}

struct Bench : EngineRig {
  EngineContext shared = context();
  std::optional<OperationExecutor<LinuxCalls>> performer;
  std::bitset<kOperationKinds> done;

  explicit Bench(bool change_owners = false) {
    shared.change_owners = change_owners;
    performer.emplace(shared);
  }
  std::int64_t run(const Operation& operation) {
    done.set(static_cast<std::size_t>(operation.kind));
    performer->prepare(operation);
    return performer->call(operation);
  }
  std::int64_t make_file(const std::string& path, std::uint64_t size, FileSlot slot = 0) {
    const std::int64_t result = run(open(slot, path, O_RDWR | O_CREAT));
    if (result < 0 || size == 0) return result;
    return run(transfer(write, slot, 0, size));
  }
};

TEST_CASE("directories, links and names are created, found, moved and removed") {
  Bench bench;
  CHECK(bench.run(bench.at(make_directory, "d", 0750)) == 0);
  CHECK((status_of(bench.near("d")).st_mode & 07777) == 0750);
  CHECK(bench.run(bench.at(make_directory, "d")) == -EEXIST);
  CHECK(bench.run(bench.at(make_directory, "missing/d")) == -ENOENT);
  CHECK(bench.make_file("d/f", 100) == 100);

  Operation sym = bench.at(symlink, "d/s");
  sym.text = bench.texts.add("../anywhere at all");
  CHECK(bench.run(sym) == 0);
  CHECK(fs::read_symlink(bench.near("d/s")) == "../anywhere at all");
  CHECK(bench.run(bench.at(read_link, "d/s")) == 0);
  CHECK(bench.run(bench.at(read_link, "d/f")) == -EINVAL);

  CHECK(bench.run(bench.two(link, "d/f", "h")) == 0);
  CHECK(status_of(bench.near("h")).st_nlink == 2);
  Operation by_file = bench.at(link, "h2");
  by_file.file = 0;
  CHECK(bench.run(by_file) == 0);
  CHECK(status_of(bench.near("h2")).st_nlink == 3);

  CHECK(bench.run(bench.two(rename, "d/f", "d/g")) == 0);
  CHECK(bench.run(bench.two(rename, "d/f", "d/g")) == -ENOENT);
  Operation no_replace = bench.two(rename, "h", "d/g");
  no_replace.flags = RENAME_NOREPLACE;
  CHECK(bench.run(no_replace) == -EEXIST);

  CHECK(bench.run(bench.at(stat, "d/g")) == 0);
  CHECK(bench.run(bench.at(stat, "d/s")) == 0);
  CHECK(bench.run(bench.at(stat, "nothing")) == -ENOENT);
  CHECK(bench.run(of_file(stat, 0)) == 0);
  CHECK(bench.run(bench.at(access, "d/g", R_OK | W_OK)) == 0);
  CHECK(bench.run(bench.at(access, "d/g", X_OK)) == -EACCES);
  CHECK(bench.run(bench.at(stat_volume, "d/s")) == 0);
  CHECK(bench.run(of_file(stat_volume, 0)) == 0);
  CHECK(bench.run(bench.at(change_directory, "d")) == 0);
  CHECK(bench.run(bench.at(change_directory, "d/g")) == -ENOTDIR);

  CHECK(bench.run(bench.at(remove_directory, "d")) == -ENOTEMPTY);
  CHECK(bench.run(bench.at(unlink, "d/g")) == 0);
  CHECK(bench.run(bench.at(unlink, "d/s")) == 0);
  CHECK(bench.run(bench.at(unlink, "d")) == -EISDIR);
  CHECK(bench.run(bench.at(remove_directory, "d")) == 0);
  CHECK_FALSE(fs::exists(bench.near("d")));
}

TEST_CASE("the root itself is a directory like others") {
  Bench bench;
  CHECK(bench.run(bench.at(stat, "")) == 0);
  CHECK(bench.run(bench.at(make_directory, "")) == -EEXIST);
  CHECK(bench.run(bench.open(0, "", O_RDONLY | open_flags::kDirectory)) == 0);
  Operation entries = of_file(list, 0);
  entries.length = 4096;
  CHECK(bench.run(entries) == 0);
  CHECK(bench.run(bench.at(remove_directory, "")) < 0);
  CHECK(bench.run(bench.at(unlink, "")) < 0);
  CHECK(bench.run(bench.two(rename, "", "x")) < 0);
}

TEST_CASE("files are written, read, truncated, preallocated and copied") {
  Bench bench;
  CHECK(bench.make_file("f", 10'000, 0) == 10'000);
  CHECK(status_of(bench.near("f")).st_size == 10'000);
  CHECK(bench.run(EngineRig::transfer(read, 0, 0, 10'000)) == 10'000);
  CHECK(bench.performer->first_difference(EngineRig::transfer(read, 0, 0, 10'000), 10'000) ==
        10'000);
  CHECK(bench.run(EngineRig::transfer(read, 0, 9'000, 5'000)) == 1'000);

  Operation cut = of_file(truncate, 0);
  cut.offset = 5'000;
  CHECK(bench.run(cut) == 0);
  cut = bench.at(truncate, "f");
  cut.offset = 6'000;
  CHECK(bench.run(cut) == 0);
  CHECK(status_of(bench.near("f")).st_size == 6'000);
  CHECK(bench.run(bench.at(truncate, "")) == -EISDIR);

  Operation more = of_file(allocate, 0);
  more.offset = 6'000;
  more.length = 10'000;
  const std::int64_t allocated = bench.run(more);
  if (allocated != -EOPNOTSUPP) CHECK(allocated == 0);

  Operation hole = of_file(seek, 0);
  hole.flags = SEEK_HOLE;
  CHECK(bench.run(hole) == 0);
  hole.flags = SEEK_SET;
  CHECK(bench.run(hole) == -EINVAL);

  for (const CopyMethod method :
       {CopyMethod::copy_file_range, CopyMethod::sendfile, CopyMethod::splice}) {
    CAPTURE(copy_method_name(method));
    REQUIRE(bench.run(bench.open(1, "copy", O_RDWR | O_CREAT | O_TRUNC)) == 0);
    Operation copy = of_file(copy_range, 1);
    copy.source = 0;
    copy.method = method;
    copy.second = 1'000;  // of the source
    copy.offset = 100;
    copy.length = 3'000;
    copy.expected = 3'000;
    CHECK(bench.run(copy) == 3'000);
    CHECK(bytes_of_file(bench.near("copy")).substr(100) ==
          bytes_of_file(bench.near("f")).substr(1'000, 3'000));
    // More was asked for than there was, as cp does: the rest is not waited for.
    copy.length = std::uint64_t{1} << 62;
    CHECK(bench.run(copy) == 3'000);
  }
  Operation clone = of_file(copy_range, 1);
  clone.source = 0;
  clone.method = CopyMethod::reflink;
  clone.length = 4'096;
  const std::int64_t cloned = bench.run(clone);
  CHECK((cloned == 4'096 || cloned == -EOPNOTSUPP || cloned == -EINVAL || cloned == -ENOTTY));
  CHECK(bench.run(of_file(close, 0)) == 0);
  CHECK(bench.run(of_file(close, 0)) == -EBADF);
  CHECK(bench.run(EngineRig::transfer(read, 0, 0, 10)) == -EBADF);
}

TEST_CASE("a write that was short in the recording is equally short") {
  Bench bench;
  REQUIRE(bench.make_file("f", 0) == 0);
  Operation part = EngineRig::transfer(write, 0, 0, 10'000);
  part.expected = 3'000;
  CHECK(bench.run(part) == 3'000);
  CHECK(status_of(bench.near("f")).st_size == 3'000);
}

TEST_CASE("transfers beyond the buffer are split and return one result") {
  Bench bench;
  const std::uint64_t size = 5 * bench.performer->buffer().size() + 17;
  REQUIRE(bench.make_file("f", 0) == 0);
  CHECK(bench.run(EngineRig::transfer(write, 0, 3, size, 9)) == static_cast<std::int64_t>(size));
  CHECK(static_cast<std::uint64_t>(status_of(bench.near("f")).st_size) == size + 3);
  std::string wanted(size, '\0');
  ContentSource source(nullptr, 0);
  source.fill(9, 3, std::as_writable_bytes(std::span(wanted)));
  CHECK(bytes_of_file(bench.near("f")).substr(3) == wanted);
  // Half of it is there.
  CHECK(bench.run(EngineRig::transfer(read, 0, size / 2, size, 9)) ==
        static_cast<std::int64_t>(size + 3 - size / 2));
  CHECK(bench.run(EngineRig::transfer(read, 0, INT64_MAX - 10, size)) == -EINVAL);
  CHECK(bench.run(EngineRig::transfer(read, 0, UINT64_MAX, 10)) == -EINVAL);
  CHECK(bench.run(EngineRig::transfer(read, 0, 0, UINT64_MAX)) ==
        static_cast<std::int64_t>(size + 3));
}

TEST_CASE("data is made durable in every way") {
  Bench bench;
  REQUIRE(bench.make_file("f", 10'000) == 10'000);
  CHECK(bench.run(of_file(sync, 0)) == 0);
  CHECK(bench.run(of_file(sync_data, 0)) == 0);
  Operation range = of_file(sync_range, 0);
  range.length = 4'096;
  range.flags = SYNC_FILE_RANGE_WRITE;
  CHECK(bench.run(range) == 0);
  CHECK(bench.run(of_file(sync_volume, 0)) == 0);
  CHECK(bench.run(of_file(sync_volume, kNoFile)) == 0);
}

TEST_CASE("attributes of files are set by file and by name") {
  Bench bench;
  REQUIRE(bench.make_file("f", 0) == 0);
  CHECK(bench.run(bench.at(change_mode, "f", 0604)) == 0);
  CHECK((status_of(bench.near("f")).st_mode & 07777) == 0604);
  Operation mode = of_file(change_mode, 0);
  mode.mode = 0640;
  CHECK(bench.run(mode) == 0);
  CHECK((status_of(bench.near("f")).st_mode & 07777) == 0640);

  Operation times = bench.at(set_times, "f");
  times.offset = static_cast<std::uint64_t>(-1'500'000'000);  // before 1970
  times.second = 1'234'000'000'000;
  CHECK(bench.run(times) == 0);
  CHECK(status_of(bench.near("f")).st_mtim.tv_sec == 1'234);
  CHECK(status_of(bench.near("f")).st_atim.tv_sec == -2);
  times = of_file(set_times, 0);
  times.offset = kTimeOmit;
  times.second = kTimeNow;
  CHECK(bench.run(times) == 0);
  CHECK(status_of(bench.near("f")).st_mtim.tv_sec > 1'000'000'000);
  CHECK(status_of(bench.near("f")).st_atim.tv_sec == -2);

  for (const FileSlot file : {FileSlot{0}, kNoFile}) {
    CAPTURE(file);
    const auto attribute = [&](OperationKind kind) {
      Operation operation = bench.at(kind, "f");
      operation.file = file;
      operation.text = bench.texts.add("user.filereel");
      operation.length = 100;
      return operation;
    };
    const std::int64_t set = bench.run(attribute(set_xattr));
    if (set == -EOPNOTSUPP) continue;  // tmpfs before Linux 6.6
    CHECK(set == 0);
    CHECK(getxattr(bench.near("f").c_str(), "user.filereel", nullptr, 0) == 100);
    CHECK(bench.run(attribute(get_xattr)) == 0);
    CHECK(bench.run(attribute(list_xattr)) == 0);
    Operation small = attribute(get_xattr);
    small.length = 10;
    CHECK(bench.run(small) == -ERANGE);
    Operation again = attribute(set_xattr);
    again.flags = XATTR_CREATE;
    CHECK(bench.run(again) == -EEXIST);
    again.length = 1 << 20;
    CHECK(bench.run(again) == -E2BIG);
    CHECK(bench.run(attribute(remove_xattr)) == 0);
    CHECK(bench.run(attribute(get_xattr)) == -ENODATA);
  }
}

TEST_CASE("owners change only on request") {
  if (geteuid() != 0) return skipped("needs root");
  for (const bool asked : {false, true}) {
    Bench bench(asked);
    REQUIRE(bench.make_file("f", 0) == 0);
    Operation owner = bench.at(change_owner, "f");
    owner.offset = 1'234;
    owner.second = 4'321;
    CHECK(is_refused(owner, bench.shared) == !asked);
    if (!asked) continue;
    CHECK(bench.run(owner) == 0);
    CHECK(status_of(bench.near("f")).st_uid == 1'234);
    CHECK(status_of(bench.near("f")).st_gid == 4'321);
  }
}

TEST_CASE("directories are read from the start or from their position") {
  Bench bench;
  for (int i = 0; i < 100; ++i) std::ofstream(bench.near(std::to_string(i)));
  REQUIRE(bench.run(bench.open(0, "", O_RDONLY | open_flags::kDirectory)) == 0);
  Operation entries = of_file(list, 0);
  entries.length = 1'024;
  CHECK(bench.run(entries) == 0);
  const off_t after_one = lseek(bench.performer->fd(0), 0, SEEK_CUR);
  CHECK(after_one != 0);
  CHECK(bench.run(entries) == 0);  // from the start again
  CHECK(lseek(bench.performer->fd(0), 0, SEEK_CUR) == after_one);
  entries.offset = 1;
  CHECK(bench.run(entries) == 0);
  CHECK(lseek(bench.performer->fd(0), 0, SEEK_CUR) != after_one);
  entries.length = 1;
  CHECK(bench.run(entries) == -EINVAL);
}

TEST_CASE("advice, flags and locks reach the open file") {
  Bench bench;
  REQUIRE(bench.make_file("f", 10'000, 0) == 10'000);
  REQUIRE(bench.run(bench.open(1, "f", O_RDWR)) == 0);
  Operation advice = of_file(advise, 0);
  advice.flags = POSIX_FADV_WILLNEED;
  CHECK(bench.run(advice) == 0);
  Operation ahead = of_file(read_ahead, 0);
  ahead.length = 10'000;
  CHECK(bench.run(ahead) == 0);

  Operation flags = of_file(set_flags, 0);
  flags.flags = O_NONBLOCK | O_APPEND | O_ASYNC;
  CHECK(bench.run(flags) == 0);
  CHECK((fcntl(bench.performer->fd(0), F_GETFL) & (O_APPEND | O_ASYNC | O_NONBLOCK)) == O_NONBLOCK);

  for (const std::uint32_t kind : {std::uint32_t{0}, lock_flags::kRecord}) {
    CAPTURE(kind);
    Operation mine = of_file(lock, 0);
    mine.flags = kind | lock_flags::kExclusive;
    Operation other = of_file(lock, 1);
    other.flags = kind | lock_flags::kShared;
    CHECK(bench.run(mine) == 0);
    CHECK(bench.run(other) == -EAGAIN);
    // One that waits gives up some time.
    other.flags |= lock_flags::kWait;
    const std::uint64_t begin = now_ns();
    CHECK(bench.run(other) == -EAGAIN);
    CHECK(now_ns() - begin > 500'000'000);
    mine.flags = kind | lock_flags::kUnlock;
    CHECK(bench.run(mine) == 0);
    CHECK(bench.run(other) == 0);
    Operation refused = mine;  // in the trace: here nobody holds it
    refused.flags = kind | lock_flags::kExclusive;
    refused.expected = -EAGAIN;
    other.flags = kind | lock_flags::kUnlock;
    CHECK(bench.run(other) == 0);
    CHECK(bench.run(refused) == 0);
    other.flags = kind | lock_flags::kShared;
    CHECK(bench.run(other) == 0);
    other.flags = kind | lock_flags::kUnlock;
    CHECK(bench.run(other) == 0);
  }
}

TEST_CASE("a waiting lock succeeds after another thread unlocks") {
  Bench bench;
  REQUIRE(bench.make_file("f", 1) == 1);
  const Descriptor other(::open(bench.near("f").c_str(), O_RDWR));
  REQUIRE(flock(other.get(), LOCK_EX) == 0);
  Operation mine = of_file(lock, 0);
  mine.flags = lock_flags::kExclusive | lock_flags::kWait;
  const std::jthread holder([&] {
    usleep(20'000);
    flock(other.get(), LOCK_UN);
  });
  CHECK(bench.run(mine) == 0);
}

TEST_CASE("mappings are created, faulted in, synced and removed, and never executed") {
  Bench bench;
  REQUIRE(bench.make_file("f", 40'000) == 40'000);
  const auto mapping = [](OperationKind kind, FileSlot number, std::uint64_t length) {
    Operation operation = of_file(kind, kNoFile);
    operation.source = number;
    operation.length = length;
    return operation;
  };
  const auto map_it = [&](FileSlot number, int flags, std::uint64_t length) {
    Operation operation = mapping(map, number, length);
    operation.file = 0;
    operation.flags = static_cast<std::uint32_t>(PROT_READ | PROT_WRITE | PROT_EXEC | (flags << 8));
    return operation;
  };
  CHECK(bench.run(map_it(0, MAP_SHARED, 40'000)) == 0);
  CHECK(bench.run(map_it(1, MAP_PRIVATE | MAP_FIXED, 40'000)) == 0);
  CHECK(bench.run(map_it(2, 0, 40'000)) == -EINVAL);
  CHECK(bench.run(map_it(99, MAP_SHARED, 40'000)) == -EINVAL);
  for (std::string line; const FileSlot number : {FileSlot{0}, FileSlot{1}}) {
    std::ostringstream begin;
    begin << std::hex << reinterpret_cast<std::uintptr_t>(bench.mappings[number].begin.load());
    std::ifstream maps("/proc/self/maps");
    while (std::getline(maps, line) && !line.starts_with(begin.str() + "-")) {
    }
    CAPTURE(line);
    CHECK(line.find(number == 0 ? " rw-s " : " r--p ") != std::string::npos);
  }
  Operation touch = mapping(fault, 0, 5'000);
  touch.offset = 4'000;
  CHECK(bench.run(touch) == 0);
  touch.flags = 1;
  CHECK(bench.run(touch) == 0);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  touch.offset = (40'000 + page - 1) / page * page - 4'000;
  CHECK(bench.run(touch) == -ENOMEM);  // beyond the map
  touch.offset = UINT64_MAX - 10;
  CHECK(bench.run(touch) == -ENOMEM);
  Operation to_disk = mapping(sync_map, 0, 40'000);
  to_disk.flags = MS_SYNC;
  CHECK(bench.run(to_disk) == 0);
  to_disk.length = 40'960;  // whole pages, as tracers count
  CHECK(bench.run(to_disk) == 0);

  // Behind the file's end a load would be a signal; here it is a result.
  Operation cut = of_file(truncate, 0);
  CHECK(bench.run(cut) == 0);
  CHECK(bench.run(mapping(fault, 0, 4'096)) == -EFAULT);

  CHECK(bench.run(mapping(unmap, 0, 0)) == 0);
  CHECK(bench.run(mapping(unmap, 0, 0)) == -EINVAL);
  CHECK(bench.run(mapping(fault, 0, 4'096)) == -ENOMEM);
  // A map that nobody undid is replaced.
  CHECK(bench.run(map_it(1, MAP_SHARED, 8'192)) == 0);
  // One larger than the address space is a result too.
  CHECK(bench.run(map_it(3, MAP_SHARED, std::uint64_t{1} << 62)) == -ENOMEM);
  // Where pages are larger than those of the recording, it starts in the middle of one.
  Operation inside = map_it(2, MAP_SHARED, 20'000);
  inside.offset = 5 * 4'096;
  CHECK(bench.run(inside) == 0);
  CHECK(bench.mappings[2].before.load() == inside.offset % page);
  CHECK(bench.run(mapping(sync_map, 2, 20'000)) == 0);
  touch = mapping(fault, 2, 4'096);
  touch.offset = UINT64_MAX - 4'096;
  CHECK(bench.run(touch) == -ENOMEM);
  CHECK(bench.run(mapping(unmap, 2, 0)) == 0);
  inside.offset = 5 * 4'096 + 1;
  CHECK(bench.run(inside) == -EINVAL);
}

TEST_CASE("programs are looked up and not run") {
  Bench bench;
  std::ofstream(bench.near("program")) << "#!/bin/sh\ntouch ran\n";
  CHECK(bench.run(bench.at(execute, "program")) == -EACCES);
  REQUIRE(chmod(bench.near("program").c_str(), 0755) == 0);
  CHECK(bench.run(bench.at(execute, "program")) == 0);
  CHECK(bench.run(bench.at(execute, "missing")) == -ENOENT);
  Operation broken = bench.at(execute, "program");
  broken.expected = -ENOEXEC;
  CHECK(bench.run(broken) == -ENOEXEC);
  broken.expected = -ENOENT;
  CHECK(bench.run(broken) == 0);
}

TEST_CASE("a temporary file has no name until it is given one") {
  Bench bench;
  REQUIRE(bench.run(bench.at(make_directory, "d")) == 0);
  const std::int64_t opened = bench.run(bench.open(0, "d", O_RDWR | open_flags::kTemporary));
  if (opened == -EOPNOTSUPP) return;
  CHECK(opened == 0);
  CHECK(fs::is_empty(bench.near("d")));
  CHECK(bench.run(EngineRig::transfer(write, 0, 0, 100)) == 100);
  Operation name = bench.at(link, "d/f");
  name.file = 0;
  CHECK(bench.run(name) == 0);
  CHECK(status_of(bench.near("d/f")).st_size == 100);
}

TEST_CASE("appending files are written where the trace says") {
  Bench bench;
  REQUIRE(bench.run(bench.open(0, "f", O_WRONLY | O_CREAT | O_APPEND)) == 0);
  CHECK(bench.run(EngineRig::transfer(write, 0, 5'000, 100)) == 100);
  CHECK(bench.run(EngineRig::transfer(write, 0, 0, 100)) == 100);
  CHECK(status_of(bench.near("f")).st_size == 5'100);
}

TEST_CASE("invalid numbers of open files and mappings are errors") {
  Bench bench;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const OperationInfo& info = operation_info(kind);
    CAPTURE(info.name);
    if (!info.is_call || kind == open || kind == sync_volume) continue;
    if (!has(info.fields, Field::file | Field::source)) continue;
    for (const FileSlot number : {FileSlot{15}, FileSlot{16}, kNoFile - 1}) {
      Operation operation = of_file(kind, number);
      operation.source = number;
      operation.length = 1;
      operation.flags = kind == map ? MAP_SHARED << 8 : 0;
      if (kind == link) operation.path = bench.paths.add(Role::near, "new");
      CHECK(bench.run(operation) < 0);
    }
  }
}

TEST_CASE("an open that failed in the trace has no number, and leaves nothing open") {
  Bench bench;
  CHECK(bench.run(bench.open(kNoFile, "absent", O_RDONLY)) == -ENOENT);
  CHECK(bench.make_file("there", 0) == 0);
  const auto open_now = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = open_now();
  CHECK(bench.run(bench.open(kNoFile, "there", O_RDONLY)) == 0);
  CHECK(open_now() == before);
}

TEST_CASE("every kind that is a call is executed") {
  // Those that the tests above have done with success, in one place.
  Bench bench;
  REQUIRE(bench.make_file("f", 10'000, 0) == 10'000);
  std::ofstream(bench.near("program"));
  chmod(bench.near("program").c_str(), 0755);
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    const OperationInfo& info = operation_info(kind);
    if (!info.is_call || kind == reap || kind == change_owner) continue;
    CAPTURE(info.name);
    Operation operation = of_file(kind, 0);
    // An error that the call itself makes up: nothing else gives it.
    operation.expected = -EHWPOISON;
    operation.path = bench.paths.add(Role::near, "nothing");
    operation.old_path = bench.paths.add(Role::near, "nothing else");
    if (!has(info.fields, Field::file)) operation.file = kNoFile;
    CHECK(bench.run(operation) != -EHWPOISON);
  }
}

}  // namespace
}  // namespace filereel

// Files in memory.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"

using namespace filereel;

namespace {

constexpr std::uint64_t kPage = 4096;

SystemCall map_of(int fd, std::uint64_t address, std::uint64_t pages, std::uint64_t offset = 0,
                  std::uint64_t flags = MAP_PRIVATE, std::uint64_t protection = PROT_READ) {
  SystemCall call =
      data_at(Call::mmap, fd, offset, pages * kPage, static_cast<std::int64_t>(address * kPage));
  call.flags = flags;
  call.mode = protection;
  return call;
}

SystemCall memory_call(Call kind, std::uint64_t address, std::uint64_t pages) {
  SystemCall call = call_of(kind, 0);
  call.address = address * kPage;
  call.length = pages * kPage;
  return call;
}

// Of one page of a file.
SystemCall file_fault(const std::string& path, std::uint64_t page, std::uint64_t flags = 0,
                      std::uint64_t inode = 0, std::uint64_t size = 0) {
  SystemCall call = call_of(Call::fault, 0);
  call.fd_path = path;
  call.offset = page * kPage;
  call.length = kPage;
  call.flags = flags;
  if (inode != 0) {
    call.stat = SeenStat{.mode = S_IFREG | 0755, .size = size, .device = 1, .inode = inode};
  }
  return call;
}

// With /a open as 3.
struct Mapped : RecordedCalls {
  Mapped() {
    run(open_at("/a", O_RDWR, 3));
    text();
  }
};

}  // namespace

TEST_CASE("a mapping ends when its last piece does") {
  Mapped calls;
  calls.run(map_of(3, 100, 10))
      .run(memory_call(Call::munmap, 103, 2))
      .run(memory_call(Call::munmap, 100, 3))
      .run(memory_call(Call::munmap, 90, 5));
  CHECK(calls.text() == "0 mmap #0 from 0 flags 1001 @0 +40960\n");
  calls.run(memory_call(Call::munmap, 105, 100));
  CHECK(calls.text() == "0 munmap from 0\n");
}

TEST_CASE("a mapping over another one ends or shrinks it") {
  Mapped calls;
  const std::uint64_t fixed = MAP_PRIVATE | MAP_FIXED;
  calls.run(map_of(3, 100, 10))
      .run(map_of(3, 102, 4, 2 * kPage, fixed))
      .run(map_of(-1, 106, 4, 0, fixed | MAP_ANONYMOUS));
  CHECK(calls.text() ==
        "0 mmap #0 from 0 flags 1001 @0 +40960\n"
        "0 mmap #0 from 1 flags 1001 @8192 +16384\n");
  calls.run(map_of(-1, 102, 4, 0, fixed | MAP_ANONYMOUS));
  CHECK(calls.text() == "0 munmap from 1\n");
  calls.run(memory_call(Call::munmap, 100, 1)).run(memory_call(Call::munmap, 101, 1));
  CHECK(calls.text() == "0 munmap from 0\n");
}

TEST_CASE("msync and page faults have offsets in the mapping") {
  Mapped calls;
  SystemCall sync = memory_call(Call::msync, 104, 2);
  sync.flags = MS_SYNC;
  SystemCall fault = memory_call(Call::fault, 107, 0);
  fault.flags = 1;
  calls.run(map_of(3, 100, 10, 0, MAP_SHARED, PROT_READ | PROT_WRITE)).run(sync).run(fault);
  calls.run(memory_call(Call::fault, 500, 0));
  CHECK(calls.text() ==
        "0 mmap #0 from 0 flags 403 @0 +40960\n"
        "0 msync from 0 flags 4 @16384 +8192\n"
        "0 fault from 0 flags 1 @28672 +4096\n");
  CHECK(calls.approximated("stores to shared mappings not visible") == 1);
}

TEST_CASE("a mapping stays when its file is closed") {
  Mapped calls;
  calls.run(map_of(3, 100, 1)).run(close_of(3)).run(memory_call(Call::munmap, 100, 1));
  CHECK(calls.text() ==
        "0 mmap #0 from 0 flags 1001 @0 +4096\n"
        "0 close #0\n"
        "0 munmap from 0\n");
}

TEST_CASE("a moved mapping keeps its identity") {
  Mapped calls;
  SystemCall move = memory_call(Call::mremap, 100, 4);
  move.offset = 2 * kPage;  // the old length
  move.result = 200 * kPage;
  calls.run(map_of(3, 100, 2)).run(map_of(3, 202, 2)).run(move);
  CHECK(calls.text() ==
        "0 mmap #0 from 0 flags 1001 @0 +8192\n"
        "0 mmap #0 from 1 flags 1001 @0 +8192\n"
        "0 munmap from 1\n");
  SystemCall sync = memory_call(Call::msync, 203, 1);
  calls.run(memory_call(Call::munmap, 100, 2)).run(sync).run(memory_call(Call::munmap, 200, 4));
  // Where it has grown the file may end, and the mapping that is replayed does.
  CHECK(calls.text() == "0 munmap from 0\n");
  CHECK(calls.approximated("memory maps grown by mremap") == 1);
}

TEST_CASE("forked processes share mappings until both have unmapped them") {
  Mapped calls;
  calls.run(map_of(3, 100, 1)).run(fork_of(200));
  calls.text();
  calls.run(memory_call(Call::munmap, 100, 1));
  CHECK(calls.text().empty());
  calls.run(by(200, on_path(Call::exec, "/bin/true")));
  CHECK(calls.text() == "1 exec bin/true\n1 munmap from 0\n");
}

TEST_CASE("exit ends mappings, but not those that another task uses") {
  Mapped calls;
  calls.run(map_of(3, 100, 1)).run(fork_of(200, CLONE_VM | CLONE_VFORK));
  calls.text();
  calls.run(by(200, call_of(Call::exit_group, 0)));
  CHECK(calls.text() == "1 exit\n");
  calls.run(call_of(Call::exit_group, 0));
  CHECK(calls.text() == "0 munmap from 0\n0 close #0\n0 exit\n");
}

TEST_CASE("invalid addresses are harmless") {
  Mapped calls;
  SystemCall map = map_of(3, 1, 1);
  map.length = UINT64_MAX;
  SystemCall unmap = call_of(Call::munmap, 0);
  unmap.address = UINT64_MAX;
  unmap.length = UINT64_MAX;
  SystemCall move = call_of(Call::mremap, INT64_MAX);
  move.address = 5;
  move.offset = UINT64_MAX;
  move.length = UINT64_MAX;
  calls.run(map_of(3, 1, 1)).run(map).run(unmap).run(move).run(map_of(3, 7, 0));
  calls.resolver.finish(calls.now_ns);
  CHECK(calls.lost("calls with offsets out of range") == 1);
}

TEST_CASE("page faults by file are found in its mappings") {
  Mapped calls;
  calls.run(map_of(3, 100, 4, 10 * kPage)).run(map_of(3, 200, 4, 12 * kPage));
  calls.run(memory_call(Call::munmap, 101, 1));
  calls.text();
  SystemCall several = file_fault("/a", 10);
  several.length = 10 * kPage;
  calls.run(file_fault("/a", 12)).run(several);
  CHECK(calls.text() ==
        "0 fault from 0 @8192 +4096\n"
        "0 fault from 0 @0 +4096\n"
        "0 fault from 0 @8192 +8192\n"
        "0 fault from 1 @8192 +8192\n");
  CHECK(calls.approximated("memory maps created by exec") == 0);
}

TEST_CASE("a faulting file is identified by device and inode, not by name") {
  RecordedCalls calls;
  SystemCall open = open_at("/a", O_RDWR, 3);
  open.stat = SeenStat{.mode = S_IFREG | 0644, .size = 9999, .device = 1, .inode = 5};
  calls.run(open).run(map_of(3, 100, 4)).run(two_paths(Call::rename, "/a", "/b"));
  calls.text();
  calls.run(file_fault("/a", 1, 0, 5, 9999)).run(file_fault({}, 2, 0, 5, 9999));
  CHECK(calls.text() == "0 fault from 0 @4096 +4096\n0 fault from 0 @8192 +4096\n");
}

TEST_CASE("stores change a file only through mappings that share it") {
  Mapped calls;
  calls.run(map_of(3, 100, 4, 0, MAP_PRIVATE, PROT_READ | PROT_WRITE));
  calls.run(map_of(3, 200, 2, 0, MAP_SHARED, PROT_READ | PROT_WRITE));
  calls.text();
  calls.run(file_fault("/a", 1, 1)).run(file_fault("/a", 3, 1));
  CHECK(calls.text() == "0 fault from 1 flags 1 @4096 +4096\n0 fault from 0 @12288 +4096\n");
}

TEST_CASE("files mapped by exec are mapped on their first page fault, until the next exec") {
  RecordedCalls calls;
  calls.run(on_path(Call::exec, "/bin/x"))
      .run(file_fault("/bin/x", 2, 1, 7, 20'000))  // somebody else's store
      .run(file_fault("/bin/x", 4, 0, 7, 20'000))
      .run(file_fault("/bin/x", 2, 1, 7, 20'000))
      .run(file_fault("/lib/ld.so", 1))
      .run(file_fault(std::string("/lib/gone") + kRemovedMark, 1))
      .run(file_fault("/dev/zero", 1))
      .run(file_fault("anon_inode:x", 1));
  CHECK(calls.text() ==
        "0 exec bin/x\n"
        "0 open bin/x #0 loose\n"
        "0 mmap #0 from 0 flags 1001 @0 +20000 loose\n"
        "0 close #0\n"
        "0 fault from 0 @16384 +4096\n"
        "0 fault from 0 @8192 +4096\n"
        "0 open lib/ld.so #0 loose\n"
        "0 mmap #0 from 1 flags 1001 @0 +8192 loose\n"
        "0 close #0\n"
        "0 fault from 1 @4096 +4096\n");
  CHECK(calls.approximated("memory maps created by exec") == 2);
  calls.run(fork_of(200)).run(by(200, file_fault("/bin/x", 1, 0, 7, 20'000)));
  CHECK(calls.text() == "0 fork second 1\n1 fault from 0 @4096 +4096\n");
  calls.run(by(200, call_of(Call::exit_group, 0))).run(on_path(Call::exec, "/bin/y"));
  CHECK(calls.text() == "1 exit\n0 exec bin/y\n0 munmap from 0\n0 munmap from 1\n");
  const TraceTrees trees = calls.builder.trees();
  REQUIRE(trees.initial.entries.size() >= 2);
  CHECK(trees.initial.entries[1].path == "bin/x");
  CHECK(trees.initial.entries[1].size == 20'000);
}

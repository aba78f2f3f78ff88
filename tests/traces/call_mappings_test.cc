// Files in memory.
#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>

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

TEST_CASE("msync and faults say where in the mapping") {
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
  CHECK(calls.approximated("stores to shared mappings are not visible") == 1);
}

TEST_CASE("a mapping stays when its file is closed") {
  Mapped calls;
  calls.run(map_of(3, 100, 1)).run(close_of(3)).run(memory_call(Call::munmap, 100, 1));
  CHECK(calls.text() ==
        "0 mmap #0 from 0 flags 1001 @0 +4096\n"
        "0 close #0\n"
        "0 munmap from 0\n");
}

TEST_CASE("a mapping that is moved is the same") {
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
  CHECK(calls.approximated("memory maps that grow") == 1);
}

TEST_CASE("a forked process has the mappings too, until both are done with them") {
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

TEST_CASE("nonsense addresses do no harm") {
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
  CHECK(calls.lost("calls with impossible offsets") == 1);
}

#include "traces/record/bpf/bpf_translation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "tests/traces/bpf_events.h"
#include "tests/traces/recorded_calls.h"
#include "traces/record/bpf/bpf_calls.h"

namespace filereel {
namespace {

constexpr std::uint64_t kZero = 1'000'000;

// Translates events whose times, unless they are set, follow each other.
struct RecordedEvents {
  explicit RecordedEvents(const ResolverOptions& options = {})
      : calls(options),
        translation(
            calls.builder, calls.resolver, kZero,
            {.mapped_file = [this](std::uint32_t, std::uint64_t, std::uint64_t) { return mapped; },
             .mount_point =
                 [](std::uint64_t device) {
                   return std::string(device == makedev(8, 1) ? "/mnt" : "");
                 }}) {}

  RecordedEvents& take(BpfEvent event) {
    if (event.head.end_ns == 0) {
      now += 2;
      event.at(now - 1, now);
    }
    const std::vector<std::byte> bytes = event.bytes();
    translation.take(bytes);
    return *this;
  }
  std::string text() { return calls.text(); }

  std::string mapped;  // of what is mapped
  std::uint64_t now = kZero;
  RecordedCalls calls;
  BpfTranslation translation;
};

BpfEvent opened(const std::string& path, std::int64_t descriptor, std::uint64_t file,
                std::uint64_t inode = 1) {
  return BpfEvent::call(SYS_openat, {kCwd, kPointer, O_RDONLY, 0}, descriptor)
      .path(path)
      .extra(file)
      .identity(inode, S_IFREG | 0644, 100);
}
// A file whose open was not seen; path "": it has none, as memory.
BpfEvent told(std::uint64_t descriptor, std::uint64_t file, const std::string& path,
              std::uint64_t inode) {
  return BpfEvent(EVENT_FILE)
      .with({descriptor})
      .file(file)
      .identity(inode, S_IFREG | 0644, 100)
      .real(0, path);
}
BpfEvent read_of(std::uint64_t descriptor, std::uint64_t file) {
  return BpfEvent::call(SYS_pread64, {descriptor, kPointer, 10, 0}, 10).file(file);
}
BpfEvent exec_of(const std::string& path) {
  return BpfEvent(EVENT_EXEC).path(path).identity(900, S_IFREG | 0755, 8192).real(0, path);
}

TEST_CASE("calls that are unknown here are counted by number") {
  std::array<bpf_shape, SHAPES> shapes{};
  set_shapes(shapes, false);
  CHECK(shapes[500].recorded == 1);
  CHECK(shapes[SYS_getpid].recorded == 0);
  for (const long number :
       {long{SYS_clone}, long{SYS_exit_group}, long{SYS_futex}, long{SYS_connect}, 335L, 470L}) {
    CAPTURE(number);
    CHECK(shapes[static_cast<std::size_t>(number)].recorded == 0);
  }
  RecordedEvents events;
  events.take(BpfEvent::call(500, {3, 0})).take(BpfEvent::call(500, {3, 0}, -EINVAL));
  CHECK(events.calls.lost("unknown system calls: syscall_500") == 1);
}

TEST_CASE("unsupported calls are counted as lost") {
  RecordedEvents events;
  events.take(BpfEvent::call(SYS_mount, {kPointer, kPointer}))
      .take(BpfEvent::call(SYS_setns, {3, 0}, -EPERM));
  CHECK(events.text().empty());
  CHECK(events.calls.lost("unsupported system calls: mount") == 1);
}

TEST_CASE("calls with a bad pointer are counted by name") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10).real(0, "/f"))
      .take(BpfEvent::call(SYS_renameat, {kCwd, kPointer, kCwd, kPointer}, -EFAULT))
      .take(BpfEvent::call(SYS_openat2, {kCwd, kPointer, kPointer, 24}, -EFAULT).path("/f"))
      .take(BpfEvent::call(SYS_fcntl, {3, F_SETLK, kPointer}, -EFAULT).file(0x10))
      .take(BpfEvent::call(SYS_pipe2, {kPointer, 0}, -EFAULT));
  const auto lost = [&](const std::string& name) {
    return events.calls.lost("calls with a bad pointer or descriptor: " + name);
  };
  CHECK(lost("renameat") == 1);
  CHECK(lost("openat2") == 1);
  CHECK(lost("fcntl") == 1);
  CHECK(events.calls.builder.info().lost.size() == 3);
}

TEST_CASE("calls beyond the memory limit are lost by name, and ends of threads are kept") {
  RecordedEvents events;
  std::atomic<std::uint64_t> dropped = 0;
  MemoryBound bound({.now = 0, .at_end = 0}, events.calls.builder.tables().paths, dropped);
  events.take(opened("/f", 3, 0x10).real(0, "/f"));
  events.translation.bound(bound);
  events.take(read_of(3, 0x10)).take(read_of(3, 0x10)).take(BpfEvent(EVENT_EXIT));
  CHECK(events.text() ==
        "0 open f #0\n"
        "0 close #0\n"
        "0 exit\n");
  CHECK(events.calls.lost("events lost for lack of memory (--memory): pread64") == 2);
  CHECK(dropped == 2);
}

TEST_CASE("an open that contains only a name is completed with the previous directory") {
  RecordedEvents events;
  events.take(opened("a/f", 3, 0x10, 1).real(0, "/real/f"))
      .take(opened("a/g", 4, 0x20, 2).real(0, "g", PART_SIBLING))
      .take(opened("", 5, 0x30, 3).with({kCwd, kPointer, O_CREAT}).real(0, "h", PART_SIBLING));
  CHECK(events.text() ==
        "0 open real/f #0\n"
        "0 open real/g #1\n"
        "0 open real/h #2 flags 100\n");
}

TEST_CASE("each thread has its own previous directory until it ends") {
  RecordedEvents events;
  events.take(opened("/one/f", 3, 0x10, 1).real(0, "/one/f"))
      .take(BpfEvent(EVENT_FORK).with({CLONE_THREAD | CLONE_VM | CLONE_FILES}).result(101))
      .take(opened("/two/f", 4, 0x20, 2).by(101, 100).real(0, "/two/f"))
      .take(opened("", 5, 0x30, 3).real(0, "g", PART_SIBLING))
      .take(opened("", 6, 0x40, 4).by(101, 100).real(0, "g", PART_SIBLING));
  const std::string text = events.text();
  CHECK(text.contains("0 open one/g"));
  CHECK(text.contains("1 open two/g"));
  events.take(BpfEvent(EVENT_EXIT).by(101, 100))
      .take(BpfEvent(EVENT_FORK).with({CLONE_THREAD | CLONE_VM | CLONE_FILES}).result(101))
      .take(opened("", 7, 0x50, 5).by(101, 100).real(0, "h", PART_SIBLING));
  CHECK_FALSE(events.text().contains("open"));
  CHECK(events.calls.lost("opens whose directory was in a lost event") == 1);
}

TEST_CASE("a name without its directory falls back to the program's path") {
  RecordedEvents events;
  events.take(opened("/d/g", 3, 0x10).real(0, "g", PART_SIBLING));
  CHECK(events.text() == "0 open d/g #0\n");
  // Nor is the directory of a path known that was too long to be told.
  events.take(opened("/e/f", 4, 0x20, 2).real(0, "/e/f"))
      .take(opened("/x/f", 5, 0x30, 3).part(PART_REAL, 0, "\5ab"))
      .take(opened("/y/g", 6, 0x40, 4).real(0, "g", PART_SIBLING));
  CHECK(events.text().ends_with("0 open y/g #3\n"));
}

TEST_CASE("a file in the root has no directory before its name") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10, 1).real(0, "/f"))
      .take(opened("", 4, 0x20, 2).with({kCwd, kPointer, O_CREAT}).real(0, "g", PART_SIBLING));
  CHECK(events.text().ends_with("0 open g #1 flags 100\n"));
}

TEST_CASE("a file without a directory is not the root") {
  RecordedEvents events;
  events.take(BpfEvent::call(SYS_pipe2, {kPointer, 0}).copy(0, std::array<int, 2>{8, 9}))
      .take(BpfEvent::call(SYS_openat, {kCwd, kPointer, O_RDONLY, 0}, 3)
                .path("/proc/self/fd/9")
                .extra(0x10)
                .identity(1, S_IFIFO | 0600)
                .real(0, "/"))
      .take(BpfEvent::call(SYS_openat, {kCwd, kPointer, O_DIRECTORY, 0}, 4)
                .path("/")
                .extra(0x20)
                .identity(2, S_IFDIR | 0755)
                .real(0, "/"));
  CHECK(events.text() == "0 open . #0 flags 200000\n");
}

TEST_CASE("the trace starts when the process has executed the program") {
  RecordedEvents events;
  events.translation.begin_with_exec_of(100);
  events.take(opened("/before", 3, 0x10).real(0, "/before"))
      .take(exec_of("/bin/other").by(99, 99))
      .take(exec_of("/bin/true").at(kZero + 500, kZero + 600))
      .take(opened("/after", 3, 0x10).real(0, "/after").at(kZero + 700, kZero + 800));
  REQUIRE(events.calls.operations.size() == 3);
  CHECK(events.calls.operations[0].start_ns == 0);
  // It works from then on.
  CHECK(events.calls.operations[1].operation.flags == wait_flags::kForProcessor);
  CHECK(events.calls.operations[1].duration_ns == 0);
  CHECK(events.calls.operations[2].start_ns == 200);
  CHECK(events.text() ==
        "0 exec bin/true\n"
        "0 wait flags 2 +0 second 0\n"
        "0 open after #0\n");
}

TEST_CASE("a process has ended when it was waited for, even if its end is reported later") {
  RecordedEvents events;
  const auto wait = [](std::uint64_t options) {
    return BpfEvent::call(SYS_wait4, {0xffff'ffff, 0, options, 0}, 200);
  };
  events.take(opened("/f", 3, 0x10).real(0, "/f"))
      .take(BpfEvent(EVENT_FORK).with({0}).result(200))
      .take(opened("/g", 3, 0x20).real(0, "/g").by(200, 200))
      .take(wait(WUNTRACED))  // it was stopped
      .take(wait(0))
      .take(BpfEvent(EVENT_EXIT).by(200, 200));
  const auto& all = events.calls.operations;
  REQUIRE(all.size() >= 2);
  CHECK(all[all.size() - 2].operation.kind == OperationKind::exit);
  CHECK(all[all.size() - 2].operation.thread == 1);
  CHECK(all.back().operation.kind == OperationKind::join);
  CHECK(std::ranges::count(all, OperationKind::join,
                           [](const auto& one) { return one.operation.kind; }) == 1);
}

TEST_CASE("the time in which a signal stopped the threads counts once") {
  RecordedEvents events;
  const auto stop = [](std::uint32_t thread, std::uint64_t begin, std::uint64_t end) {
    BpfEvent wait(EVENT_WAIT);
    wait.head.flags = WAIT_FOR_PAGE;
    return wait.with({0, 1}).at(kZero + begin, kZero + end).by(thread, 100);
  };
  events.take(opened("/f", 3, 0x10).real(0, "/f"));
  CHECK(events.translation.stopped_ns() == 0);
  events.take(stop(100, 1000, 3000)).take(stop(101, 1100, 3100)).take(stop(100, 5000, 5500));
  CHECK(events.translation.stopped_ns() == 2600);
}

TEST_CASE("a wait names the thread that ended it, which may have ended, too") {
  RecordedEvents events;
  BpfEvent for_thread(EVENT_WAIT), for_ended(EVENT_WAIT), for_unknown(EVENT_WAIT);
  for_thread.head.flags = for_ended.head.flags = for_unknown.head.flags = wait_flags::kForThread;
  events.take(opened("/f", 3, 0x10).real(0, "/f"))
      .take(BpfEvent(EVENT_FORK).with({0}).result(200))
      .take(opened("/g", 3, 0x20).real(0, "/g").by(200, 200))
      .take(BpfEvent(EVENT_WAKE).result(100).by(200, 200))
      .take(for_thread.with({40}).result(200).at(kZero + 100, kZero + 150))
      .take(BpfEvent(EVENT_EXIT).by(200, 200))
      .take(for_ended.with({70}).result(200))
      .take(for_unknown.with({5}).result(300));
  const auto& all = events.calls.operations;
  REQUIRE(all.size() == 9);
  CHECK(all[3].operation.second == 0);
  CHECK(all[4].operation.second == 1);
  CHECK(all[4].operation.length == 40);
  CHECK(all[4].duration_ns == 50);
  CHECK(all[7].operation.flags == wait_flags::kForThread);
  CHECK(all[7].operation.second == 1);
  CHECK(all[8].operation.flags == wait_flags::kForOutside);
  CHECK(events.text() ==
        "0 open f #0\n"
        "0 fork second 1\n"
        "1 open g #1\n"
        "1 wake second 0\n"
        "0 wait +40 second 1\n"
        "1 close #1\n"
        "1 exit\n"
        "0 wait +70 second 1\n"
        "0 wait flags 1 +5 second 0\n");
}

TEST_CASE("a wait for a page is repeated by the page fault before it, if that is in the trace") {
  RecordedEvents events;
  BpfEvent page(EVENT_WAIT);
  page.head.flags = WAIT_FOR_PAGE;
  events.take(opened("/f", 3, 0x10).real(0, "/f"))
      .take(page.with({10}))
      .take(BpfEvent::call(SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE, 3, 0}, 0x7000).file(0x10))
      .take(BpfEvent(EVENT_FAULT).with({0, 1, 0}).identity(1, S_IFREG | 0644, 100).real(0, "/f"))
      .take(page.with({10}));
  const auto& all = events.calls.operations;
  REQUIRE(all.size() >= 5);
  CHECK(all[1].operation.flags == wait_flags::kForOutside);
  CHECK(all[all.size() - 2].operation.kind == OperationKind::fault);
  CHECK(all.back().operation.flags == wait_flags::kForProcessor);
}

TEST_CASE("times before the start of the trace become its start") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10).real(0, "/f").at(kZero - 50, kZero + 50));
  REQUIRE(events.calls.operations.size() == 1);
  CHECK(events.calls.operations[0].start_ns == 0);
  CHECK(events.calls.operations[0].duration_ns == 50);
}

TEST_CASE("open files are closed at the time when recording stopped") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10).real(0, "/f").at(kZero + 10, kZero + 20));
  events.translation.finish(kZero + 1000);
  REQUIRE(events.calls.operations.size() == 2);
  CHECK(events.calls.operations[1].operation.kind == OperationKind::close);
  CHECK(events.calls.operations[1].start_ns == 1000);
}

TEST_CASE("events of an ignored process are dropped") {
  RecordedEvents events;
  events.translation.ignore(55);
  events.take(opened("/f", 3, 0x10).by(55, 55).real(0, "/f"))
      .take(opened("/g", 3, 0x20).real(0, "/g"));
  CHECK(events.text() == "0 open g #0\n");
}

TEST_CASE("children inherit their parents' open files, threads share them") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10).real(0, "/f"))
      .take(BpfEvent(EVENT_FORK).result(200))
      .take(BpfEvent::call(SYS_close, {3}).file(0x10))
      .take(read_of(3, 0x10).by(200, 200))
      .take(BpfEvent(EVENT_EXIT).by(200, 200));
  CHECK(events.text() ==
        "0 open f #0\n"
        "0 fork second 1\n"
        "1 read #0 @0 +10 = 10\n"
        "1 close #0\n"
        "1 exit\n");
}

TEST_CASE("a file whose open was missed has the name that the kernel reports") {
  RecordedEvents events;
  events.take(told(7, 0x70, "/old/f", 1)).take(read_of(7, 0x70)).take(read_of(7, 0x70));
  CHECK(events.text().starts_with("0 open old/f #0 loose\n0 read #0 @0 +10 = 10\n"));
  events.take(BpfEvent::call(SYS_close, {7}).file(0x70));
  // With the same number, from another process.
  events.take(told(8, 0x70, "/sent/g", 2)).take(read_of(8, 0x70));
  CHECK(events.text().contains("open sent/g"));
}

TEST_CASE("an open file that takes over the number of one whose close was missed is another one") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10, 1).real(0, "/f")).take(read_of(3, 0x10));
  events.take(told(9, 0x10, "/sent/g", 2)).take(read_of(9, 0x10));
  CHECK(events.text().contains("0 open sent/g #1 loose\n0 read #1 @0 +10 = 10\n"));
}

TEST_CASE("a file that is reported again remains the same") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10, 1).real(0, "/f")).take(told(3, 0x10, "/f", 1));
  events.take(read_of(3, 0x10));
  CHECK(events.text() == "0 open f #0\n0 read #0 @0 +10 = 10\n");
}

TEST_CASE("what is not a file is never taken for one, whatever its number refers to later") {
  RecordedEvents events;
  events.take(opened("/served", 3, 0x10).real(0, "/served"));
  events.text();
  BpfEvent sent = BpfEvent::call(SYS_sendfile, {4, 3, 0, 9000}, 9000).file(0x10, 0x40);
  sent.head.flags = EVENT_NO_FILE_2;
  events.take(sent);
  CHECK(events.text() == "0 read #0 @0 +9000 = 9000\n");
  BpfEvent waited = BpfEvent::call(SYS_fcntl, {5, F_SETFL, O_NONBLOCK}).file(0x50);
  waited.head.flags = EVENT_NO_FILE;
  events.take(waited);
  CHECK(events.text().empty());
}

TEST_CASE("setting flags of an unknown file does not open it, but reading does") {
  RecordedEvents events;
  events.take(told(5, 0x50, "/other/f", 1));
  events.take(BpfEvent::call(SYS_fcntl, {5, F_SETFL, O_NONBLOCK}).file(0x50));
  events.take(read_of(5, 0x50));
  CHECK(events.text().ends_with("read #0 @0 +10 = 10\n"));
}

TEST_CASE("a memfd is not a file, in any process") {
  RecordedEvents events;
  const auto shared = [](std::uint64_t descriptor) {
    return BpfEvent::call(SYS_ftruncate, {descriptor, 100}).file(0x50);
  };
  events.take(BpfEvent::call(SYS_memfd_create, {kPointer, 0}, 5).extra(0x50))
      .take(told(5, 0x50, "", 1))
      .take(shared(5))
      .take(BpfEvent::call(SYS_dup, {5}, 6).file(0x50).extra(0x50))
      .take(shared(6))
      .take(BpfEvent(EVENT_FORK).result(200))
      .take(BpfEvent::call(SYS_close, {5}).file(0x50))
      .take(BpfEvent::call(SYS_close, {6}).file(0x50))
      .take(shared(9).by(200, 200))
      .take(shared(9).by(200, 200));
  CHECK(events.text() == "0 fork second 1\n");
  events.take(opened("/f", 3, 0x50).real(0, "/f")).take(read_of(3, 0x50));
  CHECK(events.text().ends_with("0 open f #0\n0 read #0 @0 +10 = 10\n"));
}

TEST_CASE("a failed memfd_create has no descriptor and changes no directory") {
  const auto text_with = [](bool asks) {
    RecordedEvents events;
    if (asks) events.take(BpfEvent::call(SYS_memfd_create, {kPointer, 0x80}, -EINVAL));
    events.take(opened("f", 3, 0x10).real(0, "/home/f"))
        .take(BpfEvent::call(SYS_unlinkat, {kCwd, kPointer, 0}).path("f"))
        .take(read_of(3, 0x10))
        .take(read_of(4, 0));
    return events.text();
  };
  CHECK(text_with(true) == text_with(false));
}

TEST_CASE("exec by another thread than the first continues under the first one's number") {
  RecordedEvents events;
  events.take(opened("/f", 3, 0x10).real(0, "/f"))
      .take(BpfEvent(EVENT_FORK)
                .with({CLONE_THREAD | CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND})
                .result(101))
      .take(BpfEvent(EVENT_EXIT))
      .take(exec_of("/bin/next").with({101}))
      .take(read_of(3, 0x10))
      .take(BpfEvent(EVENT_EXIT));
  CHECK(events.text() ==
        "0 open f #0\n"
        "0 fork second 1\n"
        "0 exit\n"
        "1 exec bin/next\n"
        "1 read #0 @0 +10 = 10\n"
        "1 close #0\n"
        "1 exit\n");
}

TEST_CASE(
    "files mapped by exec are found by the program's path or relative to their file system's "
    "root") {
  RecordedEvents events({.faults = true});
  const auto fault = [](std::uint64_t inode, std::uint64_t page) {
    return BpfEvent(EVENT_FAULT).with({page, 1, 0}).identity(inode, S_IFREG | 0755, 16384);
  };
  events.take(exec_of("/bin/prog"))
      .take(fault(900, 1).real(0, "/elsewhere/prog", PART_PARTIAL))
      .take(fault(901, 2).real(0, "/lib/ld.so", PART_PARTIAL));
  const std::string text = events.text();
  CHECK(text.contains("open bin/prog"));
  CHECK(text.contains("open mnt/lib/ld.so"));
  CHECK_FALSE(text.contains("elsewhere"));
}

TEST_CASE("a mapped file has the name it was mapped by") {
  RecordedEvents events({.faults = true});
  events.mapped = "/lib/ld.so";
  events.take(exec_of("/bin/prog"));
  events.text();
  events.take(BpfEvent(EVENT_FAULT).with({0, 1, 0}).identity(9, S_IFREG, 100).real(0, "/other"));
  CHECK(events.text().starts_with("0 open lib/ld.so #0 loose\n"));
}

TEST_CASE("page faults of files on unknown file systems are dropped") {
  RecordedEvents events({.faults = true});
  BpfEvent fault = BpfEvent(EVENT_FAULT).with({0, 1, 0});
  bpf_identity identity{};
  identity.inode = 5;
  identity.mode = S_IFREG;
  identity.device = 99;
  events.take(exec_of("/bin/prog"));
  events.text();
  events.take(fault.object(PART_IDENTITY, 0, identity).real(0, "/x", PART_PARTIAL));
  CHECK(events.text().empty());
}

TEST_CASE("page faults in maps of opened files are found after renames") {
  RecordedEvents events({.faults = true});
  events.take(opened("/f", 3, 0x10, 77).real(0, "/f"))
      .take(BpfEvent::call(SYS_mmap, {0, 8192, 1, 1, 3, 0}, 0x10000).file(0x10))
      .take(BpfEvent(EVENT_FAULT).with({1, 1, 0}).identity(77, S_IFREG, 100).real(0, "/z"));
  const std::string page = std::to_string(sysconf(_SC_PAGESIZE));
  CHECK(events.text().ends_with("0 fault from 0 @" + page + " +" + page + "\n"));
}

TEST_CASE("corrupt events are counted") {
  RecordedEvents events;
  events.translation.take({});
  events.take(BpfEvent(EVENT_KINDS));
  CHECK(events.calls.lost("corrupt events") == 2);
}

}  // namespace
}  // namespace filereel

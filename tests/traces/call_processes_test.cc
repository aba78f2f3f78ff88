// Threads, processes, and what they share.
#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"

using namespace filereel;

namespace {

constexpr std::uint64_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_THREAD;

SystemCall exit_of(std::uint32_t thread, Call kind = Call::exit_group) {
  return by(thread, call_of(kind, 0));
}

SystemCall exec_of(std::uint32_t thread, const std::string& path, std::int64_t result = 0) {
  return by(thread, on_path(Call::exec, path, result));
}

}  // namespace

TEST_CASE("a forked process has the parent's files and shares their positions") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(fork_of(200))
      .run(by(200, data(Call::read, 3, 10, 10)))
      .run(data(Call::read, 3, 10, 10))
      .run(by(200, open_at("/b", O_RDONLY, 4)))
      .run(data(Call::read, 4, 10, -EBADF))
      .run(close_of(3))
      .run(exit_of(200));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 fork second 1\n"
        "1 read #0 @0 +10 = 10\n"
        "0 read #0 @10 +10 = 10\n"
        "1 open b #1\n"
        "1 close #0\n"
        "1 close #1\n"
        "1 exit\n");
  CHECK(calls.builder.thread(1).parent == 0);
  CHECK(calls.builder.thread(1).process == 200);
}

TEST_CASE("threads share numbers and the working directory") {
  RecordedCalls calls;
  calls.run(fork_of(101, kThreadFlags))
      .run(by(101, open_at("/a", O_RDONLY, 3)))
      .run(by(101, on_path(Call::chdir, "/d")))
      .run(data(Call::read, 3, 10, 10))
      .run(on_path(Call::stat, "x"))
      .run(exit_of(101, Call::exit))
      .run(close_of(3));
  CHECK(calls.text() ==
        "0 fork second 1\n"
        "1 open a #0\n"
        "1 chdir d\n"
        "0 read #0 @0 +10 = 10\n"
        "0 stat d/x +0\n"
        "1 exit\n"
        "0 close #0\n");
  CHECK(calls.builder.thread(1).process == kThread);
}

TEST_CASE("a forked process has its own working directory") {
  RecordedCalls calls("/w");
  calls.run(fork_of(200))
      .run(by(200, on_path(Call::chdir, "sub")))
      .run(on_path(Call::stat, "x"))
      .run(by(200, on_path(Call::stat, "x")));
  CHECK(calls.text() == "0 fork second 1\n1 chdir w/sub\n0 stat w/x +0\n1 stat w/sub/x +0\n");
}

TEST_CASE("exec closes close-on-exec descriptors and leaves the parent's files open") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY | O_CLOEXEC, 3))
      .run(open_at("/b", O_RDONLY, 4))
      .run(open_at("/c", O_RDONLY, 5))
      .run(on_file(Call::set_cloexec, 5, 0, 1))
      .run(dup_of(4, 6, O_CLOEXEC))
      .run(fork_of(200, CLONE_VM | CLONE_VFORK));
  calls.text();
  calls.run(exec_of(200, "/bin/missing", -ENOENT)).run(exec_of(200, "/bin/true"));
  CHECK(calls.text() == "1 exec bin/missing = -2\n1 exec bin/true\n");
  calls.run(close_of(3)).run(close_of(5)).run(close_of(4)).run(close_of(6));
  CHECK(calls.text() == "0 close #0\n0 close #2\n");  // the child still has /b
  calls.run(exit_of(200));
  CHECK(calls.text() == "1 close #1\n1 exit\n");
  CHECK(calls.builder.thread(1).name == "true");
}

TEST_CASE(
    "the path of an executed program begins where its parent was, though its fork ends later") {
  std::vector<std::string> executed;
  RecordedCalls calls(
      ResolverOptions{.working_directory = "/w",
                      .executed = [&](const std::string& path) { executed.push_back(path); }});
  calls.run(on_path(Call::chdir, "/d"));
  const SystemCall fork = calls.begin(fork_of(200));
  calls.run(exec_of(200, "missing", -ENOENT)).run(exec_of(200, "./program"));
  calls.end(fork, 200);
  CHECK(calls.text() == "0 chdir d\n0 fork second 1\n1 exec d/missing = -2\n1 exec d/program\n");
  CHECK(executed == std::vector<std::string>{"/d/program"});
}

TEST_CASE("exec ends the other threads of its process") {
  RecordedCalls calls;
  calls.run(fork_of(101, kThreadFlags))
      .run(by(101, open_at("/a", O_RDONLY, 3)))
      .run(exec_of(101, "/bin/true"));
  CHECK(calls.text() ==
        "0 fork second 1\n"
        "1 open a #0\n"
        "1 exec bin/true\n"
        "0 exit\n");
  calls.run(data(Call::read, 3, 10, 10));  // thread 100 is what thread 101 was
  CHECK(calls.text() == "1 read #0 @0 +10 = 10\n");
}

TEST_CASE("exec reported under the surviving number belongs to the other thread") {
  RecordedCalls calls;
  calls.run(fork_of(101, kThreadFlags)).run(by(101, open_at("/a", O_RDONLY, 3)));
  calls.resolver.ended(kThread, calls.now_ns++);
  calls.text();
  calls.run(exec_of(kThread, "/bin/true")).run(data(Call::read, 3, 10, 10));
  CHECK(calls.text() == "1 exec bin/true\n1 read #0 @0 +10 = 10\n");
}

TEST_CASE("the last task to end closes open files") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3)).run(fork_of(101, kThreadFlags));
  calls.text();
  calls.run(exit_of(kThread, Call::exit));
  CHECK(calls.text() == "0 exit\n");
  calls.resolver.ended(101, calls.now_ns++);
  CHECK(calls.text() == "1 close #0\n1 exit\n");
  calls.resolver.ended(101, calls.now_ns++);
  CHECK(calls.text().empty());
}

TEST_CASE("a call that returns after its process has ended is dropped") {
  RecordedCalls calls;
  calls.run(fork_of(101, kThreadFlags));
  SystemCall write = by(101, open_at("/a", O_RDONLY, 3));
  write.enter_ns = calls.now_ns++;
  calls.run(exit_of(kThread));
  write.exit_ns = calls.now_ns++;
  calls.text();
  calls.resolver.returned(write);
  CHECK(calls.text().empty());
  CHECK(calls.lost("calls that returned after their process ended") == 1);
}

TEST_CASE("waiting for a process joins its first thread, once") {
  RecordedCalls calls;
  SystemCall wait = call_of(Call::wait, 200);
  calls.run(fork_of(200)).run(wait).run(exit_of(200)).run(wait).run(wait);
  CHECK(calls.text() == "0 fork second 1\n1 exit\n0 join second 1\n");
}

TEST_CASE("threads without a fork are separate processes") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3)).run(by(300, open_at("/b", O_RDONLY, 3)));
  calls.run(close_of(3)).run(by(300, data(Call::read, 3, 1, 1)));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "1 open b #1\n"
        "0 close #0\n"
        "1 read #1 @0 +1 = 1\n");
}

TEST_CASE("a child whose calls come before its fork returns waits for it") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  const SystemCall fork = calls.begin(fork_of(0, CLONE_VM | CLONE_VFORK));
  calls.run(by(200, data(Call::read, 3, 10, 10))).run(by(200, close_of(3)));
  calls.run(exec_of(200, "/bin/true"));
  CHECK(calls.text() == "0 open a #0\n");
  calls.end(fork, 200);
  CHECK(calls.text() ==
        "0 fork second 1\n"
        "1 read #0 @0 +10 = 10\n"
        "1 exec bin/true\n");
}

TEST_CASE("a child seen before its fork's start is adopted when the fork returns") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  SystemCall fork = fork_of(200);
  fork.enter_ns = calls.now_ns++;
  calls.run(by(200, on_path(Call::stat, "/x")));
  fork.exit_ns = calls.now_ns++;
  calls.resolver.returned(fork);
  calls.run(by(200, data(Call::read, 3, 10, 10)));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "1 stat x +0\n"
        "1 read #0 @0 +10 = 10\n");
  CHECK(calls.builder.thread(1).parent == 0);
}

TEST_CASE("files assumed before a thread's fork are closed if the parent has others") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  SystemCall clone = fork_of(101, kThreadFlags);
  clone.enter_ns = calls.now_ns++;
  SystemCall early = by(101, data(Call::read, 3, 10, 10));
  early.fd_path = "/b";
  calls.run(early);
  clone.exit_ns = calls.now_ns++;
  calls.resolver.returned(clone);
  calls.resolver.finish(calls.now_ns++);
  CHECK(calls.text() ==
        "0 open a #0\n"
        "1 open b #1 loose\n"
        "1 read #1 @0 +10 = 10 loose\n"
        "1 close #1\n"
        "1 close #0\n");
}

TEST_CASE("a reused number is a new thread") {
  RecordedCalls calls;
  calls.run(fork_of(200)).run(by(200, open_at("/a", O_RDONLY, 3))).run(fork_of(200));
  CHECK(calls.text() ==
        "0 fork second 1\n"
        "1 open a #0\n"
        "1 close #0\n"
        "1 exit\n"
        "0 fork second 2\n");
}

TEST_CASE("the end of the trace closes open files") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3)).run(fork_of(200));
  calls.text();
  calls.resolver.finish(calls.now_ns);
  CHECK(calls.text() == "1 close #0\n");
}

TEST_CASE("an unknown descriptor is not a file if all opens were seen") {
  RecordedCalls calls;
  calls.run(data(Call::read, 7, 100, 50)).text();
  SystemCall exec = on_path(Call::exec, "/bin/x");
  exec.thread = 900;
  SystemCall read = data(Call::read, 7, 100, 50), positioned = data(Call::read, 8, 100, 50);
  read.thread = positioned.thread = 900;
  positioned.offset = 0;
  calls.run(exec).run(read).run(positioned);
  CHECK(calls.text() ==
        "1 exec bin/x\n"
        "1 open filereel-unknown/900-8 #1 loose\n"
        "1 read #1 @0 +100 = 50\n");
}

TEST_CASE("a process that stops sharing its descriptors closes only its own") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3))
      .run(fork_of(200, CLONE_FILES | CLONE_FS))
      .run(by(200, on_file(Call::unshare, SystemCall::kNone, 0, CLONE_FILES | CLONE_FS)))
      .run(by(200, close_of(3)))
      .run(by(200, on_path(Call::chdir, "/d")))
      .run(data(Call::read, 3, 10, 10))
      .run(on_path(Call::stat, "x"));
  CHECK(calls.text() ==
        "0 open a #0\n"
        "0 fork second 1\n"
        "1 chdir d\n"
        "0 read #0 @0 +10 = 10\n"
        "0 stat x +0\n");
}

TEST_CASE(
    "the state of a process before the trace is known: files, positions, threads, directory") {
  RecordedCalls calls;
  calls.resolver.begin_process(
      {.id = 100,
       .name = "server",
       .threads = {100, 101},
       .directory = "/home",
       .root = {},
       .open = {{0, "pipe:[5]", O_RDONLY, 0, {}},
                {3, "/log", O_RDWR | O_APPEND, 20, SeenStat{.mode = S_IFREG | 0644, .size = 500}},
                {4, "/data", O_RDONLY | O_CLOEXEC, 70, {}}}});
  calls.run(data(Call::read, 0, 10, 10))
      .run(by(101, data(Call::read, 4, 10, 10)))
      .run(data(Call::read, 4, 10, 10))
      .run(data(Call::write, 3, 10, 10))
      .run(on_path(Call::chdir, "x"))
      .run(exec_of(100, "/bin/y"))
      .run(data(Call::read, 4, 10, -EBADF));
  const std::string text = calls.text();
  CHECK(text.find("1 read #0 @70 +10 = 10\n") != std::string::npos);
  CAPTURE(text);
  CHECK(text.find("0 read #0 @80 +10 = 10\n") != std::string::npos);
  CHECK(text.find("0 write #1 @500 +10 = 10\n") != std::string::npos);
  CHECK(text.find("0 chdir home/x\n") != std::string::npos);
  CHECK(text.find("0 close #0\n") != std::string::npos);
  CHECK(text.find("pipe") == std::string::npos);
}

TEST_CASE("a process first seen in another root has paths relative to that root") {
  RecordedCalls calls;
  calls.resolver.begin_process({.id = 100,
                                .name = {},
                                .threads = {100, 101},
                                .directory = "/jail/w",
                                .root = "/jail",
                                .open = {}});
  calls.run(on_path(Call::stat, "/x"))
      .run(on_path(Call::stat, "y"))
      .run(by(101, on_path(Call::stat, "../../../z")))
      .run(fork_of(102))
      .run(by(102, on_path(Call::stat, "/v")));
  CHECK(calls.text() ==
        "0 stat jail/x +0\n"
        "0 stat jail/w/y +0\n"
        "1 stat jail/z +0\n"
        "0 fork second 2\n"
        "2 stat jail/v +0\n");
}

TEST_CASE("a process in its own mount namespace sees other links") {
  RecordedCalls calls({.link_at = [](const std::string& path) {
    return path == "/lib" || path == "/bin" ? "/usr" + path : "";
  }});
  SUBCASE("by unshare") {
    calls.run(fork_of(101)).run(by(101, on_path(Call::unshare, "", 0, CLONE_NEWNS)));
  }
  SUBCASE("by clone") {
    calls.run(fork_of(101, CLONE_NEWNS));
  }
  calls.run(by(101, on_path(Call::stat, "/lib/x"))).run(on_path(Call::stat, "/bin/y"));
  CHECK(calls.text() ==
        "0 fork second 1\n"
        "1 stat lib/x +0\n"
        "0 stat usr/bin/y +0\n");
  CHECK(calls.approximated("symbolic links in another mount namespace not resolved") == 1);
}

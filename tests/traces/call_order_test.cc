// Calls that overlapped.
#include <cerrno>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/file.h>

#include "tests/traces/recorded_calls.h"

using namespace filereel;

namespace {

// Two processes, 100 and 200, as threads 0 and 1; /d/old exists and /d/new does not.
struct Two : RecordedCalls {
  Two() {
    run(on_path(Call::stat, "/d/new", -ENOENT));
    run(by(200, on_path(Call::stat, "/d/old")));
    text();
  }
};

constexpr int kCreate = O_WRONLY | O_CREAT | O_EXCL;

}  // namespace

TEST_CASE("a name that is there waits for the call that may be making it") {
  Two calls;
  const SystemCall create = calls.begin(open_at("/d/new", kCreate, 0));
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.end(stat, 0);
  calls.run(by(200, on_path(Call::unlink, "/d/old")));
  CHECK(calls.text().empty());
  calls.end(create, 3);
  CHECK(calls.text() ==
        "0 open d/new #0 flags 301 mode 644\n"
        "1 stat d/new +0\n"
        "1 unlink d/old\n");
}

TEST_CASE("a name that is gone waits for the call that may be removing it") {
  Two calls;
  const SystemCall rename = calls.begin(two_paths(Call::rename, "/d/old", "/d/other"));
  const SystemCall open = calls.begin(by(200, open_at("/d/old", O_RDONLY, 0)));
  calls.end(open, -ENOENT);
  CHECK(calls.text().empty());
  calls.end(rename, 0);
  CHECK(calls.text() == "0 rename d/old -> d/other\n1 open d/old = -2\n");
}

TEST_CASE("names below a directory wait for what makes or moves the directory") {
  Two calls;
  const SystemCall mkdir = calls.begin(on_path(Call::mkdir, "/d/new"));
  const SystemCall create = calls.begin(by(200, open_at("/d/new/f", kCreate, 0)));
  calls.end(create, 3);
  CHECK(calls.text().empty());
  calls.end(mkdir, 0);
  CHECK(calls.text() == "0 mkdir d/new\n1 open d/new/f #0 flags 301 mode 644\n");
}

TEST_CASE("a directory that was removed waits for what empties it") {
  Two calls;
  calls.run(on_path(Call::mkdir, "/e")).run(open_at("/e/f", kCreate, 3));
  calls.text();
  const SystemCall unlink = calls.begin(on_path(Call::unlink, "/e/f"));
  const SystemCall rmdir = calls.begin(by(200, on_path(Call::rmdir, "/e")));
  calls.end(rmdir, 0);
  CHECK(calls.text().empty());
  calls.end(unlink, 0);
  CHECK(calls.text() == "0 unlink e/f\n1 rmdir e\n");
}

TEST_CASE("who made a name first is found out") {
  Two calls;
  const SystemCall first = calls.begin(open_at("/d/new", kCreate, 0));
  const SystemCall second = calls.begin(by(200, open_at("/d/new", kCreate, 0)));
  calls.end(second, -EEXIST);
  calls.end(first, 3);
  CHECK(calls.text() ==
        "0 open d/new #0 flags 301 mode 644\n"
        "1 open d/new flags 301 mode 644 = -17\n");
}

TEST_CASE("what nothing under way can explain is not held back") {
  Two calls;
  const SystemCall create = calls.begin(open_at("/d/unrelated", kCreate, 0));
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.end(stat, 0);
  CHECK(calls.text() ==
        "1 open d/new #0 flags 301 mode 755\n"
        "1 close #0\n"
        "1 stat d/new +0\n");
  calls.end(create, 3);
  CHECK(calls.text() == "0 open d/unrelated #0 flags 301 mode 644\n");
}

TEST_CASE("a result from before another call's is loose") {
  Two calls;
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.run(open_at("/d/new", kCreate, 3));
  calls.end(stat, -ENOENT);
  CHECK(calls.text() ==
        "0 open d/new #0 flags 301 mode 644\n"
        "1 stat d/new +0 = -2 loose\n");
  CHECK(calls.approximated("results that depend on races") == 1);
}

TEST_CASE("without the begin of calls nothing is held back or loose") {
  Two calls;
  SystemCall stat = by(200, on_path(Call::stat, "/d/new"));
  stat.result = -ENOENT;
  stat.enter_ns = calls.now_ns++;
  calls.run(open_at("/d/new", kCreate, 3));
  stat.exit_ns = calls.now_ns++;
  calls.resolver.returned(stat);
  CHECK(calls.text() ==
        "0 open d/new #0 flags 301 mode 644\n"
        "1 stat d/new +0 = -2\n");
  CHECK(calls.approximated("results that depend on races") == 0);
}

TEST_CASE("a call that never returns is not waited for without end") {
  Two calls;
  calls.begin(open_at("/d/new", kCreate, 0));
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.end(stat, 0);
  CHECK(calls.text().empty());
  for (int i = 0; i < 2000; ++i) calls.run(by(300, on_path(Call::stat, "/other")));
  CHECK(calls.text().find("1 stat d/new") != std::string::npos);
}

TEST_CASE("calls that wait for each other go on in the order in which they ended") {
  Two calls;
  calls.run(on_path(Call::stat, "/x", -ENOENT)).run(on_path(Call::stat, "/y", -ENOENT));
  calls.text();
  const SystemCall x = calls.begin(two_paths(Call::rename, "/x", "/y"));
  const SystemCall y = calls.begin(by(200, two_paths(Call::rename, "/y", "/x")));
  calls.end(x, 0);
  CHECK(calls.text().empty());
  calls.end(y, 0);
  CHECK(calls.text() ==
        "0 open x #0 flags 301 mode 755\n"
        "0 close #0\n"
        "0 rename x -> y\n"
        "1 rename y -> x\n");
}

TEST_CASE("the end of the trace gives what was held back") {
  Two calls;
  calls.begin(open_at("/d/new", kCreate, 0));
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.end(stat, 0);
  calls.resolver.finish(calls.now_ns);
  CHECK(calls.text() ==
        "1 open d/new #0 flags 301 mode 755\n"
        "1 close #0\n"
        "1 stat d/new +0\n");
}

TEST_CASE("a killed process is not waited for") {
  Two calls;
  calls.begin(open_at("/d/new", kCreate, 0));
  calls.resolver.ended(kThread, calls.now_ns++);
  calls.text();
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.end(stat, 0);
  // What it was doing may well have been done.
  CHECK(calls.text() ==
        "1 open d/new #0 flags 301 mode 755\n"
        "1 close #0\n"
        "1 stat d/new +0\n");
}

TEST_CASE("an asynchronous request whose end was not seen takes no other's result") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  const auto request = [](std::uint32_t thread, std::uint64_t offset) {
    SystemCall call = by(thread, data_at(Call::submit, 3, offset, 50, 0));
    call.requested = Call::read;
    call.request = 7;
    return call;
  };
  calls.run(fork_of(101, CLONE_THREAD | CLONE_FILES | CLONE_VM | CLONE_FS));
  calls.run(request(101, 0));
  calls.resolver.ended(101, calls.now_ns++);
  calls.text();
  calls.run(request(kThread, 100));
  SystemCall complete = call_of(Call::complete, 40);
  complete.request = 7;
  calls.run(complete);
  CHECK(calls.text().find("read #0 @100 +50 = 40 asynchronous") != std::string::npos);
}

TEST_CASE("a lock waits for the unlock or the close that may have let it in") {
  Two calls;
  calls.run(open_at("/f", O_RDWR, 3))
      .run(by(200, open_at("/f", O_RDWR, 3)))
      .run(by(200, open_at("/f", O_RDWR, 4)))
      .run(on_file(Call::flock, 3, 0, LOCK_EX));
  calls.text();
  const SystemCall lock = by(200, on_file(Call::flock, 3, 0, LOCK_EX | LOCK_NB));
  const SystemCall unlock = calls.begin(on_file(Call::flock, 3, 0, LOCK_UN));
  calls.run(lock);
  CHECK(calls.text().empty());
  calls.end(unlock, 0);
  CHECK(calls.text() == "0 lock #0 flags 4 @0 +0\n1 lock #1 flags 2 @0 +0\n");

  const SystemCall close = calls.begin(by(200, close_of(3)));
  calls.run(on_file(Call::flock, 3, 0, LOCK_SH));
  CHECK(calls.text().empty());
  calls.end(close, 0);
  CHECK(calls.text() == "1 close #1\n0 lock #0 flags 21 @0 +0\n");
}

TEST_CASE("a lock waits for nothing that concerns other locks") {
  Two calls;
  calls.run(open_at("/f", O_RDWR, 3))
      .run(open_at("/g", O_RDWR, 4))
      .run(by(200, open_at("/f", O_RDWR, 3)));
  calls.text();
  calls.begin(on_file(Call::flock, 4, 0, LOCK_UN));
  calls.run(by(200, on_file(Call::flock, 3, 0, LOCK_EX | LOCK_NB)));
  calls.begin(on_file(Call::flock, 3, 0, LOCK_UN));
  calls.run(by(200, on_file(Call::flock, 3, -EAGAIN, LOCK_EX | LOCK_NB)));
  CHECK(calls.text() == "1 lock #2 flags 2 @0 +0\n1 lock #2 flags 2 @0 +0 = -11 loose\n");
}

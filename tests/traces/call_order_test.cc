// Calls that overlapped.
#include "traces/calls/call_order.h"

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

TEST_CASE("a call that needs a name waits for the call that may create it") {
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

TEST_CASE("a call that needs a name to be absent waits for the call that may remove it") {
  Two calls;
  const SystemCall rename = calls.begin(two_paths(Call::rename, "/d/old", "/d/other"));
  const SystemCall open = calls.begin(by(200, open_at("/d/old", O_RDONLY, 0)));
  calls.end(open, -ENOENT);
  CHECK(calls.text().empty());
  calls.end(rename, 0);
  CHECK(calls.text() == "0 rename d/old -> d/other\n1 open d/old = -2\n");
}

TEST_CASE("names below a directory wait for calls that create or rename it") {
  Two calls;
  const SystemCall mkdir = calls.begin(on_path(Call::mkdir, "/d/new"));
  const SystemCall create = calls.begin(by(200, open_at("/d/new/f", kCreate, 0)));
  calls.end(create, 3);
  CHECK(calls.text().empty());
  calls.end(mkdir, 0);
  CHECK(calls.text() == "0 mkdir d/new\n1 open d/new/f #0 flags 301 mode 644\n");
}

TEST_CASE("removing a directory waits for calls that empty it") {
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

TEST_CASE("the first creator of a name is determined") {
  Two calls;
  const SystemCall first = calls.begin(open_at("/d/new", kCreate, 0));
  const SystemCall second = calls.begin(by(200, open_at("/d/new", kCreate, 0)));
  calls.end(second, -EEXIST);
  calls.end(first, 3);
  CHECK(calls.text() ==
        "0 open d/new #0 flags 301 mode 644\n"
        "1 open d/new flags 301 mode 644 = -17\n");
}

TEST_CASE("a result that no call in flight can explain is not held back") {
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

TEST_CASE("a result from before an overlapping call is not compared") {
  Two calls;
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.run(open_at("/d/new", kCreate, 3));
  calls.end(stat, -ENOENT);
  CHECK(calls.text() ==
        "0 open d/new #0 flags 301 mode 644\n"
        "1 stat d/new +0 = -2 loose\n");
  CHECK(calls.approximated("results that depend on races") == 1);
}

TEST_CASE("without starts of calls, none is held back and all are compared") {
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

TEST_CASE("waiting for a call that never returns is bounded") {
  Two calls;
  calls.begin(open_at("/d/new", kCreate, 0));
  const SystemCall stat = calls.begin(by(200, on_path(Call::stat, "/d/new")));
  calls.end(stat, 0);
  CHECK(calls.text().empty());
  for (int i = 0; i < 2000; ++i) calls.run(by(300, on_path(Call::stat, "/other")));
  CHECK(calls.text().find("1 stat d/new") != std::string::npos);
}

TEST_CASE("calls that wait for each other continue in the order in which they ended") {
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

TEST_CASE("the end of the trace releases held calls") {
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

TEST_CASE("an asynchronous request with unknown completion takes no other request's result") {
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

TEST_CASE("a lock waits for the unlock or close that may have released it") {
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

TEST_CASE("a lock does not wait for other locks") {
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

namespace {

SystemCall request_by(std::uint32_t thread, std::uint64_t name) {
  SystemCall call = by(thread, data_at(Call::submit, 3, 0, 50, 0));
  call.requested = Call::read;
  call.request = name;
  return call;
}

SystemCall completion_of(std::uint64_t name, std::int64_t result) {
  SystemCall call = call_of(Call::complete, result);
  call.request = name;
  return call;
}

// Calls of other threads that say nothing of names.
void pass(RecordedCalls& calls, int count) {
  for (int i = 0; i < count; ++i) calls.run(by(300, on_path(Call::stat, "/other")));
}

constexpr const char* kUnknownCompletion = "asynchronous requests with unknown completion";

}  // namespace

TEST_CASE("waiting for a fork that never returns is bounded") {
  Two calls;
  pass(calls, 1);
  calls.begin(fork_of(0));
  calls.text();
  calls.run(by(400, on_path(Call::stat, "/d/old")));
  CHECK(calls.text().empty());
  pass(calls, 1000);
  CHECK(calls.text().find("stat d/old") == std::string::npos);
  pass(calls, 1000);
  CHECK(calls.text().find("stat d/old") != std::string::npos);
}

TEST_CASE("waiting for a request that never completes is bounded") {
  Two calls;
  pass(calls, 1);
  calls.run(open_at("/a", O_RDONLY, 3)).run(request_by(kThread, 7)).run(data(Call::read, 3, 5, 5));
  calls.text();
  pass(calls, 1000);
  CHECK(calls.text().find("read") == std::string::npos);
  pass(calls, 1000);
  const std::string text = calls.text();
  CHECK(text.find("read #0 @0 +50 = 50 asynchronous") != std::string::npos);
  CHECK(text.find("read #0 @0 +5 = 5") != std::string::npos);
  CHECK(calls.approximated(kUnknownCompletion) == 1);
  calls.run(completion_of(7, 20));  // too late
  CHECK(calls.text().empty());
}

TEST_CASE("requests in a deep queue may wait for one another") {
  RecordedCalls calls;
  constexpr std::uint64_t kDepth = 4000;
  calls.run(open_at("/a", O_RDONLY, 3));
  for (std::uint64_t i = 0; i < kDepth; ++i) calls.run(request_by(kThread, i));
  for (std::uint64_t i = kDepth; i-- > 0;) calls.run(completion_of(i, 40));
  CHECK(calls.operations.size() == kDepth + 1);
  CHECK(calls.approximated(kUnknownCompletion) == 0);
}

TEST_CASE("requests of one name complete in the order of their submission") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDONLY, 3));
  for (int i = 0; i < 3; ++i) calls.run(request_by(kThread, 7));
  calls.text();
  for (int i = 1; i <= 3; ++i) {
    calls.run(completion_of(7, i));
    CHECK(calls.text() == fmt::format("0 read #0 @0 +50 = {} asynchronous\n", i));
  }
}

namespace {

// The steps that calls take while each of so many threads waits for a request.
std::uint64_t steps_during(std::uint32_t requests) {
  struct Nowhere : OperationSink {
    void add(const RecordedOperation&) override {}
  } nowhere;
  TraceTables tables;
  TraceBuilder builder(tables, nowhere);
  CallParts parts(builder, ResolverOptions{.working_directory = "/"});
  CallOrder order(parts);
  std::uint64_t now = 1;
  const auto run = [&](SystemCall call) {
    call.enter_ns = now++;
    order.entered(call);
    call.exit_ns = now++;
    order.returned(call);
  };
  constexpr std::uint32_t kFirst = 1000, kCalls = 500;
  for (std::uint32_t i = 0; i < requests; ++i) run(request_by(kFirst + i, i));
  const std::uint64_t before = order.steps();
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    run(by(300, open_at(fmt::format("/new{}", i), kCreate, 3)));
    run(by(300, close_of(3)));
  }
  const std::uint64_t during = order.steps() - before;
  SystemCall end = by(300, call_of(Call::exit_group, 0));
  order.returned(end);
  CHECK(order.steps() - before - during <= 2 * requests + 10);
  order.finish();
  return during;
}

}  // namespace

TEST_CASE("the cost of a call does not grow with the requests in flight") {
  const std::uint64_t few = steps_during(10);
  CHECK(steps_during(2000) <= few + 10);
}

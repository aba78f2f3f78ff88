#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/programs.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> shell(const std::string& script) {
  return {"sh", "-c", script};
}

std::string failure(const std::vector<std::string>& command) {
  try {
    run_program(command, "cannot make tea");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "";
}

// Waits until the child has printed something, so that it is known to have come so far.
void await_output(const ChildProcess& child) {
  for (int i = 0; i < 500 && child.output().empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  REQUIRE_FALSE(child.output().empty());
}

TEST_CASE("a program that is not there is named") {
  const std::string text = failure({"no-such-program-filereel"});
  CHECK(text == "no-such-program-filereel is not installed; install it");
}

TEST_CASE("a program that succeeds is no error") {
  CHECK(failure({"true"}).empty());
  CHECK(failure(shell("echo noise; echo more >&2; exit 0")).empty());
}

TEST_CASE("the error of a program holds its exit status and its last line") {
  CHECK(failure(shell("echo first; echo the disk is full >&2; echo; exit 3")) ==
        "cannot make tea: sh exited with status 3: the disk is full");
  CHECK(failure({"false"}) == "cannot make tea: false exited with status 1");
}

TEST_CASE("a killed program has the status that a shell would show") {
  CHECK(failure(shell("kill -KILL $$")) == "cannot make tea: sh exited with status 137");
}

TEST_CASE("output and status can be asked for while it runs and after its end") {
  ChildProcess child(shell("echo ready; read line"));
  await_output(child);
  // Standard input is empty, so that nothing can wait for the terminal.
  CHECK(child.wait(10) == 1);
  CHECK(child.wait(0) == 1);
  CHECK(child.output() == "ready\n");
}

TEST_CASE("a program that still runs has no status yet") {
  ChildProcess child(shell("echo ready; exec sleep 60"));
  await_output(child);
  CHECK_FALSE(child.wait(0.02));
  CHECK(child.terminate(10) == 128 + SIGTERM);
  CHECK(child.wait(0) == 128 + SIGTERM);
  CHECK(kill(child.pid(), 0) == -1);
  CHECK(errno == ESRCH);
}

TEST_CASE("a program that ignores the polite signal is killed") {
  ChildProcess child(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
  await_output(child);
  CHECK(child.terminate(0.1) == 128 + SIGKILL);
}

TEST_CASE("destroying the object ends the program") {
  pid_t pid = 0;
  {
    ChildProcess child(shell("echo ready; exec sleep 60"));
    await_output(child);
    pid = child.pid();
    CHECK(kill(pid, 0) == 0);
  }
  CHECK(kill(pid, 0) == -1);
}

TEST_CASE("a moved process is ended once, by its new owner") {
  ChildProcess first(shell("echo ready; exec sleep 60"));
  await_output(first);
  const pid_t pid = first.pid();
  {
    const ChildProcess second(std::move(first));
    CHECK(second.pid() == pid);
    CHECK(kill(pid, 0) == 0);
    CHECK(second.output() == "ready\n");
  }
  CHECK(kill(pid, 0) == -1);
}

TEST_CASE("the program is in a process group of its own, where our Ctrl-C does not reach it") {
  ChildProcess child(shell("echo ready; exec sleep 60"));
  await_output(child);
  CHECK(getpgid(child.pid()) == child.pid());
  CHECK(getpgid(child.pid()) != getpgid(0));
  void (*const before)(int) = signal(SIGINT, SIG_IGN);
  // A group of this test's own, so that the signal goes to nobody else. A session leader cannot
  // leave its group, but then it leads it already.
  const pid_t group = getpgrp();
  const bool moved = setpgid(0, 0) == 0;
  if (moved || group == getpid()) kill(0, SIGINT);
  if (moved) setpgid(0, group);
  CHECK_FALSE(child.wait(0.1));
  signal(SIGINT, before);
}

TEST_CASE("signals that the parent has blocked reach the program") {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  {
    ChildProcess child(shell("echo ready; exec sleep 60"));
    await_output(child);
    CHECK(child.terminate(10) == 128 + SIGTERM);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("nothing that was opened here is open in the program") {
  // What this test was started with and does not own goes on to every child.
  std::set<int> expected = {0, 1, 2};
  for (int fd = 0; fd < 1024; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) expected.insert(fd);
  }
  const TempDir temp;
  const Descriptor ours(open((temp / "f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ChildProcess child(
      shell("for fd in /proc/$$/fd/*; do if [ -e $fd ]; then echo ${fd##*/}; fi; done"));
  CHECK(child.wait(10) == 0);
  std::set<int> open_there;
  std::istringstream lines(child.output());
  for (int fd = 0; lines >> fd;) open_there.insert(fd);
  CHECK(open_there == expected);
}

TEST_CASE("a program that prints without end is kept to 64 KiB") {
  ChildProcess child(shell("yes | head -c 200000"));
  CHECK(child.wait(10) == 0);
  CHECK(child.output().size() == 64 << 10);
}

TEST_CASE("programs are found in PATH, and in the folders that users often lack in it") {
  const TempDir temp;
  std::ofstream(temp / "filereel-tool") << "#!/bin/sh\n";
  const std::string before = getenv("PATH");
  CHECK_FALSE(find_program("filereel-tool"));
  setenv("PATH", (temp.path() + ":" + before).c_str(), 1);
  CHECK_FALSE(find_program("filereel-tool"));  // not executable
  chmod((temp / "filereel-tool").c_str(), 0755);
  CHECK(find_program("filereel-tool") == temp / "filereel-tool");
  setenv("PATH", "", 1);
  CHECK(find_program("sh"));
  CHECK_FALSE(find_program("filereel-tool"));
  unsetenv("PATH");
  CHECK(find_program("sh"));
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace filereel

#include "traces/record/program.h"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/programs.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

std::vector<std::string> shell(const std::string& script) {
  return {"sh", "-c", script};
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

void await_file(const std::string& path) {
  for (int i = 0; i < 1000 && !exists(path); ++i) usleep(10'000);
  REQUIRE(exists(path));
}

std::string failure(const std::vector<std::string>& command) {
  HeldProgram program(command);
  try {
    program.release();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::failed);
    CHECK(program.wait(0) == 127);
    return error.what();
  }
  return "";
}

TEST_CASE("a held program does nothing until it is released") {
  const TempDir temp;
  HeldProgram program(shell("touch " + temp / "begun; exit 3"));
  CHECK(kill(program.pid(), 0) == 0);
  CHECK_FALSE(program.wait(0.05));
  CHECK_FALSE(exists(temp / "begun"));
  program.release();
  CHECK(program.wait(10) == 3);
  CHECK(program.wait(0) == 3);
  CHECK(exists(temp / "begun"));
}

TEST_CASE("a program still held at destruction never starts") {
  const TempDir temp;
  pid_t pid = 0;
  {
    const HeldProgram program(shell("touch " + temp / "begun"));
    pid = program.pid();
  }
  CHECK(kill(pid, 0) == -1);
  CHECK_FALSE(exists(temp / "begun"));
}

TEST_CASE("a running program survives destruction") {
  const TempDir temp;
  pid_t pid = 0;
  {
    HeldProgram program(
        shell("while [ ! -e " + temp / "go" + " ]; do sleep 0.01; done; touch " + temp / "done"));
    pid = program.pid();
    program.release();
  }
  CHECK(kill(pid, 0) == 0);
  std::ofstream(temp / "go") << "";
  await_file(temp / "done");
  kill(pid, SIGKILL);
}

TEST_CASE("the process itself executes the program") {
  const TempDir temp;
  HeldProgram program(shell("echo $$ >" + temp / "pid"));
  program.release();
  CHECK(program.wait(10) == 0);
  CHECK(text_of(temp / "pid") == std::to_string(program.pid()) + "\n");
}

TEST_CASE("a program that cannot be started is named with the reason and what to do") {
  CHECK(failure({"no-such-program-filereel", "x"}) ==
        "cannot start 'no-such-program-filereel': No such file or directory; check its name and "
        "PATH, or the interpreter in its first line");
  const TempDir temp;
  std::ofstream(temp / "script") << "#!/bin/sh\n";
  CHECK(failure({temp / "script"}).find("Permission denied; check that it is a program") !=
        std::string::npos);
  CHECK(failure({temp.path()}).find("Permission denied") != std::string::npos);
}

TEST_CASE("the name of a program that cannot be started is printable") {
  CHECK(failure({"no\nsuch"}).find('\n') == std::string::npos);
}

TEST_CASE("a text file without an interpreter is run by the shell") {
  const TempDir temp;
  std::ofstream(temp / "script") << "exit 7\n";
  chmod((temp / "script").c_str(), 0755);
  HeldProgram program({temp / "script"});
  program.release();
  CHECK(program.wait(10) == 7);
}

TEST_CASE("a program can be asked to end") {
  HeldProgram program({"sleep", "60"});
  program.release();
  CHECK_FALSE(program.wait(0.02));
  program.terminate();
  CHECK(program.wait(10) == 128 + SIGTERM);
  program.terminate();
}

TEST_CASE("a held program that is killed has that status, and releasing it is not an error") {
  HeldProgram program({"true"});
  kill(program.pid(), SIGKILL);
  CHECK(program.wait(10) == 128 + SIGKILL);
  program.release();
  CHECK(program.wait(0) == 128 + SIGKILL);
}

// Of a process: the line of /proc/PID/status that begins so, as a set of signals.
std::uint64_t signals_in(const std::string& status, const std::string& name) {
  const std::size_t at = status.find(name + ":\t");
  REQUIRE(at != std::string::npos);
  return std::stoull(status.substr(at + name.size() + 2, 16), nullptr, 16);
}

TEST_CASE("the program has filereel's original signal dispositions") {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  struct sigaction pipe{}, size{};
  sigaction(SIGPIPE, nullptr, &pipe);
  sigaction(SIGXFSZ, nullptr, &size);
  void (*const hangup)(int) = signal(SIGHUP, SIG_IGN);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) {
    const int other = ignored == SIGPIPE ? SIGXFSZ : SIGPIPE;
    signal(ignored, SIG_IGN);
    signal(other, SIG_DFL);
    ignore_write_signals();
    const TempDir temp;
    HeldProgram program({"cp", "/proc/self/status", temp / "status"});
    program.release();
    CHECK(program.wait(10) == 0);
    const std::string status = text_of(temp / "status");
    CHECK(signals_in(status, "SigBlk") == 0);
    const std::uint64_t mask = signals_in(status, "SigIgn");
    CHECK((mask >> (ignored - 1) & 1) == 1);
    CHECK((mask >> (other - 1) & 1) == 0);
    CHECK((mask >> (SIGHUP - 1) & 1) == 1);  // nohup filereel record ...
  }
  sigaction(SIGPIPE, &pipe, nullptr);
  sigaction(SIGXFSZ, &size, nullptr);
  signal(SIGHUP, hangup);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("the program starts with the given signal mask") {
  const TempDir temp;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  HeldProgram program({"cp", "/proc/self/status", temp / "status"}, nullptr, blocked);
  program.release();
  CHECK(program.wait(10) == 0);
  CHECK(signals_in(text_of(temp / "status"), "SigBlk") == 1 << (SIGUSR1 - 1));
}

TEST_CASE("it stays in our process group, so that Ctrl-C reaches it") {
  const HeldProgram program({"true"});
  CHECK(getpgid(program.pid()) == getpgrp());
}

TEST_CASE("the program inherits exactly this process's descriptors") {
  const TempDir temp;
  HeldProgram program(shell("ls /proc/$$/fd >" + temp / "fds"));
  HeldProgram other({"true"});  // begun later: does not keep the first one's leash
  const auto is_shells = [](int fd) { return fd >= 10 && fd < 20; };  // where it saves its own
  std::set<int> expected, seen;
  for (int fd = 0; fd < 1024; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0 && !is_shells(fd)) expected.insert(fd);
  }
  program.release();
  CHECK(program.wait(10) == 0);
  std::istringstream lines(text_of(temp / "fds"));
  for (int fd = 0; lines >> fd;) {
    if (!is_shells(fd)) seen.insert(fd);
  }
  CHECK(seen == expected);
  other.release();
  CHECK(other.wait(10) == 0);
}

TEST_CASE("preparation runs in the child, before the constructor returns") {
  HeldProgram program(shell("test $(umask) = 0051"), [] { umask(051); });
  program.release();
  CHECK(program.wait(10) == 0);
}

}  // namespace
}  // namespace filereel

#include "traces/record/program.h"

#include <array>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/process.h"

namespace filereel {
namespace {

constexpr std::string_view kNoRoom = "check the limit on processes (ulimit -u)";

// False at the end, when the other side is closed.
template <class T>
bool receive(const Descriptor& from, T& value) {
  ssize_t got = 0;
  do {
    got = recv(from.get(), &value, sizeof value, MSG_WAITALL);
  } while (got < 0 && errno == EINTR);
  return got == sizeof value;
}

template <class T>
bool send(const Descriptor& to, T value) {
  return ::send(to.get(), &value, sizeof value, MSG_NOSIGNAL) == sizeof value;
}

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* arguments, void (*prepare)(), const sigset_t& blocked,
                         const Descriptor& leash) {
  constexpr int kNever = 127;
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (prepare != nullptr) prepare();
  char go = 0;
  if (!send(leash, 0) || !receive(leash, go)) _exit(kNever);
  execvp(arguments[0], arguments);
  send(leash, errno);
  _exit(kNever);
}

std::string_view advice_on(int error) {
  switch (error) {
    case ENOENT:
      return "check its name and PATH, or the interpreter in its first line";
    case EACCES:
      return "check that it is a program and executable (chmod +x)";
    case ENOEXEC:
      return "it is not a program for this machine";
    default:
      return "check that it starts without filereel";
  }
}

}  // namespace

HeldProgram::HeldProgram(const std::vector<std::string>& command, void (*prepare)(),
                         const sigset_t& blocked)
    : name_(command.front()) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail(errno, kNoRoom);
  leash_.reset(ends[0]);
  Descriptor other_end(ends[1]);
  pid_ = fork();
  if (pid_ < 0) fail(errno, kNoRoom);
  if (pid_ == 0) {
    leash_.reset();  // so that it sees the end of this process's
    become(arguments.data(), prepare, blocked, other_end);
  }
  other_end.reset();
  int ready = 0;
  if (!receive(leash_, ready)) {
    wait(1);
    fail(ECHILD, kNoRoom);
  }
}

void HeldProgram::fail(int error, std::string_view advice) const {
  throw Error(ErrorKind::failed,
              fmt::format("cannot start '{}': {}; {}", printable(name_), strerror(error), advice));
}

HeldProgram::~HeldProgram() {
  if (!held_) return;
  leash_.reset();
  wait(1);
}

void HeldProgram::release() {
  held_ = false;
  int error = 0;
  // Were it killed meanwhile, wait() would say so.
  const bool failed = send(leash_, 'g') && receive(leash_, error);
  leash_.reset();  // where it has become the program, exec has closed the other end
  if (!failed) return;
  wait(1);
  fail(error, advice_on(error));
}

std::optional<int> HeldProgram::wait(double seconds) {
  if (!status_) status_ = wait_for(pid_, seconds);
  return status_;
}

void HeldProgram::terminate() {
  if (status_) return;
  kill(pid_, SIGTERM);
  kill(pid_, SIGCONT);
}

bool is_compat_program(const std::string& command) {
  const bool is_path = command.contains('/');
  const std::optional<std::string> path = is_path ? command : find_program(command);
  if (!path) return false;
  const Descriptor file(open(path->c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, EI_NIDENT> begin{};
  if (read(file.get(), begin.data(), begin.size()) != EI_NIDENT) return false;
  return std::string_view(begin.data(), SELFMAG) == ELFMAG && begin[EI_CLASS] == ELFCLASS32;
}

}  // namespace filereel

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
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"

namespace filereel {
namespace {

constexpr std::string_view kNoRoom = "check the limit on processes (ulimit -u)";

// False at end of file, when the other side is closed.
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
[[noreturn]] void exec_on_release(char* const* arguments, void (*prepare)(),
                                  const sigset_t& blocked, const Descriptor& control_socket) {
  constexpr int kNever = 127;
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (prepare != nullptr) prepare();
  char go = 0;
  if (!send(control_socket, 0) || !receive(control_socket, go)) _exit(kNever);
  execvp(arguments[0], arguments);
  send(control_socket, errno);
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
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const int error = errno;
    const std::string denied = denial("socketpair");
    fail(error, denied.empty() ? kNoRoom : denied);
  }
  control_socket_.reset(ends[0]);
  Descriptor other_end(ends[1]);
  pid_ = fork();
  if (pid_ < 0) fail(errno, kNoRoom);
  if (pid_ == 0) {
    control_socket_.reset();  // so that the child sees this process's end close
    exec_on_release(arguments.data(), prepare, blocked, other_end);
  }
  other_end.reset();
  int ready = 0;
  if (!receive(control_socket_, ready)) {
    wait(1);
    fail(ECHILD, kNoRoom);
  }
}

void HeldProgram::fail(int error, std::string_view advice) const {
  throw Error(ErrorKind::failed, fmt::format("cannot start '{}': {}", printable(name_),
                                             start_error_text(error, advice)));
}

HeldProgram::~HeldProgram() {
  if (!held_) return;
  control_socket_.reset();
  wait(1);
}

void HeldProgram::release() {
  held_ = false;
  int error = 0;
  // If it was killed meanwhile, wait() reports it.
  const bool failed = send(control_socket_, 'g') && receive(control_socket_, error);
  control_socket_.reset();  // if the program was executed, exec has closed the other end
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
  const std::optional<std::string> path = file_of_command(command);
  if (!path) return false;
  const Descriptor file(open(path->c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, EI_NIDENT> begin{};
  if (read(file.get(), begin.data(), begin.size()) != EI_NIDENT) return false;
  return std::string_view(begin.data(), SELFMAG) == ELFMAG && begin[EI_CLASS] == ELFCLASS32;
}

}  // namespace filereel

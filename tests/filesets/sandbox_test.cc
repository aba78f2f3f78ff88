#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/privileges.h"

namespace filereel {
namespace {

// Runs `check` in a process to which the call is denied.
template <class Check>
bool denied_to(long number, int error, const Check& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::array<sock_filter, 4> filter = {
        sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<__u32>(number)},
        sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<__u32>(error)},
        sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    const sock_fprog program{.len = filter.size(), .filter = filter.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const bool set = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    _exit(set && check() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST_CASE("a denied call is named with its error, and others are not") {
  for (const int error : {EPERM, ENOSYS}) {
    const std::string name = error == EPERM ? "EPERM" : "ENOSYS";
    CHECK(denied_to(SYS_openat2, error, [&] {
      return denial("openat2").starts_with("a policy denies the system call openat2 here (" +
                                           name) &&
             denial("syncfs").empty() && denial(CallUse::volumes) == denial("openat2") &&
             denied_calls().find("openat2 (" + name + ")") != std::string::npos &&
             denials_note().starts_with(" (a policy denies openat2 here");
    }));
    CHECK(denied_to(SYS_openat2, error, [] {
      try {
        require_calls(CallUse::volumes, "populate");
      } catch (const Error& refused) {
        return std::string(refused.what()).starts_with("populate is impossible: a policy denies ");
      }
      return false;
    }));
  }
}

TEST_CASE("what usual policies deny is not blamed for other failures") {
  CHECK(denied_to(SYS_io_uring_setup, EPERM,
                  [] { return denials_note().empty() && !denial(CallUse::rings).empty(); }));
  CHECK(denied_to(SYS_clone3, ENOSYS, [] { return denial("clone3").empty(); }));
  CHECK(denied_to(SYS_clone3, EPERM, [] { return !denial("clone3").empty(); }));
}

TEST_CASE("the error of the caller is kept, and unknown calls are not denied") {
  errno = ENOSPC;
  CHECK(denial("openat2") == denial("openat2"));
  CHECK(errno == ENOSPC);
  CHECK(denial("none").empty());
}

}  // namespace
}  // namespace filereel

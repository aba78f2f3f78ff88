// Programs that filereel starts, and the packages that contain them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "filesets/system/descriptor.h"

namespace filereel {

// --- Runs other programs: mkfs, fsck, FUSE drivers, strace.

// Returns the path of a program in PATH or in the system's sbin directories, which are often
// missing from a user's PATH.
std::optional<std::string> find_program(std::string_view name);

// The file of a command as execvp takes it: a path if it has a slash, otherwise a name in PATH.
// nullopt: there is none of the name; a path is not looked at.
std::optional<std::string> file_of_command(const std::string& command);

// From now on a write to a closed pipe or beyond the file size limit (ulimit -f) fails with an
// error instead of ending the process. Child programs inherit the caller's SIGPIPE and SIGXFSZ:
// exec() resets handlers, and an ignored signal stays ignored.
void ignore_write_signals();

// Waits up to `seconds` for a child to end. Returns its exit status (128 + signal if it was
// killed), or nothing if it is still running. 127 if there is no such child. The status is
// available once.
std::optional<int> wait_for(pid_t child, double seconds);

// The standard streams of a child.
struct ChildStreams {
  int input = -1, output = -1, errors = -1;
};

// Executes a program in the child of a fork, in a process group of its own and with no blocked
// signals. It gets SIGTERM when the thread that forked it dies. `parent` is the process that
// forked. Only async-signal-safe calls; exits with 127 on failure.
[[noreturn]] void exec_child(const char* program, char* const* arguments,
                             const ChildStreams& streams, pid_t parent);

// A child process in its own process group, so that Ctrl-C at the terminal does not reach it. It
// gets SIGTERM when the thread that started it dies, even by SIGKILL. The destructor terminates it.
class ChildProcess {
 public:
  // `command[0]` is looked up by find_program. Throws Error(failed) if it is missing (with the
  // package to install) or cannot be started. `directory`: an open one to run in; -1: the current.
  explicit ChildProcess(const std::vector<std::string>& command, int directory = -1);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  // Waits up to `seconds` for its end. Returns the exit status (128 + signal if it was killed), or
  // nothing if it is still running. May be called again after the end.
  std::optional<int> wait(double seconds);

  // Sends SIGTERM, then SIGKILL after `seconds`. Returns the exit status.
  int terminate(double seconds);

  pid_t pid() const { return pid_; }

  // Its output so far (stdout and stderr), at most 64 KiB.
  std::string output() const;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
  Descriptor output_;
};

// Runs a program to completion. Throws Error(failed) with the last line of its output unless it
// exits with 0. `what` starts the text: "cannot format a.img as ext4". `directory`: see
// ChildProcess.
void run_program(const std::vector<std::string>& command, std::string_view what,
                 int directory = -1);

// --- The programs that filereel starts, and the packages with them in the distributions.

enum class PackageManager : std::uint8_t { apt, dnf, pacman, zypper, apk };

inline constexpr std::array<std::string_view, 5> kPackageManagers = {"apt", "dnf", "pacman",
                                                                     "zypper", "apk"};

struct ProgramPackages {
  std::string_view program;
  // By package manager; "": its distributions have no package with the program.
  std::array<std::string_view, kPackageManagers.size()> packages;
};

// Returns null for programs that are not in the table.
const ProgramPackages* find_packages(std::string_view program);

// The package manager of the distribution described by the text of an os-release(5) file.
std::optional<PackageManager> package_manager_in(std::string_view os_release);

struct Installation {
  std::string command;                    // "dnf install ntfsprogs ntfs-3g"; "" without any package
  std::vector<std::string_view> without;  // programs that no package has
};

Installation installation_of(std::span<const std::string_view> programs, PackageManager manager);

// Returns what to do about a missing program on this machine: "run apt-get install fio", or
// "install it".
std::string install_advice(std::string_view program);

// The package manager of this machine, by /etc/os-release.
std::optional<PackageManager> package_manager_here();

}  // namespace filereel

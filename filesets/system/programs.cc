#include "filesets/system/programs.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/privileges.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr std::size_t kKeptOutput = 64 << 10;

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

}  // namespace

std::optional<std::string> find_program(std::string_view name) {
  const char* path = getenv("PATH");
  std::string folders = path ? path : "";
  folders += ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    std::string candidate = fmt::format("{}/{}", folders.substr(at, end - at), name);
    if (end > at && access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<std::string> file_of_command(const std::string& command) {
  return command.contains('/') ? command : find_program(command);
}

void ignore_write_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

std::optional<int> wait_for(pid_t child, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  useconds_t pause_us = 50;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) return 127;
    if (std::chrono::duration<double>(Clock::now() - begin).count() >= seconds) return std::nullopt;
    usleep(pause_us);
    pause_us = std::min<useconds_t>(pause_us * 2, 10'000);
  }
}

void exec_child(const char* program, char* const* arguments, const ChildStreams& streams,
                pid_t parent) {
  constexpr int kNever = 127;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNever);  // it died before prctl
  sigset_t none;                           // unblock the signals that this process has blocked
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(streams.input, STDIN_FILENO);
  dup2(streams.output, STDOUT_FILENO);
  dup2(streams.errors, STDERR_FILENO);
  execv(program, arguments);
  _exit(kNever);
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, int directory) {
  const std::optional<std::string> program = find_program(command[0]);
  if (!program) {
    throw Error(ErrorKind::failed,
                fmt::format("{} is not installed; {}", command[0], install_advice(command[0])));
  }
  std::vector<std::string> words = command;
  words[0] = *program;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  // O_APPEND: the child appends while output() reads from the start.
  output_.reset(memfd_create("output", MFD_CLOEXEC));
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!output_) output_.reset(open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));  // denied
  if (!output_ || !null) {
    const std::string denied = output_ ? "" : denial("memfd_create");
    throw_failed(
        fmt::format("cannot start {}: {}", *program, denied.empty() ? error_text(errno) : denied));
  }
  fcntl(output_.get(), F_SETFL, O_APPEND);
  const pid_t parent = getpid();
  pid_ = fork();
  const ChildStreams streams = {null.get(), output_.get(), output_.get()};
  if (pid_ == 0 && directory >= 0 && fchdir(directory) != 0) _exit(127);
  if (pid_ == 0) exec_child(arguments[0], arguments.data(), streams, parent);
  if (pid_ < 0) {
    throw_failed(fmt::format("cannot start {}: {}", *program, start_error_text(errno, "")));
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(other.status_),
      output_(std::move(other.output_)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) terminate(5);
}

std::optional<int> ChildProcess::wait(double seconds) {
  if (!status_) status_ = wait_for(pid_, seconds);
  return status_;
}

int ChildProcess::terminate(double seconds) {
  if (!status_) kill(pid_, SIGTERM);
  if (!wait(seconds)) kill(pid_, SIGKILL);
  return wait(10).value_or(127);  // a process in an uninterruptible call survives SIGKILL
}

std::string ChildProcess::output() const {
  std::string text(kKeptOutput, '\0');
  const ssize_t length = pread(output_.get(), text.data(), text.size(), 0);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

void run_program(const std::vector<std::string>& command, std::string_view what, int directory) {
  ChildProcess child(command, directory);
  constexpr double kForever = 1e6;  // formatting a large disk takes long
  const int status = child.wait(kForever).value_or(127);
  if (status == 0) return;
  const std::string said = last_line(child.output());
  throw Error(ErrorKind::failed, fmt::format("{}: {} exited with status {}{}{}", what, command[0],
                                             status, said.empty() ? "" : ": ", said));
}

namespace {

constexpr ProgramPackages same(std::string_view program, std::string_view package) {
  return {program, {package, package, package, package, package}};
}

// Those of apt are installed by the tests on Debian; the others are from the specifications of
// Fedora's, openSUSE's and Alpine's packages and Arch's package search (2026). The FUSE driver of
// exFAT is in another repository of Fedora (RPM Fusion), and in a package of Arch that excludes
// exfatprogs. mpirun of Fedora and openSUSE is not in PATH at first (docs/platforms.md).
constexpr auto kPrograms = std::to_array<ProgramPackages>({
    same("mkfs.ext4", "e2fsprogs"),
    {"fuse2fs", {"fuse2fs", "e2fsprogs", "fuse2fs", "fuse2fs", "fuse2fs"}},
    {"mkfs.ntfs", {"ntfs-3g", "ntfsprogs", "ntfsprogs", "ntfsprogs", "ntfs-3g-progs"}},
    same("ntfs-3g", "ntfs-3g"),
    same("mkfs.vfat", "dosfstools"),
    {"fusefat", {"fusefat", "", "", "", ""}},
    same("mkfs.exfat", "exfatprogs"),
    {"mount.exfat-fuse", {"exfat-fuse", "", "", "fuse-exfat", "fuse-exfat"}},
    same("mkfs.xfs", "xfsprogs"),
    {"mkfs.btrfs", {"btrfs-progs", "btrfs-progs", "btrfs-progs", "btrfsprogs", "btrfs-progs"}},
    same("strace", "strace"),
    same("fio", "fio"),
    same("modprobe", "kmod"),
    {"sh", {"dash", "bash", "bash", "bash", "busybox-binsh"}},
    {"mpirun", {"openmpi-bin", "openmpi", "openmpi", "openmpi4", "openmpi"}},
});

constexpr std::array<std::string_view, kPackageManagers.size()> kInstall = {
    "apt-get install", "dnf install", "pacman -S", "zypper install", "apk add"};

// Values of ID and ID_LIKE in os-release.
struct Distribution {
  std::string_view id;
  PackageManager manager;
};

constexpr auto kDistributions = std::to_array<Distribution>({
    {"debian", PackageManager::apt},
    {"ubuntu", PackageManager::apt},
    {"fedora", PackageManager::dnf},
    {"rhel", PackageManager::dnf},
    {"arch", PackageManager::pacman},
    {"suse", PackageManager::zypper},
    {"opensuse", PackageManager::zypper},
    {"alpine", PackageManager::apk},
});

// The distribution, then those that it is derived from: the words of ID and ID_LIKE.
std::vector<std::string> distribution_ids(std::string_view os_release) {
  std::vector<std::string> ids;
  for (const std::string_view key : {"ID=", "ID_LIKE="}) {
    for (std::size_t begin = 0; begin < os_release.size();) {
      const std::size_t end = std::min(os_release.find('\n', begin), os_release.size());
      std::string line(os_release.substr(begin, end - begin));
      begin = end + 1;
      if (!line.starts_with(key)) continue;
      line.erase(0, key.size());
      std::ranges::replace_if(line, [](char c) { return c == '"' || c == '\''; }, ' ');
      std::istringstream words(line);
      std::copy(std::istream_iterator<std::string>(words), {}, std::back_inserter(ids));
    }
  }
  return ids;
}

}  // namespace

const ProgramPackages* find_packages(std::string_view program) {
  return find_or_null(kPrograms, program, &ProgramPackages::program);
}

std::optional<PackageManager> package_manager_in(std::string_view os_release) {
  for (const std::string& id : distribution_ids(os_release)) {
    if (const auto* found = find_or_null(kDistributions, id, &Distribution::id)) {
      return found->manager;
    }
  }
  return std::nullopt;
}

Installation installation_of(std::span<const std::string_view> programs, PackageManager manager) {
  const auto column = static_cast<std::size_t>(manager);
  Installation installation;
  std::string packages;
  std::set<std::string_view> named;
  for (const std::string_view program : programs) {
    const ProgramPackages* known = find_packages(program);
    const std::string_view package = known == nullptr ? "" : known->packages[column];
    if (package.empty()) {
      installation.without.push_back(program);
    } else if (named.insert(package).second) {
      packages += fmt::format(" {}", package);
    }
  }
  if (!packages.empty()) installation.command = fmt::format("{}{}", kInstall[column], packages);
  return installation;
}

std::string install_advice(std::string_view program) {
  const std::optional<PackageManager> manager = package_manager_here();
  if (!manager) return "install it";
  const Installation installation = installation_of({&program, 1}, *manager);
  return installation.command.empty() ? "install it" : "run " + installation.command;
}

std::optional<PackageManager> package_manager_here() {
  std::ifstream file("/etc/os-release");
  return package_manager_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace filereel

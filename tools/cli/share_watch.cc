#include "tools/cli/share_watch.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "filesets/system/mounts.h"
#include "filesets/system/search.h"
#include "filesets/system/terminal.h"
#include "replay/volumes/processes.h"

namespace filereel {
namespace {

// The mounts on the way to the paths that do not respond, each once.
std::vector<MountedFileSystem> silent_mounts(const std::vector<std::string>& paths) {
  RemoteMounts remote;
  std::vector<MountedFileSystem> silent;
  for (const std::string& path : paths) {
    const std::optional<MountedFileSystem> mounted = remote.on_way_to(path);
    if (!mounted || remote.responds(path)) continue;
    if (!contains(silent, mounted->mount_point, &MountedFileSystem::mount_point)) {
      silent.push_back(*mounted);
    }
  }
  return silent;
}

void say(const std::string& text) {
  const std::string line =
      (is_terminal(STDERR_FILENO) ? "\nfilereel: " : "filereel: ") + text + "\n";
  static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

// Whether the other end is closed, within the time.
bool has_ended(int pipe, int milliseconds) {
  pollfd one{.fd = pipe, .events = POLLIN, .revents = 0};
  return poll(&one, 1, milliseconds) > 0;
}

std::string waiting_text(const MountedFileSystem& mounted) {
  return fmt::format(
      "{}; waiting for it. To give up, interrupt filereel; if it does not end, run {} as root",
      silence_text(mounted), release_advice(mounted));
}

// Runs in the process.
[[noreturn]] void watch(int pipe, pid_t parent, const std::vector<std::string>& paths) {
  constexpr int kInterval_ms = 3000;
  constexpr double kIdle_s = 0.02;  // of processor time in an interval
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  double used_s = process_cpu_s(parent);
  try {
    while (!has_ended(pipe, kInterval_ms)) {
      const double before_s = std::exchange(used_s, process_cpu_s(parent));
      if (used_s - before_s > kIdle_s) continue;
      RemoteMounts remote;
      for (const std::string& path : paths) {
        bool told = false;
        // One child waits for a mount until it responds: each look would leave another one behind.
        const auto waits_on = [&] {
          if (has_ended(pipe, 0)) return false;
          const std::optional<MountedFileSystem> mounted = remote.on_way_to(path);
          if (mounted && !std::exchange(told, true)) say(waiting_text(*mounted));
          return true;
        };
        remote.ask(path, [] { return std::string(); }, waits_on);
      }
    }
  } catch (const std::exception&) {  // no memory; the command itself reports it
  }
  _exit(0);
}

}  // namespace

std::string silent_shares(const std::vector<std::string>& paths) {
  std::string text;
  for (const MountedFileSystem& mount : silent_mounts(paths)) {
    text += fmt::format("{}{}: filereel ends when it does, or after {} as root",
                        text.empty() ? "" : "; ", silence_text(mount), release_advice(mount));
  }
  return text;
}

ShareWatch::ShareWatch(const std::vector<std::string>& paths) {
  const RemoteMounts remote;
  const bool needed = std::ranges::any_of(
      paths, [&](const std::string& path) { return remote.on_way_to(path).has_value(); });
  std::array<int, 2> ends{};
  if (!needed || pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Descriptor reading(ends[0]);
  pipe_.reset(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    pipe_.reset();
    watch(reading.get(), parent, paths);
  }
  if (child < 0) pipe_.reset();
}

}  // namespace filereel

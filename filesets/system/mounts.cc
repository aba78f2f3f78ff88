#include "filesets/system/mounts.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <fstream>
#include <sstream>
#include <utility>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/programs.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

// mountinfo writes space, tab, newline and backslash as \ and three octal digits.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      std::string_view digits = std::string_view(text).substr(i + 1, 3);
      unsigned code = 0;
      take_number(digits, code, 8);
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::optional<MountedFileSystem> parse_mount(const std::string& line) {
  // id parent major:minor root mount-point options [optional…] - type source super-options
  std::istringstream words(line);
  std::string id, parent, device, root, point, options, word, type, source, more;
  words >> id >> parent >> device >> root >> point >> options;
  while (words >> word && word != "-") {
  }
  words >> type >> source >> more;
  unsigned major_number = 0, minor_number = 0;
  // NOLINTNEXTLINE(cert-err34-c): the kernel's own digits
  if (sscanf(device.c_str(), "%u:%u", &major_number, &minor_number) != 2) return std::nullopt;
  return MountedFileSystem{makedev(major_number, minor_number),
                           unescape(root),
                           unescape(point),
                           type,
                           unescape(source),
                           distinct_options(options + "," + more)};
}

std::vector<MountedFileSystem> mounted_file_systems() {
  std::vector<MountedFileSystem> all;
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    if (auto mounted = parse_mount(line)) all.push_back(std::move(*mounted));
  }
  return all;
}

unsigned fuse_connection(const MountedFileSystem& mounted) {
  // The kernel's own form of the device number; that of fuseblk is a block device's.
  constexpr unsigned kMinorBits = 20;
  return (major(mounted.device) << kMinorBits) | minor(mounted.device);
}

std::string distinct_options(const std::string& options) {
  std::string distinct;
  std::istringstream all(options);
  for (std::string option; std::getline(all, option, ',');) {
    if (("," + distinct + ",").contains("," + option + ",")) continue;
    distinct += (distinct.empty() ? "" : ",") + option;
  }
  return distinct;
}

std::string mount_option(const std::string& options, const std::string& name) {
  const std::string all = "," + options, key = "," + name + "=";
  const std::size_t found = all.find(key);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + key.size();
  return all.substr(begin, all.find(',', begin) - begin);
}

std::string existing_path(const std::string& path) {
  namespace fs = boost::filesystem;
  fs::path there = full_path(path);
  while (there.has_relative_path() && !path_exists(there.string())) there = there.parent_path();
  return there.string();
}

std::optional<MountedFileSystem> mounted_at(const std::string& path) {
  const std::string full = canonical_path(path);
  if (full.empty()) return std::nullopt;
  // The longest mount point that contains the path is the right one. Of two on the same directory
  // the later one hides the other.
  std::optional<MountedFileSystem> best;
  for (MountedFileSystem& candidate : mounted_file_systems()) {
    const std::string& point = candidate.mount_point;
    const bool above = full == point || point == "/" || full.starts_with(point + "/");
    if (!above) continue;
    if (!best || point.size() >= best->mount_point.size()) best = std::move(candidate);
  }
  return best;
}

namespace {

// Precedes the text, which may be empty: a child that died has sent nothing.
constexpr char kAnswer = 'a';

// All but one, so that nobody waits for the child at the other end of a pipe, or for its locks.
void close_others(int kept) {
  constexpr unsigned kLast = ~0U;
  const auto one = static_cast<unsigned>(kept);
  if (one > 0) syscall(SYS_close_range, 0U, one - 1, 0U);
  syscall(SYS_close_range, one + 1, kLast, 0U);
}

[[noreturn]] void answer(const std::function<std::string()>& work, int pipe, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  close_others(pipe);
  try {
    const std::string text = kAnswer + work();
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t size = write(pipe, text.data() + sent, text.size() - sent);
      if (size < 0 && errno != EINTR) _exit(1);
      sent += static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    }
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

// Whether there is something to read, or the end, within the time.
bool is_readable(int pipe, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    const double left_ms = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
    pollfd watched{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = poll(&watched, 1, std::max(0, static_cast<int>(left_ms)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string read_all(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = read(pipe, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::optional<std::string> run_apart(const std::function<std::string()>& work, double patience_s,
                                     const std::function<bool()>& waits_on) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return work();
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) answer(work, writing.get(), parent);
  if (child < 0) return work();
  writing.reset();
  bool answered = false;
  do {
    answered = is_readable(reading.get(), patience_s);
  } while (!answered && waits_on && waits_on());
  if (!answered) {
    constexpr double kMoment_s = 0.05;  // for one that can be killed
    kill(child, SIGKILL);
    wait_for(child, kMoment_s);
    return std::nullopt;
  }
  const std::string text = read_all(reading.get());
  constexpr double kEnd_s = 10;
  wait_for(child, kEnd_s);
  return text.starts_with(kAnswer) ? std::optional(text.substr(1)) : std::nullopt;
}

namespace {

constexpr double kPatience_s = 2;

constexpr auto kNetworkTypes = std::to_array<NetworkType>({
    {"nfs", "nfs", "vers", "proto"},
    {"nfs4", "nfs", "vers", "proto"},
    {"cifs", "smb", "vers"},
    {"smb3", "smb", "vers"},
    {"lustre", "lustre"},
    {"ceph", "cephfs"},
    {"9p", "9p", "version", "trans"},
    {"afs", "afs"},
    {"beegfs", "beegfs"},
    {"gpfs", "gpfs"},
    {"pvfs2", "orangefs"},
    {"fuse.sshfs", "sshfs"},
    {"fuse.glusterfs", "glusterfs"},
    {"fuse.ceph-fuse", "cephfs"},
    {"fuse.rclone", "rclone"},
    {"smbfs"},
    {"coda"},
    {"virtiofs"},
    {"gfs2"},
    {"ocfs2"},
    {"acfs"},
    {"autofs"},  // waits for the server of what it is about to mount
});

// The names of a path, in order.
std::deque<std::string> names_of(std::string_view path) {
  std::deque<std::string> names;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) names.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

const NetworkType* find_network_type(std::string_view type) {
  return find_or_null(kNetworkTypes, type, &NetworkType::type);
}

bool is_remote(std::string_view type) {
  return type.starts_with("fuse") || find_network_type(type) != nullptr;
}

std::string silence_text(const MountedFileSystem& mounted) {
  return fmt::format("{} ({}) does not respond", printable_line(mounted.mount_point),
                     printable_line(mounted.type));
}

std::string release_advice(const MountedFileSystem& mounted) {
  if (!mounted.type.starts_with("fuse")) {
    return fmt::format("'umount -f {}'", printable_line(mounted.mount_point));
  }
  constexpr const char* kConnections = "/sys/fs/fuse/connections";
  const std::string connection = fmt::format("{}/{}", kConnections, fuse_connection(mounted));
  // Containers lack the file system.
  const std::string mount = path_exists(connection)
                                ? ""
                                : fmt::format("'mount -t fusectl none {}' and then ", kConnections);
  return mount + fmt::format("'echo 1 > {}/abort'", connection);
}

RemoteMounts::RemoteMounts(const std::string& mountinfo) {
  std::ifstream in(mountinfo);
  for (std::string line; std::getline(in, line);) {
    auto mounted = parse_mount(line);
    if (!mounted) continue;
    // It hides what was mounted there before, such as an automounter.
    std::erase_if(mounts_, [&](const MountedFileSystem& earlier) {
      return earlier.mount_point == mounted->mount_point;
    });
    if (is_remote(mounted->type)) mounts_.push_back(std::move(*mounted));
  }
}

const MountedFileSystem* RemoteMounts::at(const std::string& mount_point) const {
  return find_or_null(mounts_, mount_point, &MountedFileSystem::mount_point);
}

std::optional<MountedFileSystem> RemoteMounts::on_way_to(const std::string& path) const {
  if (mounts_.empty()) return std::nullopt;
  constexpr int kMostLinks = 40;  // as the kernel
  std::deque<std::string> names = names_of(absolute_path(path));
  std::string way = "/";
  for (int links = 0; links <= kMostLinks;) {
    if (const MountedFileSystem* const found = at(way)) return *found;
    if (names.empty()) break;
    const std::string name = std::move(names.front());
    names.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      way = above(way);
      continue;
    }
    const std::string next = way == "/" ? way + name : way + "/" + name;
    const std::string target = at(next) ? "" : link_text(next);
    if (target.empty()) {
      way = next;
      continue;
    }
    ++links;
    if (target.starts_with('/')) way = "/";
    std::deque<std::string> more = names_of(target);
    names.insert(names.begin(), more.begin(), more.end());
  }
  return std::nullopt;
}

std::string RemoteMounts::share_at(const std::string& path) const {
  const std::optional<MountedFileSystem> mounted = on_way_to(path);
  if (!mounted || mounted->type == "autofs" || mounted->source.starts_with("/dev/")) return "";
  return fmt::format("{} on {}", mounted->source, mounted->mount_point);
}

std::optional<std::string> RemoteMounts::ask(const std::string& path,
                                             const std::function<std::string()>& work,
                                             const std::function<bool()>& waits_on) {
  const std::optional<MountedFileSystem> mounted = on_way_to(path);
  if (!mounted) return work();
  if (silent_.contains(mounted->mount_point)) return std::nullopt;
  const auto after_look = [&] {
    // Other calls may be answered from caches while the server does not respond.
    struct statfs info{};
    static_cast<void>(statfs(mounted->mount_point.c_str(), &info));
    return work();
  };
  std::optional<std::string> answer = run_apart(after_look, kPatience_s, waits_on);
  if (!answer) silent_.insert(mounted->mount_point);
  return answer;
}

bool RemoteMounts::responds(const std::string& path) {
  return ask(path, [] { return std::string(); }).has_value();
}

}  // namespace filereel

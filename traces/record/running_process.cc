#include "traces/record/running_process.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>

#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "traces/calls/path_resolution.h"
#include "traces/open_flags.h"
#include "traces/record/program.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

constexpr std::size_t kLongestCommand = 500;

// Returns what could be read: when a process ends, its files become unreadable at any byte.
std::string text_of(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(file.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The numeric entry names of a directory in /proc.
std::vector<std::uint32_t> numbers_in(const std::string& directory) {
  std::vector<std::uint32_t> numbers;
  boost::system::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (const auto number = parse_number<std::uint32_t>(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::string link_at(const std::string& path) {
  boost::system::error_code error;
  return fs::read_symlink(path, error).string();
}

// The root of the process, if it is not below ours, as in a container or outside our chroot;
// otherwise empty. Its own names are relative to that root; names in /proc are relative to the top
// of its mounts.
std::string foreign_root(std::uint32_t process) {
  const std::string link = fmt::format("/proc/{}/root", process);
  std::string root = link_at(link);
  if (!root.starts_with('/') || root == "/") return {};
  std::string above = link;  // leads up to our root, or past it to the top of other mounts
  for (std::ptrdiff_t depth = std::ranges::count(root, '/'); depth > 0; --depth) above += "/..";
  struct stat top{}, ours{};
  if (stat(above.c_str(), &top) != 0 || stat("/", &ours) != 0) return {};
  const bool is_below = top.st_dev == ours.st_dev && top.st_ino == ours.st_ino;
  return is_below ? std::string() : root;
}

// Replaces the kernel's " (deleted)" after a name, unless a file of that name exists.
void mark_removed(std::string& name, const std::string& link) {
  constexpr std::string_view kDeleted = " (deleted)";
  struct stat file{}, named{};
  if (!name.ends_with(kDeleted) || stat(link.c_str(), &file) != 0) return;
  const bool is_name = lstat(name.c_str(), &named) == 0 && named.st_dev == file.st_dev &&
                       named.st_ino == file.st_ino;
  if (!is_name) name.replace(name.size() - kDeleted.size(), kDeleted.size(), 1, kRemovedMark);
}

// The target of a link in /proc, relative to our root or to the foreign root of the process.
std::string name_at(const std::string& link, const std::string& foreign_root) {
  std::string name = link_at(link);
  mark_removed(name, link);
  cut_root(name, foreign_root);
  return name;
}

std::string working_directory(std::uint32_t process, const std::string& foreign_root) {
  const std::string path = name_at(fmt::format("/proc/{}/cwd", process), foreign_root);
  return path.starts_with('/') ? path : "/";
}

// The name of our root in a copy of the mounts: not "/" in a chroot that is not a mount.
std::string own_root_from_outside() {
  const HeldProgram outside({"true"}, [] { unshare(CLONE_NEWNS); });
  std::string root = link_at(fmt::format("/proc/{}/root", outside.pid()));
  return root == "/" ? std::string() : root;
}

// The number after "name:" in a text such as /proc/1/status.
std::optional<std::uint64_t> field(const std::string& text, std::string_view name, int base) {
  std::size_t at = text.starts_with(name) ? 0 : text.find("\n" + std::string(name));
  if (at == std::string::npos) return std::nullopt;
  at = text.find_first_not_of(" \t", at + name.size() + (at > 0 ? 1 : 0));
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at);
  std::uint64_t value = 0;
  return take_number(rest, value, base) ? std::optional(value) : std::nullopt;
}

}  // namespace

void check_visible(std::uint32_t process) {
  const std::string home = fmt::format("/proc/{}", process);
  for (const std::string& path : {home + "/cwd", home + "/fd"}) {
    boost::system::error_code error;
    if (path.ends_with("/fd")) {
      const fs::directory_iterator readable(path, error);
    } else {
      fs::read_symlink(path, error);
    }
    if (!error) continue;
    throw Error(ErrorKind::failed,
                fmt::format("cannot record process {}: {}: {}; check that it is running and {}",
                            process, path, strerror(error.value()),
                            root_advice("is yours, or run filereel as root or with CAP_SYS_PTRACE",
                                        "give filereel CAP_SYS_PTRACE")));
  }
}

KnownProcess running_process(std::uint32_t process, bool will_exec) {
  const std::string home = fmt::format("/proc/{}", process);
  KnownProcess known;
  known.id = process;
  if (!will_exec) known.name = first_line(text_of(home + "/comm"));
  known.threads = numbers_in(home + "/task");
  const std::string foreign = foreign_root(process);
  known.directory = working_directory(process, foreign);
  if (std::string root = name_at(home + "/root", foreign); root.starts_with('/')) known.root = root;
  if (const auto mask = field(text_of(home + "/status"), "Umask:", 8)) {
    known.mode_mask = static_cast<std::uint32_t>(*mask);
  }
  for (const std::uint32_t number : numbers_in(home + "/fd")) {
    const std::string about = text_of(fmt::format("{}/fdinfo/{}", home, number));
    const auto position = field(about, "pos:", 10), flags = field(about, "flags:", 8);
    if (!position || !flags || (will_exec && (*flags & O_CLOEXEC))) continue;
    const int descriptor = static_cast<int>(number);
    KnownProcess::Open& open = known.open.emplace_back();
    open.number = descriptor;
    open.path = name_at(fmt::format("{}/fd/{}", home, number), foreign);
    open.flags = open_flags::from_kernel(static_cast<std::uint32_t>(*flags));
    open.position = *position;
    struct stat status{};
    if (stat(fmt::format("{}/fd/{}", home, number).c_str(), &status) != 0) continue;
    open.stat = {.mode = status.st_mode,
                 .size = static_cast<std::uint64_t>(status.st_size),
                 .device = status.st_dev,
                 .inode = status.st_ino};
  }
  return known;
}

std::vector<std::uint32_t> process_tree(std::uint32_t process) {
  std::multimap<std::uint64_t, std::uint32_t> children;
  for (const std::uint32_t number : numbers_in("/proc")) {
    const auto parent = field(text_of(fmt::format("/proc/{}/status", number)), "PPid:", 10);
    if (parent) children.emplace(*parent, number);
  }
  std::vector<std::uint32_t> tree{process};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto [begin, end] = children.equal_range(tree[i]);
    for (auto at = begin; at != end; ++at) {
      if (at->second != static_cast<std::uint32_t>(getpid())) tree.push_back(at->second);
    }
  }
  return tree;
}

std::string mapped_file_name(std::uint32_t process, std::uint64_t device, std::uint64_t inode) {
  // start-end rights offset major:minor inode path; man 5 proc_pid_maps
  const std::string file = fmt::format(" {:02x}:{:02x} {} ", major(device), minor(device), inode);
  const std::string maps = text_of(fmt::format("/proc/{}/maps", process));
  const std::size_t found = maps.find(file);
  if (found == std::string::npos) return {};
  const std::size_t end = maps.find('\n', found);
  const std::size_t path = maps.find('/', found);
  if (path >= end) return {};
  std::string name = maps.substr(path, end - path);
  cut_root(name, foreign_root(process));
  return name;
}

std::vector<std::string> roots_of_names(std::uint32_t process) {
  std::vector<std::string> roots = {foreign_root(process), own_root_from_outside()};
  std::erase(roots, "");
  return roots;
}

std::string working_directory_of(std::uint32_t process) {
  return working_directory(process, foreign_root(process));
}

Descriptor root_of_names(std::uint32_t process) {
  const std::string root =
      foreign_root(process).empty() ? "/" : fmt::format("/proc/{}/root", process);
  return Descriptor(open(root.c_str(), O_PATH | O_CLOEXEC));
}

std::string command_text(std::span<const std::string> given, std::uint32_t process) {
  if (!given.empty()) return printable(fmt::format("{}", fmt::join(given, " ")), kLongestCommand);
  std::string text = text_of(fmt::format("/proc/{}/cmdline", process));
  if (text.empty()) text = text_of(fmt::format("/proc/{}/comm", process));
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return printable(text, kLongestCommand);
}

}  // namespace filereel

#include "filesets/system/paths.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include <boost/filesystem/operations.hpp>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"

namespace filereel {
namespace {

// Of what the path leads to.
mode_t kind_of_path(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

}  // namespace

mode_t kind_of_name(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

std::string link_text(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

bool path_exists(const std::string& path) {
  return kind_of_path(path) != 0;
}

bool is_regular_file(const std::string& path) {
  return kind_of_path(path) == S_IFREG;
}

bool is_directory(const std::string& path) {
  return kind_of_path(path) == S_IFDIR;
}

bool is_same_file(const std::string& path, const std::string& other) {
  struct stat one{}, two{};
  return ::stat(path.c_str(), &one) == 0 && ::stat(other.c_str(), &two) == 0 &&
         one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

int make_directories(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string folder = path.substr(0, end);
    if (is_directory(folder)) continue;
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return errno;
  }
  return is_directory(path) ? 0 : ENOTDIR;
}

namespace {

std::string path_by_proc(int directory) {
  std::string path(PATH_MAX, '\0');
  const std::string link = fmt::format("/proc/self/fd/{}", directory);
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  path.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return path;
}

// Enters the directory in a thread with a working directory of its own. The C library's getcwd
// would search the parents of an unreachable directory.
std::string path_by_entering(int directory) {
  std::string path(PATH_MAX, '\0');
  long length = 0;
  std::thread([&] {
    if (unshare(CLONE_FS) != 0 || fchdir(directory) != 0) return;
    length = syscall(SYS_getcwd, path.data(), path.size());
  }).join();
  path.resize(length < 1 ? 0 : static_cast<std::size_t>(length) - 1);  // without the NUL
  return path;
}

}  // namespace

std::string path_of_directory(int directory, const std::string& expected) {
  // No system call accepts such a path, so it cannot be verified.
  if (expected.size() >= PATH_MAX) return expected;
  struct stat wanted{};
  if (fstat(directory, &wanted) != 0) return "";
  const auto leads_there = [&](const std::string& path) {
    struct stat there{};
    return path.starts_with('/') && stat(path.c_str(), &there) == 0 &&
           there.st_dev == wanted.st_dev && there.st_ino == wanted.st_ino;
  };
  if (leads_there(expected)) return expected;
  if (std::string path = path_by_proc(directory); leads_there(path)) return path;
  if (std::string path = path_by_entering(directory); leads_there(path)) return path;
  return "";
}

std::string absolute_path(const std::string& path) {
  if (path.starts_with('/')) return path;
  boost::system::error_code removed;
  const boost::filesystem::path working = boost::filesystem::current_path(removed);
  return removed ? path : boost::filesystem::absolute(path, working).string();
}

std::string canonical_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? real.get() : "";
}

std::string full_path(const std::string& path) {
  const boost::filesystem::path whole = absolute_path(path);
  boost::filesystem::path tail;
  for (boost::filesystem::path head = whole; !head.empty(); head = head.parent_path()) {
    if (const std::string real = canonical_path(head.string()); !real.empty()) {
      boost::filesystem::path full = (real / tail).lexically_normal();
      if (full.filename_is_dot()) full = full.parent_path();  // "new/"
      return full.string();
    }
    if (errno != ENOENT && errno != ENOTDIR) break;
    tail = tail.empty() ? head.filename() : head.filename() / tail;
  }
  return whole.string();
}

bool has_working_directory() {
  boost::system::error_code error;
  boost::filesystem::current_path(error);
  return error.value() != ENOENT;
}

std::optional<std::vector<std::string>> names_in(int directory) {
  // The stream closes its descriptor. sshfs lists a directory only once each time it is opened, and
  // NFS asks the server for changes by others when it is opened. This needs search permission,
  // unlike a copy, which shares the directory offset.
  int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) own = fcntl(directory, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(own), closedir);
  if (!stream) {
    const int error = errno;
    close(own);
    errno = error;
    return std::nullopt;
  }
  rewinddir(stream.get());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  return names;
}

std::vector<std::string> names_at(const std::string& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory ? names_in(directory.get()).value_or(std::vector<std::string>())
                   : std::vector<std::string>();
}

Descriptor open_directory_beneath(int root, const std::string& path, int flags,
                                  MountPoints mount_points) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_DIRECTORY | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (mount_points == MountPoints::refuse) how.resolve |= RESOLVE_NO_XDEV;
  const char* const name = path.empty() ? "." : path.c_str();
  return Descriptor(static_cast<int>(syscall(SYS_openat2, root, name, &how, sizeof how)));
}

}  // namespace filereel

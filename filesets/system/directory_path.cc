#include "filesets/system/directory_path.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <thread>

#include <boost/filesystem/operations.hpp>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filereel {
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

}  // namespace filereel

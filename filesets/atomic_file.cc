#include "filesets/atomic_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/error.h"

namespace filereel {

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    boost::system::error_code error;
    const auto resolved = boost::filesystem::canonical(path, error);
    if (error) fail("cannot follow the symbolic link", error.value());
    path_ = resolved.string();
  }
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: is not a regular file and cannot be replaced; choose another name",
                            path_));
  }
  const std::size_t slash = path_.rfind('/');
  directory_ = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  // Names of other processes differ in the number, of the same process in the attempt.
  constexpr int kAttempts = 10'000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_ = fmt::format("{}/.filereel-{}-{}.part", directory_, ::getpid(), attempt);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0 || errno != EEXIST) break;
  }
  if (descriptor_ < 0) fail("cannot create a file in its directory", errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(std::string_view what, int error) const {
  throw Error(ErrorKind::failed, fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("cannot write", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::finish_writing() {
  if (::fsync(descriptor_) != 0) fail("cannot make it durable", errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("cannot close", errno);
}

void AtomicFile::commit() {
  finish_writing();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot rename to it", errno);
  temporary_.clear();
  sync_directory();
}

bool AtomicFile::commit_new() {
  finish_writing();
  int error = 0;
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) {
    temporary_.clear();
  } else if (errno == EINVAL || errno == ENOSYS) {  // some FUSE and network file systems
    if (::link(temporary_.c_str(), path_.c_str()) != 0) error = errno;
  } else {
    error = errno;
  }
  if (error == EEXIST) return false;
  if (error != 0) fail("cannot rename to it", error);
  sync_directory();
  return true;
}

void AtomicFile::sync_directory() {
  const int directory = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) fail("cannot open its directory", errno);
  const int synced = ::fsync(directory);
  const int error = errno;
  ::close(directory);
  // Some file systems (FUSE ones among them) have no fsync for directories.
  if (synced != 0 && error != EINVAL && error != ENOSYS && error != EOPNOTSUPP) {
    fail("cannot make its directory durable", error);
  }
}

}  // namespace filereel

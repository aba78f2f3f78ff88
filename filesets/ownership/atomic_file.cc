#include "filesets/ownership/atomic_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"

namespace filereel {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    boost::system::error_code error;
    const auto resolved = boost::filesystem::canonical(path, error);
    if (error) fail("cannot follow the symbolic link", error.value());
    path_ = resolved.string();
  }
  check_target();
  const std::string directory = boost::filesystem::path(path_).parent_path().string();
  file_.emplace(directory.empty() ? "." : directory, path_, 0666);
}

// Rejects targets that commit() could not replace or create.
void AtomicFile::check_target() const {
  struct statx target;
  if (::statx(AT_FDCWD, path_.c_str(), 0, STATX_TYPE, &target) != 0) {
    if (errno == ENAMETOOLONG) {
      throw_failed(fmt::format("{}: {}; choose a shorter name", path_, std::strerror(errno)));
    }
    return;
  }
  const auto refuse = [this](std::string_view what) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: is {} and cannot be replaced; choose another name", path_, what));
  };
  if (!S_ISREG(target.stx_mode)) refuse("not a regular file");
  if (target.stx_attributes & STATX_ATTR_IMMUTABLE) refuse("immutable (chattr +i)");
  if (target.stx_attributes & STATX_ATTR_APPEND) refuse("append-only (chattr +a)");
}

void AtomicFile::fail(std::string_view what, int error) const {
  throw Error(ErrorKind::failed, fmt::format("{}: {}: {}", path_, what, std::strerror(error)));
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_->descriptor(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("cannot write", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::make_durable(int descriptor) {
  // Some file systems, for example on FUSE, do not support fsync on directories.
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
    fail("cannot flush to disk", errno);
  }
}

void AtomicFile::commit() {
  make_durable(file_->descriptor());
  if (const int error = file_->replace(file_name(path_)); error != 0) {
    fail("cannot move the new file into place", error);
  }
  make_durable(file_->directory());
}

bool AtomicFile::commit_new() {
  make_durable(file_->descriptor());
  const int error = file_->link_as(file_name(path_));
  if (error == EEXIST) return false;
  if (error != 0) fail("cannot move the new file into place", error);
  make_durable(file_->directory());
  return true;
}

}  // namespace filereel

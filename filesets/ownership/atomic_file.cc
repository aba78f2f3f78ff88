#include "filesets/ownership/atomic_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/ownership/attributes.h"
#include "filesets/ownership/fallback_places.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/path_kind.h"
#include "filesets/system/sandbox.h"

namespace filereel {
namespace {

// "app-2.reel" for "app.reel"; shortened if it would be too long.
std::string numbered(const std::string& name, int number) {
  constexpr std::size_t kLongestExtension = 16;
  const std::size_t dot = name.rfind('.');
  const bool has_extension =
      dot != std::string::npos && dot != 0 && name.size() - dot <= kLongestExtension;
  const std::size_t end = has_extension ? dot : name.size();
  const std::string rest = fmt::format("-{}{}", number, name.substr(end));
  return name.substr(0, std::min(end, NAME_MAX - rest.size())) + rest;
}

std::string real_path_of(const std::string& directory) {
  if (std::string real = canonical_path(directory); !real.empty()) return real;
  if (const std::string denied = denial("getcwd"); !denied.empty()) {
    throw_failed(fmt::format("{}: cannot find its place: {}", directory, denied));
  }
  // Too long for a system call, or removed already.
  const std::string absolute = absolute_path(directory);
  return absolute.starts_with('/') ? absolute : "/";
}

std::string why_lost(int directory) {
  struct stat status{};
  const bool removed = ::fstat(directory, &status) == 0 && status.st_nlink == 0;
  return removed ? "its directory was removed" : "its directory is no longer reachable";
}

constexpr mode_t kMode = 0666;  // less the umask

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (names_stream(path)) {
    stream_.emplace(path);
    return;
  }
  struct stat status;
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    std::string resolved = canonical_path(path);
    if (resolved.empty()) fail("cannot follow the symbolic link", errno);
    path_ = std::move(resolved);
  }
  check_target();
  std::string directory = boost::filesystem::path(path_).parent_path().string();
  if (directory.empty()) directory = ".";
  file_ = std::make_unique<NewFile>(directory, path_, kMode);
  directory_ = real_path_of(directory);
}

// Rejects targets that commit() could not replace or create.
void AtomicFile::check_target() {
  struct stat target;
  if (::stat(path_.c_str(), &target) != 0) {
    if (errno == ENAMETOOLONG) {
      throw_failed(fmt::format("{}: {}; choose a shorter name", path_, std::strerror(errno)));
    }
    return;
  }
  const auto refuse = [this](std::string_view what) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: is {} and cannot be replaced; choose another name", path_, what));
  };
  if (!S_ISREG(target.st_mode)) refuse(name_of_kind(target.st_mode));
  const std::string_view protection = protection_of(AT_FDCWD, path_);
  if (!protection.empty()) refuse(protection);
  existed_ = true;
}

void AtomicFile::fail(std::string_view what, int error) const {
  throw Error(ErrorKind::failed, fmt::format("{}: {}: {}", path_, what, error_text(error)));
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      const std::string why = "cannot write: " + write_error_text(errno, descriptor());
      if (stream_ || !keeps_ || !moved_.empty()) throw_failed(fmt::format("{}: {}", path_, why));
      relocate(why);
    }
  }
}

// Returns 0 or the error.
int AtomicFile::flush(int descriptor) {
  if (::fsync(descriptor) == 0) return 0;
  // Some file systems, for example on FUSE, do not support fsync on directories.
  return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
}

// Continues with a copy in another directory; moved_ becomes `why`. Throws Error(failed).
void AtomicFile::relocate(std::string why) {
  const auto copied = [&](std::optional<FallbackPlace> place) {
    return place && copy_to(*std::move(place));
  };
  if (!copied(nearest_existing(directory_)) && !copied(kept_in_state_directory())) {
    throw_failed(fmt::format("{}: {}", path_, why));
  }
  moved_ = std::move(why);
  existed_ = false;
}

bool AtomicFile::copy_to(FallbackPlace place) try {
  auto copy = std::make_unique<NewFile>(place.path, std::move(place.directory), path_, kMode);
  std::array<char, 1 << 16> buffer;
  for (off_t at = 0;;) {
    const ssize_t size = ::pread(file_->descriptor(), buffer.data(), buffer.size(), at);
    if (size == 0) break;
    if (size < 0 ||
        ::write(copy->descriptor(), buffer.data(), static_cast<std::size_t>(size)) != size) {
      return false;
    }
    at += size;
  }
  if (flush(copy->descriptor()) != 0) return false;
  file_ = std::move(copy);
  directory_ = place.path;
  return true;
} catch (const Error&) {
  return false;
}

// Gives the file its name, or the first free one with a number. Returns 0 or the error.
int AtomicFile::link_with_number(std::string& name) {
  constexpr int kMost = 1000;
  const std::string wanted = name;
  int error = file_->link_as(name);
  for (int number = 2; error == EEXIST && number < kMost; ++number) {
    name = numbered(wanted, number);
    error = file_->link_as(name);
  }
  return error;
}

// Gives the file its name in the directory that is open. Returns 0 or the error.
int AtomicFile::place(std::string& name) {
  if (existed_) {
    const int error = file_->replace(name);
    if (error != EISDIR) return error;
  }
  return link_with_number(name);
}

std::string AtomicFile::commit() {
  if (stream_) {
    stream_->send();
    return "";
  }
  keeps_ = true;
  const std::string wanted = base_name(path_);
  std::string name = wanted, directory;
  if (const int error = flush(file_->descriptor()); error != 0) {
    relocate(fmt::format("cannot flush to disk: {}", write_error_text(error, file_->descriptor())));
  }
  directory = path_of_directory(file_->directory(), directory_);
  if (directory.empty()) {
    relocate(why_lost(file_->directory()));
    directory = directory_;
  }
  int error = place(name);
  if (error != 0 && moved_.empty()) {
    relocate(fmt::format("cannot move the new file into place: {}", error_text(error)));
    directory = directory_;
    error = place(name = wanted);
  }
  if (error != 0) fail("cannot move the new file into place", error);
  if (const int unsafe = flush(file_->directory()); unsafe != 0) {
    fail("cannot flush to disk", unsafe);
  }
  if (moved_.empty() && directory != directory_) moved_ = "its directory was renamed";
  if (moved_.empty() && name != wanted) moved_ = "another file has taken the name";
  if (moved_.empty()) return "";
  const std::string intended =
      std::exchange(path_, (directory == "/" ? "" : directory) + "/" + name);
  return fmt::format("{}: {}; kept as {}", intended, moved_, path_);
}

bool AtomicFile::commit_new() {
  if (stream_) return false;
  if (const int error = flush(file_->descriptor())) fail("cannot flush to disk", error);
  const int error = file_->link_as(base_name(path_));
  if (error == EEXIST) return false;
  if (error != 0) fail("cannot move the new file into place", error);
  if (const int unsafe = flush(file_->directory())) fail("cannot flush to disk", unsafe);
  return true;
}

}  // namespace filereel

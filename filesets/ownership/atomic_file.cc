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
#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "filesets/ownership/lease.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/privileges.h"

namespace filereel {
namespace {

int result(int returned) {
  return returned == 0 ? 0 : errno;
}

}  // namespace

NewFile::NewFile(const std::string& directory, const std::string& shown, mode_t mode)
    // Braces: evaluated in this order, so that errno is that of open().
    : NewFile{absolute_path(directory),
              Descriptor(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), shown,
              mode} {}

NewFile::NewFile(std::string path, Descriptor directory, const std::string& shown, mode_t mode)
    : directory_path_(std::move(path)), directory_(std::move(directory)) {
  if (directory_) {
    require_changeable(directory_.get(), shown + ": its directory");
    file_.reset(openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
    if (file_ && !can_link_unnamed()) file_.reset();
  }
  if (directory_ && !file_) {
    choose_temporary_name();
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_.reset(openat(directory_.get(), temporary_.c_str(), kFlags, mode));
    if (file_) note_temporary_name();
  }
  if (file_) return;
  const int error = errno;
  drop_temporary_name();
  throw_failed(
      fmt::format("{}: cannot create a file in its directory: {}", shown, error_text(error)));
}

NewFile::~NewFile() {
  drop_temporary_name();
}

// Files can be written even if leases cannot be stored.
void NewFile::choose_temporary_name() {
  temporary_ = ".filereel-" + random_name() + ".part";
  try {
    lease_.emplace(
        LeaseRecord{.kind = LeaseKind::file,
                    .path = directory_path_ + "/" + temporary_,
                    .parent = read_file_state(directory_.get()).value_or(FileState{}).identity});
  } catch (const Error&) {
    lease_.reset();
  }
}

void NewFile::note_temporary_name() {
  const std::optional<FileState> state = read_file_state(file_.get());
  if (!state || !lease_) return;
  try {
    lease_->made(state->identity);
  } catch (const Error&) {
    // Without a complete lease, a later run cannot prove ownership and leaves the file alone.
  }
}

void NewFile::drop_temporary_name() {
  if (temporary_.empty()) return;
  const std::optional<FileState> state = file_ ? read_file_state(file_.get()) : std::nullopt;
  if (state) remove_exactly(directory_.get(), temporary_, state->identity);
  if (lease_) lease_->remove_record();
  temporary_.clear();
}

// The first way requires CAP_DAC_READ_SEARCH before Linux 6.10, the second one /proc.
int NewFile::link_unnamed(const std::string& name) const {
  const int error = result(linkat(file_.get(), "", directory_.get(), name.c_str(), AT_EMPTY_PATH));
  if (error != ENOENT && error != EPERM && error != EINVAL) return error;
  const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
  return result(linkat(AT_FDCWD, self.c_str(), directory_.get(), name.c_str(), AT_SYMLINK_FOLLOW));
}

// The kernel resolves the old name before it rejects the new one.
bool NewFile::can_link_unnamed() const {
  return link_unnamed(".") == EEXIST;
}

int NewFile::link_as(const std::string& name) {
  if (temporary_.empty()) return link_unnamed(name);
  if (!has_temporary_name()) return ESTALE;
  const int error = rename_new(directory_.get(), temporary_, directory_.get(), name);
  if (error == 0) drop_temporary_name();
  return error;
}

// True if the name still refers to this file.
bool NewFile::has_temporary_name() const {
  const std::optional<FileState> there = read_file_state(directory_.get(), temporary_);
  const std::optional<FileState> ours = read_file_state(file_.get());
  return there && ours && there->identity == ours->identity;
}

int NewFile::replace(const std::string& name) {
  if (temporary_.empty()) {
    int error = link_unnamed(name);
    if (error != EEXIST) return error;
    choose_temporary_name();
    note_temporary_name();  // before linking: a non-empty file needs a recorded identity
    error = link_unnamed(temporary_);
    if (error != 0) return error;
  }
  if (!has_temporary_name()) return ESTALE;
  const int error =
      result(renameat(directory_.get(), temporary_.c_str(), directory_.get(), name.c_str()));
  if (error == 0) drop_temporary_name();
  return error;
}

namespace {

constexpr int kStep = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kWhole = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

std::optional<FallbackPlace> nearest_existing(const std::string& path) {
  FallbackPlace place{.path = "/", .directory = Descriptor(open("/", kStep))};
  for (const boost::filesystem::path& name : boost::filesystem::path(path).relative_path()) {
    Descriptor next(openat(place.directory.get(), name.c_str(), kStep));
    if (!next) break;
    if (place.path.size() > 1) place.path += '/';
    place.path += name.string();
    place.directory = std::move(next);
  }
  place.directory.reset(openat(place.directory.get(), ".", kWhole));
  if (!place.directory) return std::nullopt;
  return place;
}

std::optional<FallbackPlace> kept_in_state_directory() try {
  const StateDirectory state = open_state_directory();
  mkdirat(state.directory.get(), "kept", 0700);
  FallbackPlace place{.path = state.path + "/kept",
                      .directory = Descriptor(openat(state.directory.get(), "kept", kWhole))};
  if (!place.directory) return std::nullopt;
  return place;
} catch (const Error&) {
  return std::nullopt;
}

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

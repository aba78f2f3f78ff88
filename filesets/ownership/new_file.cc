#include "filesets/ownership/new_file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "filesets/ownership/attributes.h"
#include "filesets/ownership/removal.h"
#include "filesets/ownership/state_directory.h"
#include "filesets/system/directory_path.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"

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

}  // namespace filereel

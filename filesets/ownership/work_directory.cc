#include "filesets/ownership/work_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/error.h"
#include "filesets/mount_info.h"
#include "filesets/ownership/removal.h"
#include "filesets/ownership/state_directory.h"
#include "filesets/ownership/tree_listing.h"
#include "filesets/ownership/tree_walk.h"
#include "filesets/printable.h"
#include "filesets/scan/directory_names.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

// What earlier versions put into a directory that they worked in.
constexpr std::string_view kOldMarker = ".filereel-volume";

FileIdentity identity_of(int fd) {
  const std::optional<FileState> state = state_of(fd);
  return state ? state->identity : FileIdentity{};
}

// A directory that its owner may not write to cannot be given another parent. rename(2)
int move_up(int from, const std::string& name, int to) {
  const int error = rename_new(from, name, to, name);
  if (error != EACCES) return error;
  const std::optional<FileState> state = state_of(from, name);
  const Descriptor directory = state ? open_up(from, name, state->mode) : Descriptor();
  if (!directory) return error;
  const int again = rename_new(from, name, to, name);
  set_mode(directory.get(), state->mode);
  return again;
}

// Directories are made on file systems that hold files, not among devices or in the kernel's own
// trees, where making one has other effects.
void check_can_be_made(const std::string& path, const std::string& full_path) {
  const auto mounted = mounted_at(fs::path(full_path).parent_path().string());
  const bool holds_no_files =
      mounted &&
      (mounted->type == "devtmpfs" || mounted->type == "proc" || mounted->type == "sysfs" ||
       mounted->type == "configfs" || mounted->type == "debugfs" || mounted->type == "tracefs" ||
       mounted->type == "bpf" || mounted->type.starts_with("cgroup"));
  const bool among_devices = full_path.starts_with("/dev/") && !full_path.starts_with("/dev/shm/");
  if (!holds_no_files && !among_devices) return;
  throw Error(ErrorKind::usage,
              fmt::format("there is no {}: name a device that exists, or a directory on a file "
                          "system that holds files",
                          printable(path)));
}

}  // namespace

WorkDirectory::WorkDirectory(const std::string& path, Use use) : path_(path), use_(use) {
  try {
    open_target();
    check_empty();
    make_work();
  } catch (const Error&) {
    remove_target();
    throw;
  }
}

void WorkDirectory::open_target() {
  target_.reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int missing = target_ ? 0 : errno;
  if (missing == ENOENT) {
    make_target();
  } else if (missing != 0) {
    fail("cannot open", missing);
  }
  boost::system::error_code error;
  // Of what was opened, whatever has its name by now.
  full_path_ = fs::read_symlink(fmt::format("/proc/self/fd/{}", target_.get()), error).string();
  if (error) fail("cannot find", error.value());
}

void WorkDirectory::make_target() {
  boost::system::error_code error;
  fs::path full = fs::weakly_canonical(fs::absolute(path_), error);
  if (error) fail("cannot make", error.value());
  if (full.filename_is_dot()) full = full.parent_path();  // as of "new/"
  full_path_ = full.string();
  check_can_be_made(path_, full_path_);
  const std::string name = full.filename().string();
  parent_.reset(open(full.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent_) fail("cannot make", errno);
  const std::int64_t before_ns = earliest_birth();
  target_lease_.emplace(LeaseNote{.kind = LeaseKind::directory, .path = full_path_});
  if (mkdirat(parent_.get(), name.c_str(), 0777) != 0) fail("cannot make", errno);
  target_.reset(
      openat(parent_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!target_) fail("cannot open", errno);
  const FileIdentity identity = identity_of(target_.get());
  // An older one was put in its place just now: it stays.
  if (identity.born_ns != 0 && identity.born_ns < before_ns) {
    target_lease_->strike();
    target_lease_.reset();
    return;
  }
  target_lease_->made(identity);
}

std::optional<std::string> WorkDirectory::first_name() const {
  const auto names = names_in(target_.get());
  if (!names) fail("cannot read", errno);
  if (std::ranges::find(*names, kOldMarker) != names->end()) {
    throw_failed(
        fmt::format("{} holds what an earlier version of filereel left: look what of it you need, "
                    "empty it by hand, and try again",
                    printable(path_)));
  }
  for (const std::string& name : *names) {
    if (name != kLostAndFound) return name;
  }
  return std::nullopt;
}

// What an earlier volume kept here goes; the fingerprints prove that it is still that.
void WorkDirectory::check_empty() {
  const FileIdentity identity = identity_of(target_.get());
  const auto concerns_this = [&](const LeaseNote& note) {
    if (note.kind == LeaseKind::work) return fs::path(note.path).parent_path() == full_path_;
    return note.kind == LeaseKind::tree && (note.path == full_path_ || note.made == identity);
  };
  for (FoundLease& found : find_leases(concerns_this)) {
    if (!found.lease) {
      throw_failed(
          fmt::format("{} is in use by another filereel: wait for it or choose another volume",
                      printable(path_)));
    }
    if (found.note.kind != LeaseKind::tree || use_ != Use::volume) continue;
    if (first_name()) remove_listed(target_.get(), path_, found.note.seed, found.note.entries);
    found.lease->strike();
  }
  const std::optional<std::string> name = first_name();
  if (!name) return;
  throw_failed(
      fmt::format("{} is not empty and filereel did not fill it ({} is in it): name an empty "
                  "directory",
                  printable(path_), printable(*name)));
}

void WorkDirectory::make_work() {
  work_name_ = ".filereel-" + random_name();
  work_lease_.emplace(LeaseNote{.kind = LeaseKind::work, .path = full_path_ + "/" + work_name_});
  if (mkdirat(target_.get(), work_name_.c_str(), 0700) != 0) {
    const int error = errno;
    work_lease_->strike();
    if (error == EROFS) {
      throw_failed(
          fmt::format("{} is read-only: choose a volume that can be written", printable(path_)));
    }
    fail("cannot make a directory in", error);
  }
  work_.reset(
      openat(target_.get(), work_name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!work_) fail("cannot open a directory in", errno);
  work_lease_->made(identity_of(work_.get()));
}

WorkDirectory::~WorkDirectory() {
  try {
    if (work_) remove();
  } catch (const Error&) {
    // It stays on the list, and a later run removes it.
  }
}

void WorkDirectory::clear() {
  remove_contents(work_.get(), path_);
}

void WorkDirectory::check_present() const {
  const Descriptor now(open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const bool there = now && identity_of(now.get()) == identity_of(target_.get());
  const std::optional<FileState> work = there ? state_of(target_.get(), work_name_) : std::nullopt;
  if (work && work->identity == identity_of(work_.get())) return;
  throw_failed(fmt::format(
      "{} has vanished: it was unmounted or replaced during the run; mount it again and "
      "start over",
      printable(path_)));
}

void WorkDirectory::keep() {
  if (!work_) return;
  const auto names = names_in(work_.get());
  if (!names) fail("cannot read", errno);
  for (const std::string& name : *names) {
    const int error = move_up(work_.get(), name, target_.get());
    if (error == 0) continue;
    work_lease_->strike();  // it is the user's now
    work_.reset();
    throw_failed(fmt::format("cannot move {} to {}: {}; what was made stays in {}/{}",
                             printable(name), printable(path_), strerror(error), printable(path_),
                             work_name_));
  }
  remove_work();
  if (target_lease_) target_lease_->strike();
  target_lease_.reset();
  if (use_ == Use::volume) note_kept();
}

void WorkDirectory::note_kept() {
  LeaseNote note{.kind = LeaseKind::tree,
                 .path = full_path_,
                 .made = identity_of(target_.get()),
                 .seed = random_number()};
  try {
    note.entries = list_tree(target_.get(), path_, note.seed);
  } catch (const Error&) {
    return;  // a directory that even its owner may not read: nobody can prove later what is in it
  }
  const Lease lease(std::move(note));
}

void WorkDirectory::remove() {
  if (!work_) return;
  clear();
  remove_work();
  remove_target();
}

// Empty by now.
void WorkDirectory::remove_work() {
  remove_exactly(target_.get(), work_name_, identity_of(work_.get()));
  work_.reset();
  work_lease_->strike();
}

void WorkDirectory::remove_target() {
  if (!target_lease_) return;
  if (target_) {
    remove_exactly(parent_.get(), fs::path(full_path_).filename().string(),
                   identity_of(target_.get()));
  }
  target_lease_->strike();
  target_lease_.reset();
}

void WorkDirectory::fail(std::string_view what, int error) const {
  throw_failed(fmt::format("{} {}: {}", what, printable(path_), strerror(error)));
}

}  // namespace filereel

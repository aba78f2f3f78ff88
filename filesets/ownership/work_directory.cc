// The user names a directory; filereel fills one of its own inside it. This separation is what
// makes the rules simple: everything in the inner one may be removed, nothing in the outer one.
//
// The order of steps is that of leases: lease, mkdir, identity into the lease (make_directory). A
// process killed after mkdir leaves an empty directory with a random name that the lease has;
// leftovers.cc recognises that. All later work uses the descriptors that were opened then. A
// directory that replaces one of them under its name is thus never touched, and check_present()
// finds it.
//
// The constructor checks and changes nothing; take() begins. Between the two, a run checks all its
// other volumes. So take() checks again: the directory may have been filled meanwhile.
//
// Where inode numbers do not last (FAT, some of FUSE and SMB), the identity in a lease proves
// nothing after the next mount. There the files are one level deeper, in a directory with a second
// random name (make_files), which the lease records: that name is the proof.
//
// Kept files are moved up one by one without replacing anything. For a volume, fingerprints are
// taken before the move and completed after it (TreeFingerprints), so that nothing that somebody
// adds in between becomes filereel's.
#include "filesets/ownership/work_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "filesets/ownership/lease.h"
#include "filesets/ownership/removal.h"
#include "filesets/ownership/tree_walk.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

// Marker file of earlier versions.
constexpr std::string_view kOldMarker = ".filereel-volume";
constexpr std::string_view kWorkPrefix = ".filereel-";

FileIdentity identity_of(int fd) {
  const std::optional<FileState> state = read_file_state(fd);
  return state ? state->identity : FileIdentity{};
}

// A directory without write permission for its owner cannot be moved to another parent. rename(2)
int move_up(int from, const std::string& name, int to) {
  const int error = rename_new(from, name, to, name);
  if (error != EACCES) return error;
  const std::optional<FileState> state = read_file_state(from, name);
  const Descriptor directory = state ? grant_access(from, name, state->mode) : Descriptor();
  if (!directory) return error;
  const int again = rename_new(from, name, to, name);
  set_mode(directory.get(), state->mode);
  return again;
}

// Of the parent of an open directory; none at a mount point (LeaseRecord::parent).
FileIdentity parent_identity_of(int directory) {
  const Descriptor parent(openat(directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return {};
  const std::optional<FileState> above = read_file_state(parent.get());
  const std::optional<FileState> here = read_file_state(directory);
  if (!above || !here || above->mount == 0 || above->mount != here->mount) return {};
  return above->identity;
}

// Creates and opens the directory named by the lease. Returns an empty Descriptor with errno set if
// that fails, or if another directory replaced it just now (ESTALE), which is left alone.
Descriptor make_directory(int parent, const std::string& name, mode_t mode, Lease& lease) {
  const std::int64_t before_ns = earliest_birth_time();
  if (mkdirat(parent, name.c_str(), mode) != 0) return {};
  Descriptor directory(
      openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) return {};
  const FileIdentity identity = identity_of(directory.get());
  const auto names = names_in(directory.get());
  const bool is_new = identity.birth_ns == 0 || identity.birth_ns >= before_ns;
  if (!is_new || !names || !names->empty()) {
    errno = ESTALE;
    return {};
  }
  try {
    lease.made(identity);
  } catch (const Error&) {
    remove_exactly(parent, name, identity);
    throw;
  }
  return directory;
}

// ext2, ext3 and ext4 spread the directories in their root over the volume by name, and place other
// directories near their parent (chattr(1), T). The working directory has a random name, but its
// contents should be placed as they would be in the target.
void copy_topdir_flag(int target, int work) {
  constexpr std::uint64_t kRootInode = 2;
  struct statfs info{};
  if (fstatfs(target, &info) != 0 || info.f_type != EXT4_SUPER_MAGIC) return;
  int above = 0, flags = 0;
  const bool spread = identity_of(target).inode == kRootInode ||
                      (ioctl(target, FS_IOC_GETFLAGS, &above) == 0 && (above & FS_TOPDIR_FL) != 0);
  if (!spread || ioctl(work, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_TOPDIR_FL;
  ioctl(work, FS_IOC_SETFLAGS, &flags);
}

// Directories are created only on file systems for files, not in /dev or in the kernel's own trees,
// where creating one has other effects.
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
              fmt::format("{} does not exist and cannot be created there; choose an existing "
                          "device, or a directory on a file system for files",
                          printable(path)));
}

}  // namespace

WorkDirectory::WorkDirectory(const std::string& path, Use use) : path_(path), use_(use) {
  open_target();
  check_writable();
  if (target_) check_empty(false);
}

void WorkDirectory::take() {
  try {
    if (!target_) make_target();
    check_empty(true);
    make_work();
  } catch (...) {
    try {
      remove_work();
      remove_target();
    } catch (const Error&) {
      // It stays on the list. The first error matters.
    }
    throw;
  }
}

void WorkDirectory::open_target() {
  target_.reset(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int missing = target_ ? 0 : errno;
  if (missing == 0) {
    require_changeable(target_.get(), path_);
    return find_path();
  }
  if (missing != ENOENT) fail("cannot open", missing);
  check_missing();
}

void WorkDirectory::find_path() {
  boost::system::error_code error;
  // The path of the opened directory, even if its name refers to something else by now.
  full_path_ = fs::read_symlink(fmt::format("/proc/self/fd/{}", target_.get()), error).string();
  if (error) {
    require_proc(fmt::format("using {}", printable(path_)));
    fail("cannot find the path of", error.value());
  }
}

// The target is to be created in its parent.
void WorkDirectory::check_missing() {
  const fs::path full = full_path(path_);
  check_can_be_made(path_, full.string());
  full_path_ = full.string();
  target_name_ = full.filename().string();
  parent_.reset(open(full.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent_) fail("cannot create", errno);
  require_changeable(parent_.get(), full.parent_path().string());
}

void WorkDirectory::check_writable() const {
  if (faccessat(place(), ".", W_OK | X_OK, AT_EACCESS) == 0) return;
  if (errno == EROFS) {
    throw_failed(fmt::format("{} is read-only; choose a writable volume", printable(path_)));
  }
  fail(target_ ? "cannot create a directory in" : "cannot create", errno);
}

void WorkDirectory::make_target() {
  target_lease_.emplace(LeaseRecord{
      .kind = LeaseKind::directory, .path = full_path_, .parent = identity_of(parent_.get())});
  target_ = make_directory(parent_.get(), target_name_, 0777, *target_lease_);
  if (target_) return find_path();
  const int failed = errno;
  target_lease_->remove_record();
  target_lease_.reset();
  fail("cannot create", failed);
}

std::optional<std::string> WorkDirectory::first_name() const {
  const auto names = names_in(target_.get());
  if (!names) fail("cannot read", errno);
  if (contains(*names, kOldMarker)) {
    throw_failed(
        fmt::format("{} contains files of an earlier version of filereel; save what you need, "
                    "empty it by hand, then retry",
                    printable(path_)));
  }
  for (const std::string& name : *names) {
    if (name != kLostAndFound) return name;
  }
  return std::nullopt;
}

// `clears`: removes what an earlier volume kept here. Fingerprints prove that it is unchanged.
void WorkDirectory::check_empty(bool clears) {
  const FileIdentity identity = identity_of(target_.get());
  const bool lasting = keeps_identities(target_.get());
  const auto concerns_this = [&](const LeaseRecord& note) {
    if (note.kind == LeaseKind::work) return fs::path(note.path).parent_path() == full_path_;
    if (note.kind != LeaseKind::tree) return false;
    if (!lasting) return note.path == full_path_;
    return note.made == identity && (identity.birth_ns != 0 || note.path == full_path_);
  };
  std::vector<FoundLease> leases = find_leases(concerns_this);
  if (std::ranges::any_of(leases, [](const FoundLease& found) { return !found.lease; })) {
    throw_failed(fmt::format(
        "{} is in use by another filereel; wait for it to end, or choose another volume",
        printable(path_)));
  }
  check_used_elsewhere();
  const bool all_kept = use_ == Use::volume && accept_kept(leases, clears);
  const std::optional<std::string> name = first_name();
  if (!name || all_kept) return;
  if (name->starts_with(kWorkPrefix) && name->size() == kWorkPrefix.size() + kRandomName) {
    throw_failed(
        fmt::format("{} is not empty: {} is the working directory of a filereel on another "
                    "machine, or of a killed one; wait for it to end, or remove it",
                    printable(path_), printable(*name)));
  }
  throw_failed(fmt::format(
      "{} is not empty and was not filled by filereel (it contains {}); choose an empty directory",
      printable(path_), printable(*name)));
}

// Whether all that is there was kept by an earlier volume, and unchanged. Several may have been
// kept at one path in turn, as on two drives.
bool WorkDirectory::accept_kept(std::vector<FoundLease>& leases, bool clears) {
  const bool filled = first_name().has_value();
  std::optional<Error> why_not;
  for (FoundLease& found : leases) {
    if (found.note.kind != LeaseKind::tree) continue;
    if (filled) {
      const TreeFingerprints tree(target_.get(), path_, found.note.seed);
      try {
        if (clears) tree.remove(found.lease->entries());
        if (!clears) removable_ = tree.check(found.lease->entries());
      } catch (const Error& error) {
        if (!why_not) why_not = error;
        continue;
      }
    }
    // Of an empty directory, it may be the lease of another drive.
    if (clears && (filled || keeps_identities(target_.get()))) found.lease->remove_record();
    if (filled) return true;
  }
  if (why_not) throw *why_not;
  return false;
}

// The directory may be reached by two paths: a share, and what its server shares. Looks for the
// work directories by name: sshfs lists for a while what was there before.
void WorkDirectory::check_used_elsewhere() const {
  const std::vector<FoundLease> leases = find_leases([&](const LeaseRecord& note) {
    const fs::path path = note.path;
    return note.kind == LeaseKind::work && path.parent_path() != full_path_ &&
           read_file_state(target_.get(), path.filename().string());
  });
  for (const FoundLease& found : leases) {
    if (found.lease) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("{} and {} are the same volume, and filereel uses it: name two "
                    "different ones, or wait for the other run to end",
                    printable(fs::path(found.note.path).parent_path().string()), printable(path_)));
  }
}

void WorkDirectory::make_work() {
  work_name_ = std::string(kWorkPrefix) + random_name();
  work_lease_.emplace(LeaseRecord{.kind = LeaseKind::work,
                                  .path = full_path_ + "/" + work_name_,
                                  .parent = identity_of(target_.get()),
                                  .proof = keeps_identities(target_.get()) ? "" : random_name()});
  work_ = make_directory(target_.get(), work_name_, 0700, *work_lease_);
  if (work_ && make_files()) return copy_topdir_flag(target_.get(), work_.get());
  const int error = errno;
  if (work_) remove_exactly(target_.get(), work_name_, identity_of(work_.get()));
  work_.reset();
  work_lease_->remove_record();
  work_lease_.reset();
  fail("cannot create a directory in", error);
}

// Where inode numbers do not last, the files are one level deeper, in a directory whose random name
// proves after the next mount that the one above is filereel's. Returns false with errno set.
bool WorkDirectory::make_files() {
  const std::string& proof = work_lease_->note().proof;
  if (proof.empty()) return true;
  if (mkdirat(work_.get(), proof.c_str(), 0700) != 0) return false;
  Descriptor files(
      openat(work_.get(), proof.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!files) {
    const int error = errno;
    unlinkat(work_.get(), proof.c_str(), AT_REMOVEDIR);  // only if it is empty
    errno = error;
    return false;
  }
  holder_ = std::exchange(work_, std::move(files));
  work_name_ += "/" + proof;
  return true;
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
  require_present(target_.get(), full_path_, path_);
  const std::string work = "/" + work_name_;
  require_present(work_.get(), full_path_ + work, path_ + work);
}

void WorkDirectory::keep() {
  if (!work_) return;
  const std::uint64_t seed = random_number();
  const std::vector<std::uint64_t> kept =
      use_ == Use::volume ? list_kept(seed) : std::vector<std::uint64_t>();
  const auto names = names_in(work_.get());
  if (!names) fail("cannot read", errno);
  for (const std::string& name : *names) {
    const int error = move_up(work_.get(), name, target_.get());
    if (error == 0) continue;
    work_lease_->remove_record();  // belongs to the user now
    work_lease_.reset();
    work_.reset();
    throw_failed(fmt::format("cannot move {} to {}: {}; the files remain in {}/{}", printable(name),
                             printable(path_), error_text(error), printable(path_), work_name_));
  }
  remove_work();
  if (target_lease_) target_lease_->remove_record();
  target_lease_.reset();
  if (!kept.empty()) note_kept(seed, kept);
}

// Returns nothing if a directory cannot be listed, such as one without read permission for its
// owner: ownership of its contents could not be proven later.
std::vector<std::uint64_t> WorkDirectory::list_kept(std::uint64_t seed) const {
  try {
    return TreeFingerprints(work_.get(), path_, seed).lasting();
  } catch (const Error&) {
    return {};
  }
}

// Entries added in the meantime are not recorded.
void WorkDirectory::note_kept(std::uint64_t seed, std::span<const std::uint64_t> kept) const {
  LeaseRecord note{.kind = LeaseKind::tree,
                   .path = full_path_,
                   .made = identity_of(target_.get()),
                   .parent = parent_identity_of(target_.get()),
                   .seed = seed};
  note.entries = TreeFingerprints(target_.get(), path_, seed).complete(kept);
  const Lease lease(std::move(note));
}

void WorkDirectory::remove() {
  if (!work_) return;
  clear();
  remove_work();
  remove_target();
}

// The directory is empty by now. A replacement belongs to the user, as does the directory if the
// user has moved it.
void WorkDirectory::remove_work() {
  if (!work_lease_) return;
  const int error = work_ ? remove_directories() : 0;
  work_.reset();
  holder_.reset();
  if (error != 0 && error != ENOENT && error != ESTALE) {
    fail("cannot remove the working directory in", error);
  }
  work_lease_->remove_record();
  work_lease_.reset();
}

// Returns 0 or the error.
int WorkDirectory::remove_directories() {
  const LeaseRecord& note = work_lease_->note();
  const std::string name = fs::path(note.path).filename().string();
  const FileIdentity files = identity_of(work_.get());
  if (!holder_) return remove_exactly(target_.get(), name, files);
  const int error = remove_exactly(holder_.get(), note.proof, files);
  if (error != 0 && error != ENOENT) return error;
  return remove_exactly(target_.get(), name, identity_of(holder_.get()));
}

void WorkDirectory::remove_target() {
  if (!target_lease_) return;
  const int error =
      target_ ? remove_exactly(parent_.get(), target_name_, identity_of(target_.get())) : 0;
  if (error != 0 && error != ENOENT && error != ESTALE && error != ENOTEMPTY) {
    fail("cannot remove", error);
  }
  target_lease_->remove_record();
  target_lease_.reset();
}

void WorkDirectory::fail(std::string_view what, int error) const {
  throw_failed(fmt::format("{} {}: {}", what, printable(path_), error_text(error)));
}

}  // namespace filereel

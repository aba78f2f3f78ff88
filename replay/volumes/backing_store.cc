#include "replay/volumes/backing_store.h"

#include <algorithm>
#include <utility>

#include <boost/filesystem.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

// The lease content for the current state of the image. The UUID, drawn at random by mkfs, is the
// proof inside the image.
LeaseRecord note_of_image(int file, const std::string& path) {
  LeaseRecord note{.kind = LeaseKind::image, .path = path};
  if (const std::optional<FileState> state = read_file_state(file)) {
    note.made = state->identity;
    note.size = state->size;
    note.modified_ns = state->modified_ns;
    note.changed_ns = state->changed_ns;
  }
  const DeviceContents contents = probe_contents(file);
  note.file_system = fmt::format("{} {}", contents.type, contents.uuid);
  return note;
}

// Reports why an existing image may not be replaced.
[[noreturn]] void refuse_image(const std::string& path, int file, bool changed) {
  const DeviceContents contents = probe_contents(file);
  const std::string holds =
      contents.type.empty() ? "" : fmt::format(" (it contains {})", contents.type);
  throw_failed(
      changed ? fmt::format(
                    "{} was changed after filereel created it{}; choose another file, or remove it",
                    printable(path), holds)
              : fmt::format("{} exists, and nothing proves that filereel created it{}; choose "
                            "another file, or remove it",
                            printable(path), holds));
}

[[noreturn]] void refuse_in_use(const std::string& path) {
  throw_failed(
      fmt::format("{} is in use by another filereel; wait for it to end, or choose another volume",
                  printable(path)));
}

}  // namespace

BackingStore::BackingStore(const Target& target, const VolumeOptions& options) : target_(target) {
  is_device() ? open_block_device(options) : check_image(!target_.temporary || options.keep);
  if (!is_device() && !options.sparse) check_host();
}

void BackingStore::take(const VolumeOptions& options) {
  if (!is_device()) make_image(options);
}

std::string BackingStore::source() const {
  // Refers to the opened file even if its name refers to something else by now.
  return loop_ ? loop_->path() : fmt::format("/proc/{}/fd/{}", getpid(), file());
}

// `stays`: the image is to get its name, where an existing one must be filereel's.
void BackingStore::check_image(bool stays) {
  size_ = target_.size;
  const fs::path path = absolute_path(target_.path);
  const std::string directory = canonical_path(path.parent_path().string());
  if (directory.empty()) {
    throw_failed(
        fmt::format("cannot create the image {}: {}", printable(target_.path), strerror(errno)));
  }
  name_ = path.filename().string();
  image_path_ = directory + "/" + name_;
  directory_.reset(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory_) require_changeable(directory_.get(), directory);
  if (!directory_ || faccessat(directory_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    throw_failed(
        fmt::format("cannot create the image {}: {}", printable(target_.path), strerror(errno)));
  }
  const std::vector<FoundLease> leases = leases_of_name();
  if (const auto there = stays ? read_file_state(directory_.get(), name_) : std::nullopt) {
    prove_own_image(*there, leases);
    replaced_ = there->allocated;
  }
}

// Whether the file system below can hold the image, at its full size.
void BackingStore::check_host() const {
  const auto mounted = mounted_at(fs::path(image_path_).parent_path().string());
  const std::uint64_t largest = mounted ? limits_of_mounted(mounted->type).largest_file : size_;
  const std::uint64_t allowed = largest_file_of_process();
  if (size_ > std::min(largest, allowed)) {
    throw_failed(fmt::format(
        "{} needs {}, more than the largest file of {}; use --scale, --set or "
        "size=, or {}",
        printable(target_.path), format_size(size_), format_size(std::min(largest, allowed)),
        allowed < size_ ? "raise the limit (ulimit -f)" : "put it elsewhere"));
  }
  const HostSpace space = host();
  if (!space.free) {
    throw_failed(fmt::format("cannot write {}: {}", printable(target_.path), error_text(errno)));
  }
  if (*space.free + space.freed >= size_) return;
  throw_failed(fmt::format(
      "{} needs {}, but only {} is free there; {}", printable(target_.path), format_size(size_),
      format_size(*space.free + space.freed),
      with_quota_advice_of(directory_.get(), "use --scale, --set or size=, or put it elsewhere")));
}

HostSpace BackingStore::host() const {
  struct stat info{};
  struct statvfs space{};
  if (is_device() || fstat(directory_.get(), &info) != 0 ||
      fstatvfs(directory_.get(), &space) != 0) {
    return {};
  }
  return {.file_system = info.st_dev,
          .free = space.f_bavail * space.f_frsize,
          .freed = replaced_,
          .taken = size_};
}

void BackingStore::make_image(const VolumeOptions& options) {
  try {
    reserve_name(!target_.temporary || options.keep);
    image_ =
        std::make_unique<NewFile>(fs::path(image_path_).parent_path().string(), target_.path, 0600);
    allocate_image(options.sparse);
    if (options.power == MountCapability::full) {
      loop_ = std::make_unique<LoopDevice>(image_->descriptor(), target_.path);
    }
  } catch (...) {
    if (lease_) lease_->remove_record();
    throw;
  }
}

// The leases of images of this name. Throws Error(failed) if another process uses it.
std::vector<FoundLease> BackingStore::leases_of_name() const {
  std::vector<FoundLease> leases = find_leases([&](const LeaseRecord& note) {
    return note.kind == LeaseKind::image && note.path == image_path_;
  });
  for (const FoundLease& found : leases) {
    if (!found.lease) refuse_in_use(target_.path);
  }
  return leases;
}

// If the image is to stay, removes an existing one of that name that is proven to be filereel's.
void BackingStore::reserve_name(bool stays) {
  std::vector<FoundLease> leases = leases_of_name();
  if (stays) {
    // A killed process may have renamed an image.
    for (const FoundLease& found : leases) {
      if (found.note.made)
        remove_exactly(directory_.get(), aside_name(*found.note.made), *found.note.made);
    }
    const Descriptor held =
        hold_identity(directory_.get(), name_, keeps_identities(directory_.get()));
    if (const auto there = read_file_state(directory_.get(), name_)) {
      const int failed = remove_exactly(directory_.get(), name_, prove_own_image(*there, leases));
      if (failed != 0) {
        throw_failed(
            fmt::format("cannot remove {}: {}", printable(target_.path), error_text(failed)));
      }
    }
    for (FoundLease& found : leases) found.lease->remove_record();
  }
  lease_.emplace(LeaseRecord{.kind = LeaseKind::image, .path = image_path_});
}

// Throws Error(failed) unless the file is an unused image that filereel created.
FileIdentity BackingStore::prove_own_image(const FileState& there,
                                           std::span<const FoundLease> leases) const {
  if (!S_ISREG(there.mode)) {
    throw_failed(fmt::format("{} is not a regular file; choose a regular file, not a link to one",
                             printable(target_.path)));
  }
  if (const std::string_view protection = protection_of(directory_.get(), name_);
      !protection.empty()) {
    throw_failed(fmt::format("{} is {} and cannot be replaced; choose another file",
                             printable(target_.path), protection));
  }
  const Descriptor file(
      openat(directory_.get(), name_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    throw_failed(fmt::format("cannot open {}: {}", printable(target_.path), error_text(errno)));
  }
  const LeaseRecord now = note_of_image(file.get(), image_path_);
  const bool lasting = keeps_identities(directory_.get());
  const auto proves = [&](const FoundLease& found) {
    LeaseRecord note = found.note;
    note.parent = {};  // where it is says nothing
    note.share.clear();
    if (!lasting && note.made) note.made = now.made;  // the number is another one by now
    return note == now;
  };
  if (std::ranges::none_of(leases, proves)) {
    const auto is_it = [&](const FoundLease& found) { return found.note.made == now.made; };
    refuse_image(target_.path, file.get(), std::ranges::any_of(leases, is_it));
  }
  if (const std::string user = loop_device_of(file.get()); !user.empty()) {
    throw_failed(fmt::format("{} is attached to {}; detach it first (losetup -d {})",
                             printable(target_.path), user, user));
  }
  return *now.made;
}

// Fully allocated unless `sparse`, so that the host disk cannot fill up during the run.
void BackingStore::allocate_image(bool sparse) {
  const auto size = static_cast<off_t>(size_);
  if (!sparse && fallocate(file(), 0, 0, size) == 0) return;
  const bool unsupported = sparse || errno == EOPNOTSUPP || errno == EPERM || errno == ENOSYS;
  if (!unsupported || ftruncate(file(), size) != 0) {
    throw_failed(fmt::format("cannot extend {} to {}: {}", printable(target_.path),
                             format_size(size_), error_text(errno)));
  }
}

bool BackingStore::can_exchange_image(const BackingStore& other) const {
  const auto directory = [](const BackingStore& store) {
    return fs::path(store.image_path_).parent_path();
  };
  return image_ && other.image_ && size_ == other.size_ && directory(*this) == directory(other);
}

// Names and leases stay. An image is as good as another, because the content belongs to neither.
void BackingStore::exchange_image(BackingStore& other) {
  std::swap(image_, other.image_);
  std::swap(loop_, other.loop_);
  formatted_ = other.formatted_ = false;
}

void BackingStore::open_block_device(const VolumeOptions& options) {
  const Descriptor node(open(target_.path.c_str(), O_PATH | O_CLOEXEC));
  check_destroy_allowed(node.get(), target_, options.destroy);
  HeldDevices alone;
  HeldDevices& held = options.held ? *options.held : alone;
  struct stat info{};
  if (!node || fstat(node.get(), &info) != 0) {
    throw_failed(fmt::format("cannot access {}: {}", printable(target_.path), error_text(errno)));
  }
  const std::vector<dev_t> own = held.parts_on(info.st_rdev);
  check_unused(node.get(), target_.path, {.own = own, .held = !own.empty()});
  if (options.power != MountCapability::full) {
    throw_failed(fmt::format(
        "formatting {} requires {}", printable(target_.path),
        root_advice(
            "root; run filereel with sudo",
            "mounts, which are denied here; allow them (CAP_SYS_ADMIN), or run on the host")));
  }
  if (target_.is_part()) return open_part(node.get(), held);
  device_.reset(open(fmt::format("/proc/self/fd/{}", node.get()).c_str(), O_RDWR | O_CLOEXEC));
  if (!device_) {
    throw_failed(fmt::format("cannot open {}: {}", printable(target_.path), error_text(errno)));
  }
  lock_alone(device_.get(), target_.path);
  size_ = device_size(device_.get());
}

// Uses a loop device, not a partition added only to the kernel (BLKPG_ADD_PARTITION). A loop device
// has a node without devtmpfs, needs no space in an existing partition table, and is removed
// automatically when the process is killed.
void BackingStore::open_part(int node, HeldDevices& held) {
  held_ = held.hold(node, target_.path);
  size_ = range_of(target_).size();
  int sector = 0;  // the drive's sector size, required for direct I/O
  ioctl(file(), BLKSSZGET, &sector);
  loop_ = std::make_unique<LoopDevice>(
      file(), target_.text(), LoopRange{target_.start, size_, static_cast<std::uint32_t>(sector)});
  held_->parts.push_back(loop_->number());
  if (device_size(loop_->descriptor()) != size_) {
    throw_failed(fmt::format("the loop device for {} has a different size; choose another part",
                             target_.text()));
  }
}

void BackingStore::check_unused_by_others() const {
  if (!is_device()) return;
  const std::vector<dev_t> own = held_ ? held_->parts : std::vector<dev_t>();
  check_unused(file(), target_.path, {.own = own, .held = held_ != nullptr});
  if (loop_) check_unused(loop_->descriptor(), target_.text(), {.own = own});
}

void BackingStore::format(const Format& format) {
  const FileSystemInfo& info = file_system_info(format.kind);
  if (format.discard) discard();
  formatted_ = false;
  const bool by_user = !format.mkfs_options.empty();
  if (by_user) wipe_start();
  // A loop device would write zeros for discards.
  run_program(make_command(format, source(), size_, is_device() && !loop_),
              fmt::format("cannot format {} as {}{}", target_.text(), info.name,
                          by_user ? fmt::format(" with the options '{}'",
                                                fmt::join(format.mkfs_options, " "))
                                  : ""),
              open_unwritable_directory().get());
  formatted_ = true;
  flush();
  drop_caches();
}

// Discards the block device, so that every file system starts on a drive as fresh as possible. Not
// all mkfs programs do. What cannot be discarded is formatted all the same.
bool BackingStore::discard() {
  std::uint64_t range[2] = {target_.start, size_};
  return is_device() && ioctl(file(), BLKDISCARD, range) == 0;
}

// Some options of mkfs let it write nothing. The file system of an earlier repetition would then be
// mounted as if it were new.
void BackingStore::wipe_start() {
  const std::vector<char> zeros(
      std::min<std::uint64_t>(size_, 1 << 20));  // with the primary superblocks
  if (pwrite(descriptor(), zeros.data(), zeros.size(), 0) == static_cast<ssize_t>(zeros.size())) {
    return flush();
  }
  throw_failed(fmt::format("cannot write to {}: {}", target_.text(), error_text(errno)));
}

void BackingStore::flush() {
  if (fsync(descriptor()) != 0 || (loop_ && fsync(file()) != 0)) {
    throw_failed(fmt::format("cannot flush {}: {}", printable(target_.path), error_text(errno)));
  }
}

void BackingStore::drop_caches() {
  if (loop_) drop_from_cache(loop_->descriptor());
  drop_from_cache(file());
}

Residency BackingStore::resident() const {
  Residency sum = residency(file());
  if (loop_) sum.cached += residency(loop_->descriptor()).cached;
  return sum;
}

std::optional<dev_t> BackingStore::device() const {
  struct stat info{};
  if (fstat(descriptor(), &info) != 0) return std::nullopt;
  return S_ISBLK(info.st_mode) ? std::optional(info.st_rdev) : std::nullopt;
}

void BackingStore::check_present() const {
  struct stat there{}, ours{};
  if (!is_device() || (stat(target_.path.c_str(), &there) == 0 && fstat(file(), &ours) == 0 &&
                       there.st_rdev == ours.st_rdev)) {
    return;
  }
  throw_failed(fmt::format("{} disappeared during the run; reconnect it and restart the run",
                           printable(target_.path)));
}

void BackingStore::finish(bool keep) {
  device_.reset();
  if (!image_) {
    if (held_ && loop_) std::erase(held_->parts, loop_->number());
    loop_.reset();
    held_.reset();
    return;
  }
  const bool stays = formatted_ && (keep || !target_.temporary);
  if (stays) flush();  // no writes after the state recorded in the lease
  loop_.reset();
  const int error = stays ? image_->link_as(name_) : 0;
  if (lease_ && stays && error == 0) {
    LeaseRecord note = note_of_image(image_->descriptor(), image_path_);
    note.parent = read_file_state(directory_.get()).value_or(FileState{}).identity;
    lease_->write(std::move(note));
  } else if (lease_) {
    lease_->remove_record();
  }
  lease_.reset();
  image_.reset();
  if (error != 0) {
    throw_failed(fmt::format("cannot keep the image {}: {}; choose another file",
                             printable(target_.path), error_text(error)));
  }
}

}  // namespace filereel

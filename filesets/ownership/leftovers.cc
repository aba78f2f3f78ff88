#include "filesets/ownership/leftovers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "filesets/ownership/removal.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/mount_info.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

bool is_kept_kind(LeaseKind kind) {
  return kind == LeaseKind::image || kind == LeaseKind::tree;
}

// The location of an object, opened once.
struct Place {
  Descriptor parent;
  std::string name;

  explicit Place(const std::string& path)
      : name(boost::filesystem::path(path).filename().string()) {
    const std::string above = boost::filesystem::path(path).parent_path().string();
    parent.reset(open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
};

bool is_there(const LeaseRecord& note) {
  const Place place(note.path);
  const auto found = place.parent ? read_file_state(place.parent.get(), place.name) : std::nullopt;
  return found && found->identity == note.made;
}

// Whether something is mounted on the mount point, which hides it.
bool is_covered(const LeaseRecord& note) {
  return note.kind == LeaseKind::mount_point &&
         std::ranges::any_of(mounted_file_systems(), [&](const MountedFileSystem& mounted) {
           return mounted.mount_point == note.path;
         });
}

// Needed only if filereel had no mount namespace of its own. Throws Error(failed) if something
// remains mounted.
void unmount_own(const LeaseRecord& note) {
  const auto is_own = [&](const MountedFileSystem& mounted) {
    return mounted.mount_point == note.path && mounted.device == note.mounted;
  };
  int error = 0;
  if (note.mounted != 0 && std::ranges::any_of(mounted_file_systems(), is_own) &&
      umount2(note.path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) {
    error = errno;
  }
  if (!is_covered(note)) return;
  const std::string path = printable_line(note.path);
  throw_failed(error != 0 ? fmt::format("cannot unmount {}: {}; unmount it", path, strerror(error))
                          : fmt::format("another file system is mounted on {}; unmount it", path));
}

// An object is identified by its identity, or only by its random name if the process was killed
// before it could record the identity. In that case the object is empty and not older than the
// lease.
FileIdentity identity_of(const Lease& lease, const FileState& found) {
  const LeaseRecord& note = lease.note();
  if (note.made) return *note.made;
  const bool has_random_name = note.kind != LeaseKind::directory && !is_kept_kind(note.kind);
  const bool may_be_empty = found.is_directory() || found.size == 0;
  const bool older = found.identity.birth_ns != 0 &&
                     found.identity.birth_ns < earliest_birth_time() - lease.age_s() * kNsPerSecond;
  return has_random_name && may_be_empty && !older ? found.identity : FileIdentity{};
}

LeaseState state_at(const Lease& lease, const Place& place) {
  const LeaseRecord& note = lease.note();
  const std::optional<FileState> parent =
      place.parent ? read_file_state(place.parent.get()) : std::nullopt;
  const bool is_that = note.parent == FileIdentity{} || (parent && parent->identity == note.parent);
  if (!parent || !is_that) return LeaseState::unseen;
  if (is_covered(note)) return LeaseState::left;
  std::optional<FileState> found = read_file_state(place.parent.get(), place.name);
  if (!found && note.made) found = read_file_state(place.parent.get(), aside_name(*note.made));
  if (!found) return LeaseState::gone;
  const bool changed = note.kind == LeaseKind::image &&
                       (found->size != note.size || found->modified_ns != note.modified_ns ||
                        found->changed_ns != note.changed_ns);
  if (changed || found->identity != identity_of(lease, *found)) return LeaseState::changed;
  return is_kept_kind(note.kind) ? LeaseState::kept : LeaseState::left;
}

// Throws Error(failed) if the object exists and cannot be removed.
LeaseState remove_left(const Lease& lease, const Place& place) {
  const LeaseRecord& note = lease.note();
  if (note.kind == LeaseKind::work && note.made) {
    const Descriptor work(openat(place.parent.get(), place.name.c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const std::optional<FileState> state = work ? read_file_state(work.get()) : std::nullopt;
    if (state && state->identity == note.made) remove_contents(work.get(), note.path);
  }
  const std::optional<FileState> found = read_file_state(place.parent.get(), place.name);
  const FileIdentity wanted =
      found ? identity_of(lease, *found) : note.made.value_or(FileIdentity{});
  const int error = remove_exactly(place.parent.get(), place.name, wanted);
  const bool is_users_now = error == ENOTEMPTY && note.kind == LeaseKind::directory;
  if (error == ESTALE || error == ENOENT || is_users_now) return LeaseState::changed;
  if (error != 0) {
    throw_failed(fmt::format("cannot remove {}: {}", printable_line(note.path), strerror(error)));
  }
  return LeaseState::removed;
}

// An object on a drive that is reconnected later still belongs to filereel.
constexpr std::int64_t kForgottenAfter_s = std::int64_t{90} * 24 * 3600;

// Strikes off the lease if nothing is left to do.
ListedLease clean_up(Lease& lease) {
  ListedLease listed{lease.note()};
  const LeaseRecord& note = lease.note();
  try {
    if (note.kind == LeaseKind::mount_point) unmount_own(note);
    const Place place(note.path);
    listed.state = state_at(lease, place);
    if (listed.state == LeaseState::left) listed.state = remove_left(lease, place);
  } catch (const Error& error) {
    listed.why = error.what();
  }
  const bool may_return =
      listed.state == LeaseState::unseen || (is_kept_kind(note.kind) && note.made.has_value());
  const bool stays = listed.state == LeaseState::left || listed.state == LeaseState::kept ||
                     (may_return && lease.age_s() < kForgottenAfter_s);
  if (!stays) lease.remove_record();
  return listed;
}

}  // namespace

std::vector<ListedLease> list_leases() {
  std::vector<ListedLease> list;
  for (FoundLease& found : find_leases([](const LeaseRecord&) { return true; })) {
    const LeaseState state =
        found.lease ? state_at(*found.lease, Place(found.note.path)) : LeaseState::in_use;
    list.push_back({std::move(found.note), state});
  }
  std::ranges::sort(list, {}, [](const ListedLease& one) { return one.note.path; });
  return list;
}

std::vector<ListedLease> remove_leftovers() {
  std::vector<FoundLease> found = find_leases([](const LeaseRecord& note) {
    // Kept objects are not even locked, because another run may be about to use them.
    return !is_kept_kind(note.kind) || !note.made || !is_there(note);
  });
  // The contents of a directory come before the directory.
  std::ranges::sort(found, std::greater(), [](const FoundLease& one) { return one.note.path; });
  std::vector<ListedLease> list;
  for (FoundLease& one : found) {
    if (!one.lease) continue;
    const bool kept = is_kept_kind(one.note.kind);
    ListedLease done = clean_up(*one.lease);
    if (!kept) list.push_back(std::move(done));
  }
  return list;
}

}  // namespace filereel

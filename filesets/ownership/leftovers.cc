#include "filesets/ownership/leftovers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filesets/ownership/removal.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/directory_names.h"
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
  std::string above;  // path of the parent
  Descriptor parent;
  std::string name;
  bool held_work = false;  // a directory that contains, or contained, a work directory of ours

  explicit Place(const std::string& path)
      : above(boost::filesystem::path(path).parent_path().string()),
        name(boost::filesystem::path(path).filename().string()) {
    parent.reset(open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
};

// Neither through a symbolic link nor into what is mounted there.
Descriptor open_directory(int parent, const std::string& name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
  return Descriptor(static_cast<int>(syscall(SYS_openat2, parent, name.c_str(), &how, sizeof how)));
}

// Whether the directory contains the entry whose random name is in the lease, or nothing any more.
bool holds_proof(const LeaseRecord& note, const Place& place) {
  const Descriptor directory = open_directory(place.parent.get(), place.name);
  const auto names = directory ? names_in(directory.get()) : std::nullopt;
  return names && (names->empty() || open_directory(directory.get(), note.proof));
}

// Whether it is the recorded object. Without lasting inode numbers, the number says nothing, not
// even if it is the same: each kind then has another proof.
bool is_recorded(const LeaseRecord& note, const Place& place, const FileState& found) {
  if (!note.proof.empty()) return holds_proof(note, place);
  const bool same = note.made == found.identity;
  if (keeps_identities(place.parent.get())) return same;
  switch (note.kind) {
    case LeaseKind::file:  // its random name
      return S_ISREG(found.mode) && found.links <= 1;
    case LeaseKind::image:  // the state of the file and the UUID in it, checked before its use
      return S_ISREG(found.mode);
    case LeaseKind::tree:  // its fingerprints, checked likewise
      return found.is_directory();
    case LeaseKind::directory:  // its birth time, or what it contains
      return (same && found.identity.birth_ns != 0) || (place.held_work && found.is_directory());
    case LeaseKind::work:
    case LeaseKind::mount_point:
      break;
  }
  return same;
}

bool is_there(const LeaseRecord& note) {
  const Place place(note.path);
  const auto found = place.parent ? read_file_state(place.parent.get(), place.name) : std::nullopt;
  return found && is_recorded(note, place, *found);
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

// Whether the object is that of the lease. If the process was killed before it could record what
// it had made, the object has its random name, is empty, and is not older than the lease.
bool is_ours(const Lease& lease, const Place& place, const FileState& found) {
  const LeaseRecord& note = lease.note();
  if (note.made) return is_recorded(note, place, found);
  const bool has_random_name = note.kind != LeaseKind::directory && !is_kept_kind(note.kind);
  const bool may_be_empty = found.is_directory() || found.size == 0;
  const bool older = found.identity.birth_ns != 0 &&
                     found.identity.birth_ns < earliest_birth_time() - lease.age_s() * kNsPerSecond;
  return has_random_name && may_be_empty && !older;
}

// Of an object that is not at its name: a killed process may have moved it aside to remove it.
LeaseState aside_left(const LeaseRecord& note, const Place& place) {
  const std::optional<FileState> found =
      note.made ? read_file_state(place.parent.get(), aside_name(*note.made)) : std::nullopt;
  if (!found) return LeaseState::gone;
  if (found->identity != note.made) return LeaseState::changed;
  return is_kept_kind(note.kind) ? LeaseState::kept : LeaseState::left;
}

LeaseState state_at(const Lease& lease, const Place& place) {
  const LeaseRecord& note = lease.note();
  const std::optional<FileState> parent =
      place.parent ? read_file_state(place.parent.get()) : std::nullopt;
  if (!parent) return LeaseState::unseen;
  std::optional<FileState> found = read_file_state(place.parent.get(), place.name);
  const bool ours = found && is_ours(lease, place, *found);
  // The parent may have another number, too, even where numbers last: an overlay copies a directory
  // when something is created in it. Then what is there decides, but not what is missing.
  const bool proven = ours && note.made && note.made->birth_ns != 0;
  const bool is_that = note.parent == FileIdentity{} || parent->identity == note.parent ||
                       (found && (proven || !keeps_identities(place.parent.get())));
  if (!is_that) return LeaseState::unseen;
  if (is_covered(note)) return LeaseState::left;
  if (!found) return aside_left(note, place);
  const bool changed = note.kind == LeaseKind::image &&
                       (found->size != note.size || found->modified_ns != note.modified_ns ||
                        found->changed_ns != note.changed_ns);
  if (changed || !ours) return LeaseState::changed;
  return is_kept_kind(note.kind) ? LeaseState::kept : LeaseState::left;
}

// Removes the contents of a work directory: all, or the one entry that is the proof. Throws
// Error(failed).
void remove_work(const LeaseRecord& note, const Place& place) {
  const Descriptor work = open_directory(place.parent.get(), place.name);
  const std::optional<FileState> state = work ? read_file_state(work.get()) : std::nullopt;
  if (!state) return;
  if (note.proof.empty()) {
    if (state->identity == note.made) remove_contents(work.get(), note.path);
    return;
  }
  const Descriptor files = open_directory(work.get(), note.proof);
  const std::optional<FileState> filled = files ? read_file_state(files.get()) : std::nullopt;
  if (!filled) return;
  remove_contents(files.get(), note.path + "/" + note.proof);
  remove_exactly(work.get(), note.proof, filled->identity);
}

// Throws Error(failed) if the object exists and cannot be removed.
LeaseState remove_left(const Lease& lease, const Place& place) {
  const LeaseRecord& note = lease.note();
  if (note.kind == LeaseKind::work && note.made) remove_work(note, place);
  const std::optional<FileState> found = read_file_state(place.parent.get(), place.name);
  if (found && !is_ours(lease, place, *found)) return LeaseState::changed;
  const FileIdentity wanted = found ? found->identity : note.made.value_or(FileIdentity{});
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
ListedLease clean_up(Lease& lease, bool held_work) {
  ListedLease listed{lease.note()};
  const LeaseRecord& note = lease.note();
  try {
    if (note.kind == LeaseKind::mount_point) unmount_own(note);
    Place place(note.path);
    place.held_work = held_work;
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

// Directories in which a work directory proves by its content that filereel used them.
std::set<std::string> places_of_work(std::span<const FoundLease> leases) {
  std::set<std::string> places;
  for (const FoundLease& found : leases) {
    if (found.note.proof.empty() || !found.lease) continue;
    const Place place(found.note.path);
    if (state_at(*found.lease, place) == LeaseState::left) places.insert(place.above);
  }
  return places;
}

}  // namespace

std::vector<ListedLease> list_leases() {
  std::vector<ListedLease> list;
  std::vector<FoundLease> leases = find_leases([](const LeaseRecord&) { return true; });
  const std::set<std::string> with_work = places_of_work(leases);
  for (FoundLease& found : leases) {
    LeaseState state = LeaseState::in_use;
    if (found.lease) {
      Place place(found.note.path);
      place.held_work = with_work.contains(found.note.path);
      state = state_at(*found.lease, place);
    }
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
  const std::set<std::string> with_work = places_of_work(found);
  std::vector<ListedLease> list;
  for (FoundLease& one : found) {
    if (!one.lease) continue;
    const bool kept = is_kept_kind(one.note.kind);
    ListedLease done = clean_up(*one.lease, with_work.contains(one.note.path));
    if (!kept) list.push_back(std::move(done));
  }
  return list;
}

}  // namespace filereel

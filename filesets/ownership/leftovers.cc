#include "filesets/ownership/leftovers.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "filesets/descriptor.h"
#include "filesets/error.h"
#include "filesets/mount_info.h"
#include "filesets/ownership/removal.h"

namespace filereel {
namespace {

bool stays_on_purpose(LeaseKind kind) {
  return kind == LeaseKind::image || kind == LeaseKind::tree;
}

// Where the thing lies, opened once.
struct Place {
  Descriptor parent;
  std::string name;

  explicit Place(const std::string& path)
      : name(boost::filesystem::path(path).filename().string()) {
    const std::string above = boost::filesystem::path(path).parent_path().string();
    parent.reset(open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
};

// Only where filereel could not have a mount namespace of its own.
void unmount_own(const LeaseNote& note) {
  const auto is_own = [&](const MountedFileSystem& mounted) {
    return mounted.mount_point == note.path && mounted.device == note.mounted;
  };
  if (note.mounted != 0 && std::ranges::any_of(mounted_file_systems(), is_own)) {
    umount2(note.path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

// By whom it was found to be made: by its identity, or by its name alone if the process was killed
// before it could note that. Then it is empty.
FileIdentity identity_of(const LeaseNote& note, const FileState& found) {
  const bool has_random_name = note.kind != LeaseKind::directory && !stays_on_purpose(note.kind);
  const bool may_be_empty = found.is_directory() || found.size == 0;
  if (note.made) return *note.made;
  return has_random_name && may_be_empty ? found.identity : FileIdentity{};
}

LeaseState state_at(const LeaseNote& note, const Place& place) {
  if (!place.parent) return LeaseState::unseen;
  const std::optional<FileState> found = state_of(place.parent.get(), place.name);
  if (!found) return LeaseState::gone;
  const bool changed = note.kind == LeaseKind::image &&
                       (found->size != note.size || found->modified_ns != note.modified_ns ||
                        found->changed_ns != note.changed_ns);
  if (changed || found->identity != identity_of(note, *found)) return LeaseState::changed;
  return stays_on_purpose(note.kind) ? LeaseState::kept : LeaseState::left;
}

LeaseState remove_left(const LeaseNote& note, const Place& place) {
  if (note.kind == LeaseKind::work && note.made) {
    const Descriptor work(openat(place.parent.get(), place.name.c_str(),
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const std::optional<FileState> state = work ? state_of(work.get()) : std::nullopt;
    if (!state || state->identity != note.made) return LeaseState::changed;
    remove_contents(work.get(), note.path);
  }
  const std::optional<FileState> found = state_of(place.parent.get(), place.name);
  const bool removed =
      found && remove_exactly(place.parent.get(), place.name, identity_of(note, *found));
  return removed ? LeaseState::removed : LeaseState::changed;
}

// What was kept on a drive that is connected again later is still filereel's.
constexpr std::int64_t kForgottenAfter_s = 90 * 24 * 3600;

// Strikes off what there is nothing left to do about.
ListedLease clear_up(Lease& lease) {
  ListedLease listed{lease.note()};
  const LeaseNote& note = lease.note();
  if (note.kind == LeaseKind::mount_point) unmount_own(note);
  const Place place(note.path);
  try {
    listed.state = state_at(note, place);
    if (listed.state == LeaseState::left) listed.state = remove_left(note, place);
  } catch (const Error& error) {
    listed.why = error.what();
  }
  const bool may_return =
      stays_on_purpose(note.kind) && note.made && lease.age_s() < kForgottenAfter_s;
  const bool stays = listed.state == LeaseState::left || listed.state == LeaseState::kept ||
                     listed.state == LeaseState::unseen || may_return;
  if (!stays) lease.strike();
  return listed;
}

}  // namespace

std::vector<ListedLease> list_leases() {
  std::vector<ListedLease> list;
  for (FoundLease& found : find_leases([](const LeaseNote&) { return true; })) {
    const LeaseState state =
        found.lease ? state_at(found.note, Place(found.note.path)) : LeaseState::in_use;
    list.push_back({std::move(found.note), state});
  }
  std::ranges::sort(list, {}, [](const ListedLease& one) { return one.note.path; });
  return list;
}

std::vector<ListedLease> remove_leftovers() {
  std::vector<FoundLease> found = find_leases([](const LeaseNote& note) {
    return !stays_on_purpose(note.kind) || state_at(note, Place(note.path)) != LeaseState::kept;
  });
  // What lies in a directory goes before it.
  std::ranges::sort(found, std::greater(), [](const FoundLease& one) { return one.note.path; });
  std::vector<ListedLease> list;
  for (FoundLease& one : found) {
    if (!one.lease) continue;
    const bool kept = stays_on_purpose(one.note.kind);
    ListedLease done = clear_up(*one.lease);
    if (!kept) list.push_back(std::move(done));
  }
  return list;
}

}  // namespace filereel

// The problem. A lease says that filereel made an object at a path. Later, the path may lead to
// another object, to another drive on the same mount point, or nowhere, because the drive is not
// connected. To remove what is somebody else's is the worst error of all; to forget what is still
// there leaves it for ever. So each lease gets one of several states (state_at), and only `left`
// leads to a removal.
//
// Two proofs are needed, and neither follows from a path. That the object is the recorded one
// (is_recorded): by identity where numbers last, otherwise by something random in it or in its
// name. That the place is the recorded one, if the object is missing (is_recorded_parent,
// proves_absence): without it, the object is `unseen`, and the lease stays for 90 days. An object
// that was created but not yet recorded as made must be empty, have its random name, and not be
// older than the lease (is_ours).
//
// Order: the contents of a directory come before the directory, as leases are sorted backwards by
// path. Work directories are looked at first, because one in a directory proves that filereel has
// used that directory (places_of_work).
//
// A call on a share that does not respond may never return, and not even SIGKILL ends it. So
// objects on shares are looked at in a child (RemoteMounts::ask), which is given up after two
// seconds. It gets the record alone: a hung child must not hold the lock of a lease.
#include "filesets/ownership/leftovers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <boost/filesystem/path.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "filesets/ownership/removal.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/mounts.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// What a lease tells of its object. Without its file, which is locked: children must not hold it.
struct Known {
  const LeaseRecord& note;
  std::int64_t age_s = 0;  // unneeded for objects that were made
  bool held_work = false;  // a directory that contains, or contained, a work directory of ours
};

struct Finding {
  LeaseState state = LeaseState::left;
  std::string why = {};
};

// For the way out of a child process.
std::string text_of(const Finding& finding) {
  return static_cast<char>(finding.state) + finding.why;
}

Finding finding_of(const std::string& text) {
  return {static_cast<LeaseState>(text.front()), text.substr(1)};
}

bool is_kept_kind(LeaseKind kind) {
  return kind == LeaseKind::image || kind == LeaseKind::tree;
}

// The location of an object, opened once.
struct Place {
  Descriptor parent;
  std::string name;

  explicit Place(const boost::filesystem::path& path)
      : parent(open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        name(path.filename().string()) {}
};

// Neither through a symbolic link nor into what is mounted there.
Descriptor open_directory(int parent, const std::string& name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
  return Descriptor(static_cast<int>(syscall(SYS_openat2, parent, name.c_str(), &how, sizeof how)));
}

// Whether a share shows the object although it was removed on the server.
bool is_shown_only(const Place& place) {
  const Descriptor object(
      openat(place.parent.get(), place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  return object && is_removed_on_server(object.get());
}

// Whether the directory contains the entry whose random name is in the lease, or nothing any more.
bool holds_proof(const LeaseRecord& note, const Place& place) {
  const Descriptor directory = open_directory(place.parent.get(), place.name);
  const auto names = directory ? names_in(directory.get()) : std::nullopt;
  return names && (names->empty() || open_directory(directory.get(), note.proof));
}

// Whether it is the recorded object. Without lasting inode numbers, the number says nothing, not
// even if it is the same: each kind then has another proof.
bool is_recorded(const Known& known, const Place& place, const FileState& found) {
  const LeaseRecord& note = known.note;
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
      return (same && found.identity.birth_ns != 0) || (known.held_work && found.is_directory());
    case LeaseKind::work:
    case LeaseKind::mount_point:
      break;
  }
  return same;
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
bool is_ours(const Known& known, const Place& place, const FileState& found) {
  const LeaseRecord& note = known.note;
  if (note.made) return is_recorded(known, place, found);
  const bool has_random_name = note.kind != LeaseKind::directory && !is_kept_kind(note.kind);
  const bool may_be_empty = found.is_directory() || found.size == 0;
  const bool older = found.identity.birth_ns != 0 &&
                     found.identity.birth_ns < earliest_birth_time() - known.age_s * kNsPerSecond;
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

// Whether the parent is the recorded directory. Of a share, the share is, and the number only where
// it lasts.
bool is_recorded_parent(const LeaseRecord& note, const FileState& parent, int directory) {
  const bool same = note.parent == FileIdentity{} || parent.identity == note.parent;
  if (note.share.empty()) return same;
  return RemoteMounts().share_at(note.path) == note.share && (same || !keeps_identities(directory));
}

// Whether an object that is missing in the recorded parent is gone. Without lasting numbers, or a
// birth time, another drive may be mounted there.
bool proves_absence(const LeaseRecord& note, int directory) {
  if (!note.share.empty() || note.parent.birth_ns != 0) return true;
  if (is_kept_kind(note.kind) && note.made) return false;
  return note.parent == FileIdentity{} || keeps_identities(directory);
}

LeaseState state_at(const Known& known, const Place& place) {
  const LeaseRecord& note = known.note;
  const int directory = place.parent.get();
  const std::optional<FileState> parent = place.parent ? read_file_state(directory) : std::nullopt;
  if (!parent) return LeaseState::unseen;
  std::optional<FileState> found = read_file_state(directory, place.name);
  const bool unknown = !found && errno != ENOENT;
  if (found && is_shown_only(place)) found.reset();
  const bool ours = found && is_ours(known, place, *found);
  // The parent may have another number, too, even where numbers last: an overlay copies a directory
  // when something is created in it. Then what is there decides, but not what is missing.
  const bool proven = ours && note.made && note.made->birth_ns != 0;
  const bool is_that = is_recorded_parent(note, *parent, directory) ||
                       (found && (proven || !keeps_identities(directory)));
  if (!is_that || unknown) return LeaseState::unseen;
  if (is_covered(note)) return LeaseState::left;
  if (!found) {
    const LeaseState aside = aside_left(note, place);
    const bool gone = aside == LeaseState::gone;
    return gone && !proves_absence(note, directory) ? LeaseState::unseen : aside;
  }
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
LeaseState remove_left(const Known& known, const Place& place) {
  const LeaseRecord& note = known.note;
  if (note.kind == LeaseKind::work && note.made) remove_work(note, place);
  const int parent = place.parent.get();
  const Descriptor held = hold_identity(parent, place.name, keeps_identities(parent));
  const std::optional<FileState> found = read_file_state(parent, place.name);
  if (found && !is_ours(known, place, *found)) return LeaseState::changed;
  const FileIdentity wanted = found ? found->identity : note.made.value_or(FileIdentity{});
  const int error = remove_exactly(parent, place.name, wanted);
  const bool is_users_now = error == ENOTEMPTY && note.kind == LeaseKind::directory;
  if (error == ENOENT) return LeaseState::gone;  // a share may show it for a while after that
  if (error == ESTALE || is_users_now) return LeaseState::changed;
  if (error != 0) {
    throw_failed(fmt::format("cannot remove {}: {}", printable_line(note.path), strerror(error)));
  }
  return LeaseState::removed;
}

Finding look_at(const Known& known) {
  return {state_at(known, Place(known.note.path))};
}

// What is left is removed.
Finding remove_at(const Known& known) {
  Finding finding;
  try {
    const Place place(known.note.path);
    finding.state = state_at(known, place);
    if (finding.state == LeaseState::left) finding.state = remove_left(known, place);
  } catch (const Error& error) {
    finding.why = error.what();
  }
  return finding;
}

// Looks at objects and removes them, without waiting for mounts that do not respond.
class Inspection {
 public:
  Finding look(const Known& known) {
    return found(remote_.ask(known.note.path, [&] { return text_of(look_at(known)); }));
  }

  // A removal may take long. It is given up when a look takes long, too.
  Finding remove(const Known& known) {
    const auto looks = [&] { return text_of(look_at(known)); };
    Finding before = found(remote_.ask(known.note.path, looks));
    if (before.state != LeaseState::left) return before;
    return found(remote_.ask(
        known.note.path, [&] { return text_of(remove_at(known)); },
        [&] { return RemoteMounts().ask(known.note.path, looks).has_value(); }));
  }

  // Of a hung object.
  std::string mount_of(const LeaseRecord& note) const {
    const auto mounted = remote_.on_way_to(note.path);
    return mounted ? mounted->mount_point : "";
  }

 private:
  static Finding found(const std::optional<std::string>& answer) {
    return answer ? finding_of(*answer) : Finding{LeaseState::hung};
  }

  RemoteMounts remote_;
};

ListedLease listed(LeaseRecord note, Finding finding, const Inspection& inspection) {
  ListedLease lease{std::move(note), finding.state, std::move(finding.why)};
  if (lease.state != LeaseState::hung) return lease;
  lease.share = inspection.mount_of(lease.note);
  lease.why = fmt::format("on {}, which does not respond", printable_line(lease.share));
  return lease;
}

// An object on a drive that is reconnected later still belongs to filereel.
constexpr std::int64_t kForgottenAfter_s = std::int64_t{90} * 24 * 3600;

// Whether the lease is needed: to remove the object later, or because it may be that of a drive
// that returns. What is there instead of a kept object may be on another drive, too.
bool stays_needed(const LeaseRecord& note, LeaseState state, std::int64_t age_s) {
  const bool kept = is_kept_kind(note.kind) && note.made.has_value();
  switch (state) {
    case LeaseState::in_use:
    case LeaseState::kept:
    case LeaseState::left:
    case LeaseState::hung:
      return true;
    case LeaseState::unseen:
      return age_s < kForgottenAfter_s;
    case LeaseState::changed:
      return kept && age_s < kForgottenAfter_s;
    case LeaseState::removed:
    case LeaseState::gone:
      break;
  }
  return false;
}

// Strikes off the lease if nothing is left to do.
ListedLease clean_up(Lease& lease, bool held_work, Inspection& inspection) {
  const Known known{lease.note(), lease.age_s(), held_work};
  Finding finding;
  try {
    if (known.note.kind == LeaseKind::mount_point) unmount_own(known.note);
    finding = inspection.remove(known);
  } catch (const Error& error) {
    finding.why = error.what();
  }
  ListedLease one = listed(known.note, std::move(finding), inspection);
  if (!stays_needed(one.note, one.state, known.age_s)) lease.remove_record();
  return one;
}

// Directories in which a work directory proves by its content that filereel used them.
std::set<std::string> places_of_work(std::span<const FoundLease> leases, Inspection& inspection) {
  std::set<std::string> places;
  for (const FoundLease& found : leases) {
    if (found.note.proof.empty() || !found.lease) continue;
    const Finding finding = inspection.look({found.note, found.lease->age_s()});
    if (finding.state != LeaseState::left) continue;
    places.insert(boost::filesystem::path(found.note.path).parent_path().string());
  }
  return places;
}

}  // namespace

std::vector<ListedLease> list_leases() {
  std::vector<ListedLease> list;
  std::vector<FoundLease> leases = find_leases([](const LeaseRecord&) { return true; });
  Inspection inspection;
  const std::set<std::string> with_work = places_of_work(leases, inspection);
  for (FoundLease& found : leases) {
    Finding finding{LeaseState::in_use};
    if (found.lease) {
      finding =
          inspection.look({found.note, found.lease->age_s(), with_work.contains(found.note.path)});
    }
    list.push_back(listed(std::move(found.note), std::move(finding), inspection));
  }
  std::ranges::sort(list, {}, [](const ListedLease& lease) { return lease.note.path; });
  return list;
}

std::vector<ListedLease> remove_leftovers() {
  Inspection inspection;
  std::vector<FoundLease> found = find_leases([&](const LeaseRecord& note) {
    // Kept objects are not even locked, because another run may be about to use them.
    if (!is_kept_kind(note.kind) || !note.made) return true;
    const LeaseState state = inspection.look({note}).state;
    return state != LeaseState::kept && state != LeaseState::hung;
  });
  // The contents of a directory come before the directory.
  std::ranges::sort(found, std::greater(), [](const FoundLease& lease) { return lease.note.path; });
  const std::set<std::string> with_work = places_of_work(found, inspection);
  std::vector<ListedLease> list;
  for (FoundLease& found_lease : found) {
    if (!found_lease.lease) continue;
    const bool kept = is_kept_kind(found_lease.note.kind);
    ListedLease done =
        clean_up(*found_lease.lease, with_work.contains(found_lease.note.path), inspection);
    if (!kept) list.push_back(std::move(done));
  }
  return list;
}

namespace {

// Runs in the janitor.
[[noreturn]] void wait_and_clean(int pipe) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  // Nobody must wait for the end of these.
  const int nothing = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    nothing < 0 ? close(standard) : dup2(nothing, standard);
  }
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got > 0) _exit(0);  // sent away
  // Processes of the same run may still write: mpirun kills them a second after the first signal,
  // on a busy machine later.
  constexpr timespec kPause{1, 500'000'000};
  constexpr int kAttempts = 20;
  try {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      nanosleep(&kPause, nullptr);
      const std::vector<ListedLease> found = remove_leftovers();
      if (!contains(found, LeaseState::left, &ListedLease::state)) break;
    }
  } catch (const std::exception&) {
    // The next run reports it.
  }
  _exit(0);
}

}  // namespace

Janitor::Janitor() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Descriptor reading(ends[0]);
  pipe_.reset(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    pipe_.reset();
    wait_and_clean(reading.get());
  }
  if (child < 0) pipe_.reset();
}

Janitor::~Janitor() {
  if (pipe_) static_cast<void>(!write(pipe_.get(), "x", 1));
}

}  // namespace filereel

// A lease must be right at any moment at which the process may be killed. So it is never changed in
// place: a new file is written under another name, locked, and renamed over the old one
// (write_lease). A reader finds the old or the new content, complete and locked. The file ends with
// a line `end`, and parse_lease() accepts only what format_lease() would write, so that a truncated
// lease of a full disk is no lease, and proves nothing.
//
// The lock (flock) belongs to the open file, hence to the process: it is gone when the process is,
// however it ends. Children that live longer must therefore not inherit the descriptor (O_CLOEXEC;
// run_apart closes it). Writing again gets a new file with a new lock before the old one is closed
// by assignment. After a lock was obtained on a lease that was found, it is read again: the owner
// may have deleted it in between (links() 0, is_in_place).
//
// Files of other names or contents in the state directory are left alone, except incomplete leases
// of more than a day.
#include "filesets/ownership/lease.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <utility>

#include <boost/filesystem.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/mounts.h"
#include "filesets/system/numbers.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

constexpr std::string_view kOther = "set FILEREEL_STATE_DIR to a directory of your own";

std::string environment(const char* name) {
  const char* const value = getenv(name);
  return value ? value : "";
}

// False in the user namespace that filereel enters to mount without privileges, although its user
// is called root there, too. user_namespaces(7)
bool is_root_of_the_machine() {
  std::uint64_t inside = 1, outside = 1;
  std::ifstream("/proc/self/uid_map") >> inside >> outside;
  return is_root() && inside == 0 && outside == 0;
}

std::string chosen_path() {
  if (const std::string path = environment("FILEREEL_STATE_DIR"); !path.empty()) return path;
  if (is_root_of_the_machine()) return "/var/lib/filereel";
  if (const std::string path = environment("XDG_STATE_HOME"); path.starts_with('/')) {
    return path + "/filereel";
  }
  if (const std::string home = environment("HOME"); home.starts_with('/')) {
    return home + "/.local/state/filereel";
  }
  throw_failed(fmt::format("no state directory: HOME is not set; {}", kOther));
}

}  // namespace

StateDirectory open_state_directory() {
  StateDirectory state;
  state.path = absolute_path(chosen_path());
  while (state.path.size() > 1 && state.path.back() == '/') state.path.pop_back();
  make_directories(fs::path(state.path).parent_path().string());
  mkdir(state.path.c_str(), 0700);
  state.directory.reset(open(state.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!state.directory) {
    throw_failed(fmt::format("cannot open the state directory {}: {}", state.path,
                             error_text(errno, kOther)));
  }
  struct stat info{};
  if (fstat(state.directory.get(), &info) != 0 || info.st_uid != geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw_failed(fmt::format("the state directory {} is owned or writable by another user; {}",
                             state.path, kOther));
  }
  return state;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == static_cast<ssize_t>(sizeof number)) return number;
  const Descriptor device(
      open("/dev/urandom", O_RDONLY | O_CLOEXEC));  // a policy may deny the call
  if (!device ||
      read(device.get(), &number, sizeof number) != static_cast<ssize_t>(sizeof number)) {
    throw_failed(
        fmt::format("cannot get random numbers: a policy denies getrandom here, and "
                    "/dev/urandom cannot be read: {}; allow one of them",
                    strerror(errno)));
  }
  return number;
}

std::string random_name() {
  return fmt::format("{:016x}{:016x}", random_number(), random_number());
}

namespace {

constexpr std::string_view kHeader = "filereel lease 1";
constexpr std::string_view kEnd = "end";
constexpr std::string_view kHexadecimalDigits = "0123456789abcdef";  // of random_name()
// Prefix of incomplete files, which are not listed as leases.
constexpr std::string_view kUnfinished = "filereel-new-";
constexpr std::size_t kMostBytes = 1u << 30;

struct KindName {
  LeaseKind kind;
  std::string_view name;
};
constexpr std::array<KindName, 6> kKinds = {{{LeaseKind::file, "file"},
                                             {LeaseKind::work, "work directory"},
                                             {LeaseKind::directory, "directory"},
                                             {LeaseKind::mount_point, "mount point"},
                                             {LeaseKind::image, "image"},
                                             {LeaseKind::tree, "tree"}}};

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(text, Blanks::kept, out);
  return out;
}

bool take_blank(std::string_view& text) {
  if (!text.starts_with(' ')) return false;
  text.remove_prefix(1);
  return true;
}

bool parse_entries(std::string_view text, std::vector<std::uint64_t>& entries) {
  constexpr int kHexadecimal = 16;
  while (!text.empty()) {
    if (!take_number(text, entries.emplace_back(), kHexadecimal) || !take_blank(text)) return false;
  }
  return std::ranges::is_sorted(entries);
}

bool parse_line(std::string_view key, std::string_view value, LeaseRecord& note) {
  if (key == "kind") {
    const KindName* const known = find_or_null(kKinds, value, &KindName::name);
    if (known) note.kind = known->kind;
    return known != nullptr;
  }
  if (key == "path") return unescape(value, Blanks::kept, note.path) && note.path.starts_with('/');
  if (key == "inode") {
    note.made.emplace();
    return parse_number(value, note.made->inode);
  }
  if (key == "born") {
    return note.made && parse_number(value, note.made->birth_ns);
  }
  if (key == "parent") {
    return take_number(value, note.parent.inode) && take_blank(value) &&
           parse_number(value, note.parent.birth_ns);
  }
  if (key == "share") return unescape(value, Blanks::kept, note.share) && !note.share.empty();
  if (key == "proof") {
    note.proof = value;
    return std::ranges::all_of(value, [](char c) { return kHexadecimalDigits.contains(c); });
  }
  if (key == "mounted") return parse_number(value, note.mounted);
  if (key == "size") return parse_number(value, note.size);
  if (key == "times") {
    return take_number(value, note.modified_ns) && take_blank(value) &&
           parse_number(value, note.changed_ns);
  }
  if (key == "file-system") return unescape(value, Blanks::kept, note.file_system);
  if (key == "seed") return parse_number(value, note.seed);
  return key == "entries" && parse_entries(value, note.entries);
}

[[noreturn]] void fail(const std::string& path) {
  throw_failed(fmt::format(
      "cannot write to the state directory {}: {}", path,
      error_text(errno, "free some space, or set FILEREEL_STATE_DIR to another directory")));
}

bool is_in_place(int file) {
  const std::optional<FileState> state = read_file_state(file);
  return state && S_ISREG(state->mode) && state->links > 0;
}

// Reads a lease without the entries of a tree, because reading all of them at every start would
// take too long.
std::optional<LeaseRecord> read_heading(int file) {
  if (!is_in_place(file)) return std::nullopt;
  constexpr std::size_t kMostHeading = 1u << 16;  // bytes: several times the longest path, escaped
  constexpr std::string_view kEntries = "\nentries ";
  std::string text(kMostHeading, '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  const std::size_t entries = text.find(kEntries);
  if (entries != std::string::npos) {
    text.resize(entries);
    text += fmt::format("{}\n{}\n", kEntries, kEnd);
  }
  return parse_lease(text);
}

LeaseRecord with_share(LeaseRecord note) {
  note.share = RemoteMounts().share_at(note.path);
  return note;
}

// Writes under a temporary name first, so that the lease appears complete and locked or not at all.
Descriptor write_lease(const StateDirectory& state, const std::string& name,
                       const LeaseRecord& note) {
  const std::string unfinished = std::string(kUnfinished) + random_name();
  Descriptor file(openat(state.directory.get(), unfinished.c_str(),
                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail(state.path);
  const std::string text = format_lease(note);
  // Some network file systems do not support locks. There, a run cannot detect that another one is
  // active.
  const bool locked = flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  errno = ENOSPC;  // for a short write
  if (!locked || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      renameat(state.directory.get(), unfinished.c_str(), state.directory.get(), name.c_str()) !=
          0) {
    const int error = errno;
    unlinkat(state.directory.get(), unfinished.c_str(), 0);
    errno = error;
    fail(state.path);
  }
  return file;
}

// Removes the incomplete lease of a process that was killed.
void remove_if_old(int directory, const std::string& name) {
  constexpr time_t kOld_s = 24 * 3600;
  struct stat info{};
  if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      info.st_mtime < time(nullptr) - kOld_s) {
    unlinkat(directory, name.c_str(), 0);
  }
}

}  // namespace

std::string_view lease_kind_name(LeaseKind kind) {
  return std::ranges::find(kKinds, kind, &KindName::kind)->name;
}

std::string format_lease(const LeaseRecord& note) {
  std::string text = fmt::format("{}\nkind {}\npath {}\n", kHeader, lease_kind_name(note.kind),
                                 escaped(note.path));
  const auto out = std::back_inserter(text);
  if (note.made) fmt::format_to(out, "inode {}\nborn {}\n", note.made->inode, note.made->birth_ns);
  if (note.parent != FileIdentity{}) {
    fmt::format_to(out, "parent {} {}\n", note.parent.inode, note.parent.birth_ns);
  }
  if (!note.share.empty()) fmt::format_to(out, "share {}\n", escaped(note.share));
  if (!note.proof.empty()) fmt::format_to(out, "proof {}\n", note.proof);
  if (note.mounted != 0) fmt::format_to(out, "mounted {}\n", note.mounted);
  if (note.kind == LeaseKind::image) {
    fmt::format_to(out, "size {}\ntimes {} {}\nfile-system {}\n", note.size, note.modified_ns,
                   note.changed_ns, escaped(note.file_system));
  }
  if (note.kind == LeaseKind::tree) {
    fmt::format_to(out, "seed {}\nentries ", note.seed);
    for (const std::uint64_t entry : note.entries) fmt::format_to(out, "{:016x} ", entry);
    text += '\n';
  }
  fmt::format_to(out, "{}\n", kEnd);
  return text;
}

std::optional<LeaseRecord> parse_lease(std::string_view text) {
  LeaseRecord note;
  std::string_view rest = text, line;
  const auto next_line = [&] {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return false;
    line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return true;
  };
  if (!next_line() || line != kHeader) return std::nullopt;
  while (next_line()) {
    if (line == kEnd) return format_lease(note) == text ? std::optional(note) : std::nullopt;
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos ||
        !parse_line(line.substr(0, blank), line.substr(blank + 1), note)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Lease::Lease(LeaseRecord note) : note_(with_share(std::move(note))), name_(random_name()) {
  StateDirectory state = open_state_directory();
  file_ = write_lease(state, name_, note_);
  state_ = std::move(state.directory);
}

Lease::Lease(LeaseRecord note, Descriptor state, std::string name, Descriptor file)
    : note_(std::move(note)),
      state_(std::move(state)),
      name_(std::move(name)),
      file_(std::move(file)) {}

void Lease::write(LeaseRecord note) {
  note.share = note_.share;
  file_ = write_lease(open_state_directory(), name_, note);
  note_ = std::move(note);
}

std::int64_t Lease::age_s() const {
  const std::optional<FileState> state = read_file_state(file_.get());
  return state ? time(nullptr) - state->modified_ns / 1'000'000'000 : 0;
}

std::vector<std::uint64_t> Lease::entries() const {
  const std::optional<std::string> text =
      read_file(fmt::format("/proc/self/fd/{}", file_.get()), kMostBytes);
  std::optional<LeaseRecord> note = text ? parse_lease(*text) : std::nullopt;
  return note ? std::move(note->entries) : std::vector<std::uint64_t>();
}

void Lease::made(const FileIdentity& identity) {
  LeaseRecord note = note_;
  note.made = identity;
  write(std::move(note));
}

void Lease::remove_record() noexcept {
  if (!file_) return;
  unlinkat(state_.get(), name_.c_str(), 0);
  file_.reset();
}

std::vector<FoundLease> find_leases(const std::function<bool(const LeaseRecord&)>& wanted) {
  const StateDirectory state = open_state_directory();
  const auto names = names_in(state.directory.get());
  if (!names) fail(state.path);
  std::vector<FoundLease> found;
  for (const std::string& name : *names) {
    if (name.starts_with(kUnfinished) && name.size() == kUnfinished.size() + kRandomName) {
      remove_if_old(state.directory.get(), name);
      continue;
    }
    constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    Descriptor file(openat(state.directory.get(), name.c_str(), kFlags));
    std::optional<LeaseRecord> note = file ? read_heading(file.get()) : std::nullopt;
    if (!note || !wanted(*note)) continue;
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      found.push_back({*std::move(note), std::nullopt});
      continue;
    }
    // The previous owner may have finished with it before the lock was taken.
    note = read_heading(file.get());
    if (!note) continue;
    Descriptor directory(fcntl(state.directory.get(), F_DUPFD_CLOEXEC, 0));
    found.push_back({*note, Lease(*note, std::move(directory), name, std::move(file))});
  }
  return found;
}

}  // namespace filereel

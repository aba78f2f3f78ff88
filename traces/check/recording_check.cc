#include "traces/check/recording_check.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "traces/check/content_check.h"

namespace filereel {
namespace {

using Clock = std::chrono::steady_clock;

// File times come from the clock's last tick, at most 10 ms before the call.
constexpr std::uint64_t kTick = 10'000'000;

// Of files whose names are unknown, which the trace counts as approximated (calls/open_files.cc).
constexpr std::string_view kUnknownFiles = "filereel-unknown";

std::uint64_t ns_of(std::int64_t seconds, std::uint32_t part) {
  return static_cast<std::uint64_t>(seconds) * 1'000'000'000 + part;
}
std::uint64_t ns_of(const timespec& time) {
  return ns_of(time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec));
}

FileKind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileKind::file;
    case S_IFDIR:
      return FileKind::directory;
    case S_IFLNK:
      return FileKind::symlink;
    default:
      return FileKind::special;
  }
}

std::string_view name_of(FileKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {
      "something", "a file", "a directory", "a symbolic link", "a pipe, socket or device"};
  return kNames[static_cast<std::size_t>(kind)];
}

class Check {
 public:
  Check(const CheckedTrace& trace, const CheckRequest& request) : trace_(trace), request_(request) {
    if (request.seconds) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*request.seconds));
    }
  }

  CheckOutcome run();

 private:
  // What the functions for one directory share.
  struct Here {
    const ExpectedDirectory& directory;
    const Descriptor& opened;  // with O_PATH
  };
  // A name that differs.
  struct Finding {
    std::string_view name;
    FileId file = kNoFileId;
    const struct stat* real = nullptr;  // null: it does not exist
    std::uint64_t changed_ns = 0;       // when the name or the file was last changed
    std::string what = {};
  };
  struct Inode {
    dev_t device;
    ino_t number;
    bool operator==(const Inode&) const = default;
  };

  bool is_late() const { return deadline_ && Clock::now() > *deadline_; }
  bool is_inside(std::string_view path) const;
  void check_directory(const ExpectedDirectory& directory);
  void check_name(const Here& here, const ExpectedName& expected);
  void check_absent(const Here& here, const ExpectedName& expected, const struct stat* real);
  std::string difference(const Here& here, const ExpectedName& expected, const struct stat& real);
  std::string file_difference(const Here& here, const ExpectedName& expected,
                              const struct stat& real);
  void learn(const Here& here, const ExpectedName& expected, const struct stat& real);
  std::string link_text(const Here& here, const ExpectedName& expected) const;
  std::string link_difference(const Here& here, const ExpectedName& expected) const;
  std::string names_difference(const ExpectedName& expected, const struct stat& real);
  void look_for_unknown(const Here& here, const std::vector<ExpectedName>& expected);
  bool appeared(const Here& here, const std::string& name) const;
  std::uint64_t born_ns(const Here& here, const std::string& name) const;
  std::uint64_t changed_ns(const Here& here) const;
  void report(const Here& here, const Finding& finding);
  bool is_by_others(const Here& here, const Finding& finding);
  PathId path_id(std::string_view path) const;

  const CheckedTrace& trace_;
  const CheckRequest& request_;
  std::optional<Clock::time_point> deadline_;
  std::unordered_map<FileId, Inode> inodes_;  // of files with several names
  RecordingCheck result_;
  std::vector<TreeModel::ExistingFile> existing_;
};

// Whether operations can be on files of this directory: not in /proc and the like of a chroot.
bool holds_files(const Descriptor& directory) {
  struct statfs status{};
  if (fstatfs(directory.get(), &status) != 0) return true;
  const auto type = static_cast<long>(status.f_type);
  return type != PROC_SUPER_MAGIC && type != SYSFS_MAGIC;
}

std::string last_text(const LastOperations::Last& last) {
  if (last.position == 0) return {};
  return fmt::format(" (last operation: {} at {:.3f} s)", operation_info(last.kind).name,
                     static_cast<double>(last.end_ns) * 1e-9);
}

std::string joined(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

// The path for a message. A long one loses its middle.
std::string shown_path(std::string_view path) {
  constexpr std::size_t kEnd = 50;
  if (path.size() <= 2 * kEnd) return fmt::format("/{}", path);
  return fmt::format("/{}...{}", path.substr(0, kEnd), path.substr(path.size() - kEnd));
}

CheckOutcome Check::run() {
  result_.done = true;
  std::vector<ExpectedDirectory> directories = trace_.model.expected_directories();
  std::ranges::stable_partition(directories, [](const ExpectedDirectory& directory) {
    return directory.complete || directory.changed;
  });
  for (const ExpectedDirectory& expected_directory : directories) {
    if (!is_inside(expected_directory.path) || expected_directory.path == kUnknownFiles) continue;
    if (is_late()) {
      result_.unchecked += expected_directory.names;
    } else {
      check_directory(expected_directory);
    }
  }
  return {std::move(result_), std::move(existing_)};
}

bool Check::is_inside(std::string_view path) const {
  const std::string& below = request_.below;
  return below.empty() ||
         (path.starts_with(below) && (path.size() == below.size() || path[below.size()] == '/'));
}

void Check::check_directory(const ExpectedDirectory& directory) {
  if (directory.names == 0 && !directory.complete) return;
  const Descriptor opened =
      open_directory_beneath(request_.root.get(), directory.path, O_PATH, MountPoints::cross);
  if (!opened) {
    // Otherwise, its own name differs and is reported with the directory above.
    if (errno == EACCES || directory.path.empty()) result_.unchecked += directory.names;
    return;
  }
  if (!holds_files(opened)) return;
  const Here here{directory, opened};
  const std::vector<ExpectedName> names = trace_.model.expected_names(directory.node);
  for (const ExpectedName& name : names) {
    if (is_late()) {
      ++result_.unchecked;
    } else {
      check_name(here, name);
    }
  }
  if (directory.complete || directory.changed) look_for_unknown(here, names);
}

void Check::check_name(const Here& here, const ExpectedName& expected) {
  if (here.directory.path.empty() && expected.name == kUnknownFiles) return;
  struct stat real{};
  const std::string name(expected.name);
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  const bool is_there = fstatat(here.opened.get(), name.c_str(), &real, flags) == 0;
  const bool is_left_out = !is_there && request_.is_copy && here.directory.path.empty() &&
                           expected.present && !expected.made && !expected.changed;
  if (is_left_out || (!is_there && errno != ENOENT)) {
    ++result_.unchecked;
    return;
  }
  ++result_.names;
  if (!expected.present) return check_absent(here, expected, is_there ? &real : nullptr);
  Finding finding{.name = expected.name, .file = expected.file};
  if (!is_there) {
    finding.changed_ns = changed_ns(here);
    finding.what = "is missing";
    return report(here, finding);
  }
  finding.what = difference(here, expected, real);
  if (finding.what.empty()) return learn(here, expected, real);
  finding.real = &real;
  finding.changed_ns = ns_of(real.st_ctim);
  report(here, finding);
}

void Check::check_absent(const Here& here, const ExpectedName& expected, const struct stat* real) {
  if (!real) return;
  report(here, {.name = expected.name,
                .real = real,
                .changed_ns = std::max(changed_ns(here), ns_of(real->st_ctim)),
                .what = expected.changed ? "exists; the recording has removed it"
                                         : "exists; the recording found it missing"});
}

// Empty: none.
std::string Check::difference(const Here& here, const ExpectedName& expected,
                              const struct stat& real) {
  const FileKind kind = kind_of(real.st_mode);
  if (expected.kind == FileKind::unknown) return {};
  if (kind != expected.kind) {
    return fmt::format("is {}, {} in the recording", name_of(kind), name_of(expected.kind));
  }
  const std::uint32_t mode = real.st_mode & 0777;
  if (expected.mode && *expected.mode != mode) {
    return fmt::format("has mode {:04o}, {:04o} in the recording", mode, *expected.mode);
  }
  switch (kind) {
    case FileKind::file:
      return file_difference(here, expected, real);
    case FileKind::symlink:
      return link_difference(here, expected);
    default:
      return {};
  }
}

std::string Check::file_difference(const Here& here, const ExpectedName& expected,
                                   const struct stat& real) {
  const auto size = static_cast<std::uint64_t>(real.st_size);
  const auto differs = [&](const std::optional<std::uint64_t>& known) {
    return known && *known != size;
  };
  std::optional<std::uint64_t> known = expected.size;
  if (differs(expected.size_if_made) && appeared(here, std::string(expected.name))) {
    known = expected.size_if_made;
  }
  if (differs(known))
    return fmt::format("has {}, {} in the recording", counted(size, "byte"), *known);
  if (expected.least_size && size < *expected.least_size) {
    return fmt::format("has {}, at least {} in the recording", counted(size, "byte"),
                       *expected.least_size);
  }
  if (std::string names = names_difference(expected, real); !names.empty()) return names;
  if (!expected.ranges) return {};
  std::string holes = hole_difference({.directory = here.opened.get(),
                                       .name = std::string(expected.name),
                                       .real = real,
                                       .made = expected.made,
                                       .written = *expected.ranges});
  const auto* samples = trace_.content ? trace_.content->of(expected.file) : nullptr;
  if (!holes.empty() || !samples) return holes;
  ContentDifference content = content_difference(here.opened.get(), std::string(expected.name),
                                                 *samples, [this] { return is_late(); });
  result_.writes += content.writes;
  if (!content.complete) {
    --result_.names;  // its caller has counted it
    ++result_.unchecked;
  }
  return content.text;
}

// Adds what the trace does not know of something that it has not changed. Of a changed file, a
// larger size than the trace can have made is from before.
void Check::learn(const Here& here, const ExpectedName& expected, const struct stat& real) {
  const FileKind kind = kind_of(real.st_mode);
  const bool is_changed = request_.origin_ns == 0 || ns_of(real.st_mtim) >= request_.origin_ns;
  if (expected.made || expected.file == kNoFileId) return;
  TreeModel::ExistingFile found;
  found.file = expected.file;
  const std::string name(expected.name);
  if (is_changed) {
    const auto size = static_cast<std::uint64_t>(real.st_size);
    if (kind != FileKind::file || !expected.least_size || size <= *expected.least_size) return;
    const bool is_by_others = ns_of(real.st_ctim) > request_.ended_ns ||
                              request_.others.find(here.opened.get(), name, &real);
    if (request_.origin_ns == 0 || is_by_others || appeared(here, name)) return;
    found.mode = S_IFREG;
    found.size = size;
    existing_.push_back(std::move(found));
    return;
  }
  bool is_news = expected.kind == FileKind::unknown;
  found.mode = real.st_mode & S_IFMT;
  if (!expected.mode && ns_of(real.st_ctim) < request_.origin_ns) {
    found.mode = real.st_mode;
    is_news = true;
  }
  if (kind == FileKind::file && !expected.size) {
    found.size = static_cast<std::uint64_t>(real.st_size);
    is_news = true;
  }
  if (kind == FileKind::symlink && expected.text == 0) {
    found.text = trace_.tables.texts.add(link_text(here, expected));
    is_news = true;
  }
  if (kind == FileKind::file && has_holes(real)) {
    found.holes = find_holes(here.opened.get(), name);
    is_news |= !found.holes.empty();
  }
  if (is_news) existing_.push_back(std::move(found));
}

std::string Check::link_text(const Here& here, const ExpectedName& expected) const {
  std::array<char, PATH_MAX> text{};
  const std::string name(expected.name);
  const ssize_t length = readlinkat(here.opened.get(), name.c_str(), text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

std::string Check::link_difference(const Here& here, const ExpectedName& expected) const {
  if (expected.text == 0) return {};
  const std::string real = link_text(here, expected);
  const std::string& known = trace_.tables.texts.text(expected.text);
  if (real == known) return {};
  return fmt::format("leads to {}, to {} in the recording", printable(real), printable(known));
}

std::string Check::names_difference(const ExpectedName& expected, const struct stat& real) {
  if (expected.made && real.st_nlink != expected.names) {
    return fmt::format("has {}, {} in the recording",
                       counted(real.st_nlink, "name (hard link)", "names (hard links)"),
                       expected.names);
  }
  if (expected.names < 2) return {};
  const Inode inode{real.st_dev, real.st_ino};
  const auto [other, fresh] = inodes_.try_emplace(expected.file, inode);
  return fresh || other->second == inode
             ? std::string()
             : std::string("is another file than its other name in the recording");
}

void Check::look_for_unknown(const Here& here, const std::vector<ExpectedName>& expected) {
  const Descriptor listed(openat(here.opened.get(), ".", O_RDONLY | O_CLOEXEC));
  const auto real = listed ? names_in(listed.get()) : std::nullopt;
  if (!real) {
    ++result_.unchecked;
    return;
  }
  std::unordered_set<std::string_view> known;
  for (const ExpectedName& expected_name : expected) known.insert(expected_name.name);
  for (const std::string& name : *real) {
    if (known.contains(name) || name.starts_with(".filereel-")) continue;  // its own files
    if (!here.directory.complete && !appeared(here, name)) continue;
    report(here, {.name = name,
                  .changed_ns = changed_ns(here),
                  .what = "exists; the recording does not know it"});
  }
}

// Whether a file was created during the recording; false: unknown.
bool Check::appeared(const Here& here, const std::string& name) const {
  if (request_.origin_ns == 0 || request_.ended_ns == 0) return false;
  const std::uint64_t born = born_ns(here, name);
  return born > request_.origin_ns && born <= request_.ended_ns;
}

// When the file was created; 0: unknown.
std::uint64_t Check::born_ns(const Here& here, const std::string& name) const {
  struct statx status{};
  if (statx(here.opened.get(), name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0) {
    return 0;
  }
  return ns_of(status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
}

// When a name in the directory was last changed.
std::uint64_t Check::changed_ns(const Here& here) const {
  struct stat status{};
  return fstatat(here.opened.get(), "", &status, AT_EMPTY_PATH) == 0 ? ns_of(status.st_mtim) : 0;
}

// Counts it and names the process if another one has changed the file meanwhile.
bool Check::is_by_others(const Here& here, const Finding& finding) {
  const OtherChange* other =
      request_.others.find(here.opened.get(), std::string(finding.name), finding.real);
  // A file that was made later owes nothing to it, even if it has the name or the inode of another.
  if (!other || born_ns(here, std::string(finding.name)) > request_.origin_ns + other->at_ns) {
    return false;
  }
  ++result_.by_others;
  if (result_.others.size() < RecordingCheck::kMostTexts) {
    result_.others.push_back(fmt::format("{} {}; changed by {} (process {}) at {:.3f} s",
                                         shown_path(joined(here.directory.path, finding.name)),
                                         finding.what, other->program, other->process,
                                         static_cast<double>(other->at_ns) * 1e-9));
  }
  return true;
}

void Check::report(const Here& here, const Finding& finding) {
  if (request_.ended_ns != 0 && finding.changed_ns > request_.ended_ns) {
    ++result_.changed_later;
    return;
  }
  if (is_by_others(here, finding)) return;
  ++result_.differing;
  if (result_.differences.size() == RecordingCheck::kMostTexts) return;
  const std::string path = joined(here.directory.path, finding.name);
  const LastOperations::Last last = trace_.last.of(finding.file, path_id(path));
  std::string text = fmt::format("{} {}{}", shown_path(path), finding.what, last_text(last));
  // A name is changed during its operation, a file until its end.
  if (request_.origin_ns != 0 && last.position != 0 &&
      finding.changed_ns > request_.origin_ns + last.end_ns + kTick) {
    text += fmt::format("; changed after that, at {:.3f} s",
                        static_cast<double>(finding.changed_ns - request_.origin_ns) * 1e-9);
  }
  result_.differences.push_back(std::move(text));
}

PathId Check::path_id(std::string_view path) const {
  PathId id = PathTable::root(Role::near);
  while (!path.empty() && id != PathTable::kNone) {
    const std::string_view name = path.substr(0, path.find('/'));
    id = trace_.tables.paths.find(id, name);
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  return id;
}

}  // namespace

CheckOutcome check_recording(const CheckedTrace& trace, const CheckRequest& request) {
  return Check(trace, request).run();
}

}  // namespace filereel

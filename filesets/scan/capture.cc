#include "filesets/scan/capture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/ownership/file_state.h"
#include "filesets/scan/content_survey.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"

namespace filereel {
namespace {

// Thrown within this file if an entry cannot be captured. `count` is the counter to increment.
struct Skip {
  std::uint64_t CaptureTotals::* count;
  std::string reason;
};

Skip changed() {
  return {&CaptureTotals::changed, "changed while being read"};
}

// Distinguishes an entry that was removed or replaced from an unreadable one.
Skip skip_for_errno(int error) {
  if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ESTALE) return changed();
  return {&CaptureTotals::unreadable, std::strerror(error)};
}

// Identifies an existing file.
struct Identity {
  dev_t device;
  ino_t inode;
  explicit Identity(const struct stat& status) : device(status.st_dev), inode(status.st_ino) {}
  bool operator==(const Identity&) const = default;
};

struct IdentityHash {
  std::size_t operator()(const Identity& id) const {
    return std::hash<std::uint64_t>()(id.inode * 31 + id.device);
  }
};

// The first and last times that an Entry holds, of the years 1677 and 2262.
constexpr std::int64_t kFirstTime = Entry::kNoTime + 1;
constexpr std::int64_t kLastTime = INT64_MAX;

// The modification time, or the nearest one that an Entry holds.
std::int64_t mtime_ns(const struct stat& status) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(std::int64_t{status.st_mtim.tv_sec}, kSecond, &ns) ||
      __builtin_add_overflow(ns, std::int64_t{status.st_mtim.tv_nsec}, &ns)) {
    return status.st_mtim.tv_sec < 0 ? kFirstTime : kLastTime;
  }
  return std::max(ns, kFirstTime);
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

struct stat status_of(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) throw skip_for_errno(errno);
  return status;
}

std::vector<std::string> sorted_names(int directory) {
  std::optional<std::vector<std::string>> names = names_in(directory);
  if (!names) throw skip_for_errno(errno);
  std::ranges::sort(*names);
  return std::move(*names);
}

class TreeCapture {
 public:
  TreeCapture(const CaptureOptions& options, const std::function<void(const Entry&)>& sink,
              const std::function<void(const CaptureProgress&)>& progress)
      : options_(options), sink_(sink), progress_(progress) {}

  CaptureTotals run(const std::string& dir) {
    const auto fail = [&dir](std::string_view why) -> Error {
      return {ErrorKind::unusable_input, fmt::format("capture {:?}: {}", dir, why)};
    };
    root_ = Descriptor(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root_) throw fail(error_text(errno, "choose a readable directory"));
    try {
      const struct stat status = status_of(root_.get());
      device_ = status.st_dev;
      levels_.push_back(
          {sorted_names(root_.get()), 0, 0, Identity(status), keeps_identities(root_.get())});
      here_ = open_again("");
    } catch (const Skip& skip) {
      throw fail(fmt::format("{}; choose a readable directory", skip.reason));
    }
    while (!levels_.empty() && !totals_.interrupted) {
      if (options_.stop.stop_requested()) {
        totals_.interrupted = true;
      } else {
        step();
      }
    }
    return std::move(totals_);
  }

 private:
  // A directory on the current path. At most one is open (here_), so that the number of
  // descriptors does not limit the depth of the tree.
  struct Level {
    std::vector<std::string> names;
    std::size_t next;         // index of the first name not yet visited
    std::size_t path_length;  // of the directory in path_
    Identity identity;
    bool lasting;  // keeps_identities
  };

  void step() {
    Level& level = levels_.back();
    path_.resize(level.path_length);
    if (level.next == level.names.size()) return leave();
    const std::string name = std::move(level.names[level.next++]);
    if (!path_.empty()) path_ += '/';
    path_ += name;
    try {
      if (path_.size() > PATH_MAX) throw Skip{&CaptureTotals::too_long, "path too long"};
      visit(name);
    } catch (const Skip& skip) {
      note(skip);
    }
  }

  // Goes up to the parent. The directory stays open until then, so that the kernel remembers
  // its parents, whose identities could change otherwise (hold_identity).
  void leave() {
    levels_.pop_back();
    if (levels_.empty()) return;
    Level& parent = levels_.back();
    path_.resize(parent.path_length);
    if (parent.next == parent.names.size()) return;
    try {
      Descriptor again = open_again(path_);
      if (Identity(status_of(again.get())) != parent.identity) throw changed();
      here_ = std::move(again);
    } catch (const Skip& skip) {
      // The rest of the parent is no longer reachable.
      note(skip);
      parent.next = parent.names.size();
    }
  }

  // Reopens a directory, which may have been moved or replaced.
  Descriptor open_again(const std::string& path) const {
    Descriptor fd = open_directory_beneath(root_.get(), path, O_PATH, MountPoints::cross);
    if (!fd) throw skip_for_errno(errno);
    return fd;
  }

  // Reading should not change access times, but only the file's owner may request that.
  Descriptor open_here(const std::string& name, int flags) const {
    flags |= O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    Descriptor fd(openat(here_.get(), name.c_str(), flags | O_NOATIME));
    if (!fd && errno == EPERM) fd = Descriptor(openat(here_.get(), name.c_str(), flags));
    if (!fd) throw skip_for_errno(errno);
    return fd;
  }

  void visit(const std::string& name) {
    const Descriptor held = hold_identity(here_.get(), name, levels_.back().lasting);
    struct stat status{};
    if (fstatat(here_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      throw skip_for_errno(errno);
    }
    Entry entry;
    entry.path = path_;
    entry.mode = status.st_mode & 07777;
    entry.mtime_ns = mtime_ns(status);
    if (S_ISDIR(status.st_mode)) {
      visit_directory(name, status, entry);
    } else if (S_ISLNK(status.st_mode)) {
      visit_symlink(name, entry);
    } else if (!S_ISREG(status.st_mode)) {
      throw Skip{&CaptureTotals::special, "socket, FIFO or device"};
    } else {
      visit_file(name, status, entry);
    }
  }

  void visit_directory(const std::string& name, const struct stat& status, Entry& entry) {
    entry.kind = EntryKind::directory;
    if (leaves_file_system(status)) {
      emit(entry);
      throw Skip{&CaptureTotals::other_file_systems, "mount point of another file system"};
    }
    Descriptor fd;
    std::vector<std::string> names;
    try {
      fd = open_here(name, O_DIRECTORY);
      if (Identity(status_of(fd.get())) != Identity(status)) throw changed();
      names = sorted_names(fd.get());
    } catch (const Skip& skip) {
      // The directory exists even if its contents are unreadable.
      if (skip.count == &CaptureTotals::unreadable) emit(entry);
      throw;
    }
    emit(entry);
    if (names.empty()) return;
    const Level& above = levels_.back();
    const bool lasting =
        status.st_dev == above.identity.device ? above.lasting : keeps_identities(fd.get());
    levels_.push_back({std::move(names), 0, path_.size(), Identity(status), lasting});
    here_ = std::move(fd);
  }

  void visit_symlink(const std::string& name, Entry& entry) {
    entry.kind = EntryKind::symlink;
    std::array<char, PATH_MAX> target;
    const ssize_t length = readlinkat(here_.get(), name.c_str(), target.data(), target.size());
    if (length < 0 && errno == EINVAL) throw changed();  // no longer a symlink
    if (length < 0) throw skip_for_errno(errno);
    if (length == PATH_MAX) throw Skip{&CaptureTotals::too_long, "target too long"};
    entry.target.assign(target.data(), static_cast<std::size_t>(length));
    emit(entry);
  }

  void visit_file(const std::string& name, const struct stat& status, Entry& entry) {
    if (leaves_file_system(status)) {
      throw Skip{&CaptureTotals::other_file_systems, "file of another file system"};
    }
    const auto linked = links_.find(Identity(status));
    if (linked != links_.end()) {
      entry.kind = EntryKind::hard_link;
      entry.target = linked->second.path;
      if (--linked->second.missing == 0) links_.erase(linked);
      emit(entry);
      return;
    }
    const Descriptor fd = open_here(name, 0);
    const struct stat before = status_of(fd.get());
    if (Identity(before) != Identity(status) || !S_ISREG(before.st_mode)) throw changed();
    entry.size = static_cast<std::uint64_t>(before.st_size);
    entry.mode = before.st_mode & 07777;
    entry.mtime_ns = mtime_ns(before);
    bool duplicate = false;
    if (entry.size != 0 && !read_content(fd.get(), entry, duplicate)) return;
    const struct stat after = status_of(fd.get());
    if (after.st_size != before.st_size || !same_time(after.st_mtim, before.st_mtim) ||
        !same_time(after.st_ctim, before.st_ctim)) {
      throw changed();
    }
    if (duplicate) {
      ++totals_.duplicate_files;
      totals_.duplicate_bytes += entry.size;
    }
    if (before.st_nlink > 1) links_[Identity(before)] = {path_, before.st_nlink - 1};
    emit(entry);
  }

  // Sets holes and content. Returns false if the capture must stop.
  bool read_content(int fd, Entry& entry, bool& duplicate) {
    try {
      std::optional<SurveyedContent> found = contents_.survey(fd, entry.size);
      if (!found) return false;
      entry.content = found->content;
      entry.holes = std::move(found->holes);
      duplicate = found->duplicate;
      return true;
    } catch (const SurveyFailure& failure) {
      throw skip_for_errno(failure.error);
    }
  }

  bool leaves_file_system(const struct stat& status) const {
    return status.st_dev != device_ && !options_.cross_file_systems;
  }

  void emit(const Entry& entry) {
    sink_(entry);
    const bool is_moved = entry.mtime_ns == kFirstTime || entry.mtime_ns == kLastTime;
    if (is_moved) ++totals_.times_moved;
    switch (entry.kind) {
      case EntryKind::directory:
        ++totals_.set.directories;
        break;
      case EntryKind::file:
        ++totals_.set.files;
        totals_.set.bytes += entry.size;
        totals_.set.largest = std::max(totals_.set.largest, entry.size);
        break;
      case EntryKind::symlink:
        ++totals_.set.symlinks;
        break;
      case EntryKind::hard_link:
        ++totals_.set.hard_links;
        break;
    }
    ++done_.entries;
    show_progress();
  }

  void note(const Skip& skip) {
    ++(totals_.*skip.count);
    if (totals_.examples.size() < CaptureTotals::kMaxExamples) {
      totals_.examples.push_back({path_, skip.reason});
    }
  }

  // Called after every read; returns false if the capture must stop.
  bool on_read(std::size_t bytes) {
    done_.bytes += bytes;
    show_progress();
    totals_.interrupted = options_.stop.stop_requested();
    return !totals_.interrupted;
  }

  void show_progress() {
    if (!progress_) return;
    done_.path = path_;
    progress_(done_);
  }

  struct Links {
    std::string path;     // of the file entry
    nlink_t missing = 0;  // names not yet seen
  };

  const CaptureOptions& options_;
  const std::function<void(const Entry&)>& sink_;
  const std::function<void(const CaptureProgress&)>& progress_;
  Descriptor root_;
  Descriptor here_;  // directory of levels_.back(), or one below it that was the last to be read
  dev_t device_ = 0;
  std::vector<Level> levels_;
  std::string path_;  // relative to the root: the entry being visited
  std::unordered_map<Identity, Links, IdentityHash> links_;
  ContentSurvey contents_{[this](std::size_t bytes) { return on_read(bytes); }};
  CaptureTotals totals_;
  CaptureProgress done_;
};

}  // namespace

CaptureTotals capture_tree(const std::string& dir, const CaptureOptions& options,
                           const std::function<void(const Entry&)>& sink,
                           const std::function<void(const CaptureProgress&)>& progress) {
  return TreeCapture(options, sink, progress).run(dir);
}

}  // namespace filereel

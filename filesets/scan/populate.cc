#include "filesets/scan/populate.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "filesets/content/content.h"
#include "filesets/ownership/work_directory.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/paths.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;  // fits in the CPU cache
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kSetIds = S_ISUID | S_ISGID;

std::string_view next_step(int error) {
  switch (error) {
    case ENOSPC:
      return "free some space or choose another directory";
    case EDQUOT:
      return "raise the quota or choose another directory";
    case EFBIG:
      return "choose a file system that supports files of this size";
    case EPERM:
    case ENOSYS:
      return "check that the file system and the policies of the system permit it";
    case EACCES:
    case EOPNOTSUPP:
      return "choose a writable directory on a file system that supports this kind of entry";
    case EROFS:
      return "choose a directory on a writable file system";
    case EINVAL:
    case EILSEQ:
    case ENAMETOOLONG:
      return "choose a file system that supports this name";
    case EEXIST:
      return "choose a case-sensitive file system and a directory that no other process writes to";
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
      return "choose a directory whose parent exists and that no other process changes";
    default:
      return "check the file system and the kernel log";
  }
}

std::uint64_t bytes_in_holes(std::span<const Hole> holes) {
  std::uint64_t bytes = 0;
  for (const Hole& hole : holes) bytes += hole.length;
  return bytes;
}

// The parent directory of `path`, "" for the root, and its last component.
struct SplitPath {
  std::string_view parent;
  std::string_view name;
};

SplitPath split(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

class TreePopulator {
 public:
  TreePopulator(const FileSet& set, const std::string& dir, const PopulateOptions& options,
                const std::function<void(const PopulateProgress&)>& progress)
      : set_(set), dir_(dir), options_(options), progress_(progress) {}

  PopulateTotals run_below(int root) {
    check_file_set(set_);
    root_ = open_directory_beneath(root, "", O_RDONLY, MountPoints::refuse);
    if (!root_) fail("", errno);
    return populate();
  }

 private:
  PopulateTotals populate() {
    check_space();
    for (const Entry& entry : set_.entries) {
      if (stopped()) return totals_;
      show_progress(entry);
      make(entry);
      if (totals_.interrupted) return totals_;
      ++done_.entries;
    }
    // Deepest first: in creation order every directory precedes its entries.
    for (std::size_t i = set_.entries.size(); i-- > 0;) {
      if (set_.entries.kind(i) == EntryKind::directory) finish_directory(set_.entries[i]);
    }
    return totals_;
  }

  [[noreturn]] void fail(std::string_view path, int error) const {
    const std::string limit = limit_text(error);
    const bool full = may_hide_full_volume(error) && root_ && is_full_share(root_.get());
    throw Error(
        ErrorKind::failed,
        fmt::format("populate {:?}: {} ({} of {} created); {}",
                    path.empty() ? dir_ : fmt::format("{}/{}", dir_, path),
                    full ? std::strerror(error) + std::string(kNoSpaceLeft) : std::strerror(error),
                    done_.entries, counted(set_.entries.size(), "entry", "entries"),
                    limit.empty() ? std::string(next_step(full ? ENOSPC : error)) : limit));
  }

  // FUSE programs without links leave the calls out.
  [[noreturn]] void fail_link(std::string_view path, int error) const {
    fail(path, error == ENOSYS ? EOPNOTSUPP : error);
  }

  void check_space() {
    for (std::size_t i = 0; i < set_.entries.size(); ++i) {
      totals_.bytes_to_write += set_.entries.file_size(i) - bytes_in_holes(set_.entries.holes(i));
    }
    struct statvfs space{};
    if (fstatvfs(root_.get(), &space) != 0) fail("", errno);
    // Some FUSE and network file systems do not report their size.
    if (space.f_blocks == 0) return;
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (free < totals_.bytes_to_write) {
      throw Error(ErrorKind::failed,
                  fmt::format("populate {:?}: the file set needs {}, but only {} is free; {}", dir_,
                              format_size(totals_.bytes_to_write), format_size(free),
                              with_quota_advice_of(root_.get(),
                                                   "free some space or choose another directory")));
    }
  }

  Descriptor open_beneath(std::string_view path, int flags) const {
    Descriptor fd =
        open_directory_beneath(root_.get(), std::string(path), flags, MountPoints::refuse);
    if (!fd) fail(path, errno);
    return fd;
  }

  // Adjacent entries mostly share their directory, so the last one stays open.
  int open_parent(std::string_view parent) {
    if (!parent_ || parent != parent_path_) {
      parent_ = open_beneath(parent, O_PATH);
      parent_path_ = parent;
    }
    return parent_.get();
  }

  void make(const Entry& entry) {
    const auto [parent_path, last] = split(entry.path);
    const int parent = open_parent(parent_path);
    const std::string name(last);
    switch (entry.kind) {
      case EntryKind::directory:
        // Private until finish_directory sets the final mode, which may be read-only.
        if (mkdirat(parent, name.c_str(), 0700) != 0) fail(entry.path, errno);
        ++totals_.set.directories;
        break;
      case EntryKind::file:
        make_file(parent, name, entry);
        break;
      case EntryKind::symlink:
        if (symlinkat(entry.target.c_str(), parent, name.c_str()) != 0)
          fail_link(entry.path, errno);
        set_link_time(parent, name, entry);
        ++totals_.set.symlinks;
        break;
      case EntryKind::hard_link: {
        const auto [target_parent, target] = split(entry.target);
        const Descriptor from = open_beneath(target_parent, O_PATH);
        if (linkat(from.get(), std::string(target).c_str(), parent, name.c_str(), 0) != 0) {
          fail_link(entry.path, errno);
        }
        ++totals_.set.hard_links;
        break;
      }
    }
  }

  void make_file(int parent, const std::string& name, const Entry& entry) {
    const Descriptor fd(
        openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) fail(entry.path, errno);
    if (!entry.holes.empty() && ftruncate(fd.get(), static_cast<off_t>(entry.size)) != 0) {
      fail(entry.path, errno);
    }
    std::uint64_t at = 0;
    for (const Hole& hole : entry.holes) {
      if (!write_data(fd.get(), entry, at, hole.offset)) return;
      at = hole.offset + hole.length;
    }
    if (!write_data(fd.get(), entry, at, entry.size)) return;
    set_mode_and_time(fd.get(), entry);
    ++totals_.set.files;
    totals_.set.bytes += entry.size;
    totals_.set.largest = std::max(totals_.set.largest, entry.size);
  }

  // Writes bytes [begin, end) of the file; returns false if the population must stop.
  bool write_data(int fd, const Entry& entry, std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      if (stopped()) return false;
      const auto part =
          std::span(buffer_).first(std::min<std::uint64_t>(buffer_.size(), end - begin));
      fill_file(set_.seed, entry.data(), begin, part);
      for (std::span<const std::byte> rest = part; !rest.empty();) {
        const ssize_t put = pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(begin));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) fail(entry.path, put < 0 ? errno : ENOSPC);
        begin += static_cast<std::uint64_t>(put);
        rest = rest.subspan(static_cast<std::size_t>(put));
      }
      totals_.bytes_written += part.size();
      show_progress(entry);
    }
    return true;
  }

  void finish_directory(const Entry& entry) {
    set_mode_and_time(open_beneath(entry.path, O_RDONLY).get(), entry);
  }

  // Some file systems (FAT) have no modes or support few times. This is counted and not an error.
  void set_mode_and_time(int fd, const Entry& entry) {
    std::uint32_t mode = entry.mode;
    if (!options_.keep_set_id && (mode & kSetIds) != 0) {
      mode &= ~kSetIds;
      ++totals_.set_ids_dropped;
    }
    if (fchmod(fd, mode) != 0) {
      if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) fail(entry.path, errno);
      ++totals_.modes_lost;
    }
    if (entry.mtime_ns == Entry::kNoTime) return;
    const std::array times = times_of(entry);
    struct stat info{};
    if (futimens(fd, times.data()) != 0) {
      count_lost_time(entry, errno);
    } else if (fstat(fd, &info) != 0 || !has_time(info, entry)) {
      ++totals_.times_lost;
    }
  }

  void set_link_time(int parent, const std::string& name, const Entry& entry) {
    if (entry.mtime_ns == Entry::kNoTime) return;
    const std::array times = times_of(entry);
    struct stat info{};
    if (utimensat(parent, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
      count_lost_time(entry, errno);
    } else if (fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
               !has_time(info, entry)) {
      ++totals_.times_lost;
    }
  }

  // File systems store the nearest time within their range, or another one, and report success.
  bool has_time(const struct stat& info, const Entry& entry) const {
    const timespec wanted = times_of(entry)[1];
    const std::int64_t seconds = wanted.tv_sec - info.st_mtim.tv_sec;
    if (seconds < 0 || seconds > options_.time_unit_ns / kSecond) return false;
    const std::int64_t off = seconds * kSecond + wanted.tv_nsec - info.st_mtim.tv_nsec;
    return off >= 0 && off < options_.time_unit_ns;
  }

  void count_lost_time(const Entry& entry, int error) {
    if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS && error != EINVAL) {
      fail(entry.path, error);
    }
    ++totals_.times_lost;
  }

  // The access time is not set.
  static std::array<timespec, 2> times_of(const Entry& entry) {
    std::int64_t seconds = entry.mtime_ns / kSecond;
    std::int64_t rest = entry.mtime_ns % kSecond;
    if (rest < 0) {  // before 1970: fractions of a second still count forward
      rest += kSecond;
      --seconds;
    }
    return {timespec{0, UTIME_OMIT}, timespec{seconds, rest}};
  }

  bool stopped() {
    if (options_.stop.stop_requested()) totals_.interrupted = true;
    return totals_.interrupted;
  }

  void show_progress(const Entry& entry) {
    if (!progress_) return;
    done_.bytes = totals_.bytes_written;
    done_.path = entry.path;
    progress_(done_);
  }

  const FileSet& set_;
  const std::string& dir_;
  const PopulateOptions& options_;
  const std::function<void(const PopulateProgress&)>& progress_;
  Descriptor root_;
  Descriptor parent_;
  std::string parent_path_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kBufferBytes);
  PopulateTotals totals_;
  PopulateProgress done_;
};

}  // namespace

PopulateTotals populate_tree(const FileSet& set, const std::string& dir,
                             const PopulateOptions& options,
                             const std::function<void(const PopulateProgress&)>& progress) {
  check_file_set(set);  // before creating anything
  WorkDirectory work(dir, WorkDirectory::Use::tree);
  work.take();
  const PopulateTotals totals = populate_below(work.root(), set, dir, options, progress);
  if (!totals.interrupted) work.keep();
  return totals;
}

PopulateTotals populate_below(int root, const FileSet& set, const std::string& name,
                              const PopulateOptions& options,
                              const std::function<void(const PopulateProgress&)>& progress) {
  return TreePopulator(set, name, options, progress).run_below(root);
}

}  // namespace filereel

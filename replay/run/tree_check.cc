#include "replay/run/tree_check.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/directory_names.h"
#include "filesets/system/printable.h"
#include "replay/engine/descriptor_limit.h"
#include "replay/run/fitting.h"

namespace filereel {
namespace {

struct Expected {
  EntryKind kind;
  std::uint64_t size;
  bool seen = false;
};

std::string_view kind_name(EntryKind kind) {
  switch (kind) {
    case EntryKind::directory:
      return "directory";
    case EntryKind::file:
    case EntryKind::hard_link:
      return "file";
    case EntryKind::symlink:
      return "symbolic link";
  }
  return "";
}

class Comparer {
 public:
  Comparer(const FileSet& expected, const FileSystemLimits& limits, const std::stop_token& stop)
      : limits_(limits), stop_(stop) {
    for (const Entry& entry : expected.entries) {
      Expected one{entry.kind, entry.size};
      if (entry.kind == EntryKind::hard_link) {
        const auto target = expected_.find(entry.target);
        one.size = target == expected_.end() ? 0 : target->second.size;
      }
      expected_.emplace(entry.path, one);
    }
  }

  TreeComparison compare(int root) {
    raise_descriptor_limit();
    result_.entries = expected_.size();
    walk(root, "");
    if (stop_.stop_requested()) return result_;
    for (const auto& [path, one] : expected_) {
      if (one.seen) continue;
      const bool link = one.kind == EntryKind::symlink || one.kind == EntryKind::hard_link;
      if (link && !limits_.links) {
        ++result_.left_out;
      } else {
        differs(path, fmt::format("is missing ({})", kind_name(one.kind)));
      }
    }
    std::ranges::sort(found_, {}, &TreeDifference::path);
    found_.resize(std::min(found_.size(), TreeComparison::kExamples));
    result_.examples = std::move(found_);
    return result_;
  }

 private:
  void differs(const std::string& path, std::string text) {
    constexpr std::size_t kSorted = 10'000;  // enough to find the first in order
    ++result_.differences;
    if (found_.size() < kSorted) found_.push_back({printable(path), std::move(text)});
  }

  void walk(int parent, const std::string& path) {
    const auto names = names_in(parent);
    if (!names) return unreadable(path, errno);
    for (const std::string& name : *names) {
      if (stop_.stop_requested()) return;
      if (path.empty() && is_volumes_own(name)) continue;
      look(parent, name.c_str(), path.empty() ? name : fmt::format("{}/{}", path, name));
    }
  }

  bool is_volumes_own(const std::string& name) const {
    const bool is_label = limits_.lists_label && name == kVolumeLabel && !expected_.contains(name);
    return is_label || NameFitter::is_reserved(name);
  }

  void look(int parent, const char* name, const std::string& path) {
    struct stat info{};
    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return unreadable(path, errno);
    const std::string_view kind = S_ISDIR(info.st_mode)   ? "directory"
                                  : S_ISREG(info.st_mode) ? "file"
                                  : S_ISLNK(info.st_mode) ? "symbolic link"
                                                          : "special file";
    const auto found = expected_.find(path);
    if (found == expected_.end()) {
      differs(path, fmt::format("is unexpected ({})", kind));
    } else {
      Expected& one = found->second;
      one.seen = true;
      const auto size = static_cast<std::uint64_t>(info.st_size);
      if (kind != kind_name(one.kind)) {
        differs(path, fmt::format("is a {} instead of a {}", kind, kind_name(one.kind)));
      } else if (S_ISREG(info.st_mode) && size != one.size) {
        differs(path, fmt::format("has {} bytes instead of {}", size, one.size));
      }
    }
    if (!S_ISDIR(info.st_mode)) return;
    const Descriptor directory(
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return unreadable(path, errno);
    walk(directory.get(), path);
  }

  // Unknown content is a difference, but no reason to lose the measurement.
  void unreadable(const std::string& path, int error) {
    differs(path.empty() ? "." : path, fmt::format("cannot be read: {}", strerror(error)));
  }

  const FileSystemLimits& limits_;
  const std::stop_token& stop_;
  std::unordered_map<std::string, Expected> expected_;
  std::vector<TreeDifference> found_;
  TreeComparison result_;
};

}  // namespace

TreeComparison compare_tree(int root, const FileSet& expected, const FileSystemLimits& limits,
                            const std::stop_token& stop) {
  return Comparer(expected, limits, stop).compare(root);
}

}  // namespace filereel

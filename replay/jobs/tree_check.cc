#include "replay/jobs/tree_check.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>

#include "filesets/ownership/tree_walk.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/paths.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "replay/engine/replayer.h"
#include "replay/volumes/volume.h"

namespace filereel {
namespace {

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

// An expected tree, and which of its entries were found.
class CheckedTree {
 public:
  static constexpr std::uint32_t kNone = NumberIndex::kNone;
  static constexpr std::uint32_t kTop = kNone - 1;  // its directory, as a number of an entry

  explicit CheckedTree(const ExpectedTree& tree)
      : tree_(tree), finder_(tree.entries), seen_(tree.entries.size()) {}

  std::uint64_t size() const { return tree_.entries.size() + (tree_.directory.empty() ? 0 : 1); }

  // The number of an entry in the root of the volume, or in a directory of the tree; kNone if there
  // is none.
  std::uint32_t find_in_root(std::string_view name) const {
    if (tree_.directory.empty()) return finder_.find(EntryList::kNoDirectory, name);
    return name == tree_.directory ? kTop : kNone;
  }
  std::uint32_t find(std::uint32_t directory, std::string_view name) const {
    return finder_.find(directory == kTop ? EntryList::kNoDirectory : directory, name);
  }

  EntryKind kind(std::uint32_t number) const {
    return number == kTop ? EntryKind::directory : tree_.entries.kind(number);
  }
  std::uint64_t file_size(std::uint32_t number) const {
    if (kind(number) != EntryKind::hard_link) return tree_.entries.file_size(number);
    const std::uint32_t target = finder_.find(tree_.entries.target(number));
    return target == kNone ? 0 : tree_.entries.file_size(target);
  }

  void saw(std::uint32_t number) {
    if (number == kTop) {
      saw_top_ = true;
    } else {
      seen_[number] = true;
    }
  }

  // Calls `call(path, kind)` for each entry that was not seen.
  void for_each_missing(const std::function<void(const std::string&, EntryKind)>& call) const {
    const std::string& top = tree_.directory;
    if (!top.empty() && !saw_top_) call(top, EntryKind::directory);
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i]) continue;
      const std::string path = tree_.entries.path(i);
      call(top.empty() ? path : top + "/" + path, tree_.entries.kind(i));
    }
  }

 private:
  const ExpectedTree& tree_;
  EntryFinder finder_;
  std::vector<bool> seen_;
  bool saw_top_ = false;
};

// An expected entry.
struct Place {
  CheckedTree* tree = nullptr;  // null: not expected
  std::uint32_t number = CheckedTree::kNone;
};

class Comparer {
 public:
  Comparer(std::span<const ExpectedTree> expected, const FileSystemLimits& limits,
           const std::stop_token& stop)
      : limits_(limits), stop_(stop) {
    trees_.reserve(expected.size());  // a finder does not move
    for (const ExpectedTree& tree : expected) result_.entries += trees_.emplace_back(tree).size();
  }

  TreeComparison compare(int root) {
    raise_descriptor_limit();
    const auto names = names_in(root);
    if (!names) unreadable("", errno);
    for (std::size_t i = 0; names && i < names->size() && !stop_.stop_requested(); ++i) {
      const std::string& name = (*names)[i];
      const Place place = find_in_root(name);
      if (!is_volumes_own(name, place)) look(root, name.c_str(), name, place);
    }
    if (stop_.stop_requested()) return result_;
    for (const CheckedTree& tree : trees_) {
      tree.for_each_missing(
          [&](const std::string& path, EntryKind kind) { is_missing(path, kind); });
    }
    std::ranges::sort(found_, {}, &TreeDifference::path);
    found_.resize(std::min(found_.size(), TreeComparison::kExamples));
    result_.examples = std::move(found_);
    return result_;
  }

 private:
  Place find_in_root(std::string_view name) {
    for (CheckedTree& tree : trees_) {
      const std::uint32_t number = tree.find_in_root(name);
      if (number != CheckedTree::kNone) return {&tree, number};
    }
    return {};
  }

  void is_missing(const std::string& path, EntryKind kind) {
    const bool link = kind == EntryKind::symlink || kind == EntryKind::hard_link;
    if (link && !limits_.links) {
      ++result_.left_out;
    } else {
      differs(path, fmt::format("is missing ({})", kind_name(kind)));
    }
  }

  void differs(const std::string& path, std::string text) {
    constexpr std::size_t kSorted = 10'000;  // enough to find the first in order
    ++result_.differences;
    if (found_.size() < kSorted) found_.push_back({printable(path), std::move(text)});
  }

  void walk(int directory, const std::string& path, const Place& place) {
    const auto names = names_in(directory);
    if (!names) return unreadable(path, errno);
    for (const std::string& name : *names) {
      if (stop_.stop_requested()) return;
      Place below;
      if (place.tree) below = {place.tree, place.tree->find(place.number, name)};
      if (below.number == CheckedTree::kNone) below.tree = nullptr;
      look(directory, name.c_str(), fmt::format("{}/{}", path, name), below);
    }
  }

  bool is_volumes_own(const std::string& name, const Place& place) const {
    if (place.tree) return false;  // expected
    return name == kLostAndFound || name == kFillDirectory ||
           (limits_.lists_label && name == kVolumeLabel);
  }

  void look(int parent, const char* name, const std::string& path, const Place& place) {
    struct stat info{};
    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return unreadable(path, errno);
    compare_entry(path, info, place);
    if (!S_ISDIR(info.st_mode)) return;
    const Descriptor directory(
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return unreadable(path, errno);
    walk(directory.get(), path, place);
  }

  void compare_entry(const std::string& path, const struct stat& info, const Place& place) {
    const std::string_view kind = S_ISDIR(info.st_mode)   ? "directory"
                                  : S_ISREG(info.st_mode) ? "file"
                                  : S_ISLNK(info.st_mode) ? "symbolic link"
                                                          : "special file";
    if (!place.tree) return differs(path, fmt::format("is unexpected ({})", kind));
    place.tree->saw(place.number);
    const std::string_view expected = kind_name(place.tree->kind(place.number));
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (kind != expected) {
      differs(path, fmt::format("is a {} instead of a {}", kind, expected));
    } else if (S_ISREG(info.st_mode) && size != place.tree->file_size(place.number)) {
      differs(path, fmt::format("has {} instead of {}", counted(size, "byte"),
                                place.tree->file_size(place.number)));
    }
  }

  // Unknown content is a difference, but no reason to lose the measurement.
  void unreadable(const std::string& path, int error) {
    differs(path.empty() ? "." : path, fmt::format("cannot be read: {}", strerror(error)));
  }

  const FileSystemLimits& limits_;
  const std::stop_token& stop_;
  std::vector<CheckedTree> trees_;
  std::vector<TreeDifference> found_;
  TreeComparison result_;
};

}  // namespace

TreeComparison compare_tree(int root, std::span<const ExpectedTree> expected,
                            const FileSystemLimits& limits, const std::stop_token& stop) {
  return Comparer(expected, limits, stop).compare(root);
}

}  // namespace filereel

#include "traces/check/other_changes.h"

#include <algorithm>

#include <fcntl.h>

namespace filereel {
namespace {

std::size_t last_component(const std::string& path) {
  return path.rfind('/') + 1;
}

// Whether the path leads through the directory to a name in it: paths that other processes give
// may contain symbolic links.
bool is_in(const std::string& path, const struct stat& directory) {
  struct stat parent{};
  return stat(path.substr(0, last_component(path)).c_str(), &parent) == 0 &&
         parent.st_dev == directory.st_dev && parent.st_ino == directory.st_ino;
}

}  // namespace

void OtherChanges::add(OtherChange change) {
  if (change.inode != 0) {
    const File file{change.device, change.inode};
    if (const auto known = files_.find(file); known != files_.end()) {
      known->second = change;
    } else if (count_ < kMost) {
      files_.emplace(file, change);
      ++count_;
    }
  }
  const std::string name = change.path.substr(last_component(change.path));
  if (count_ == kMost && !names_.contains(name)) return;
  std::vector<OtherChange>& same = names_[name];
  const auto known = std::ranges::find(same, change.path, &OtherChange::path);
  if (known != same.end()) {
    *known = std::move(change);
  } else if (count_ < kMost) {
    same.push_back(std::move(change));
    ++count_;
  }
}

void OtherChanges::begin_at(std::uint64_t zero_ns) {
  // An open file is reported once, and can be changed again later.
  const auto is_over = [&](const OtherChange& change) {
    return change.at_ns < zero_ns && change.inode == 0;
  };
  const auto move = [&](OtherChange& change) { change.at_ns -= std::min(change.at_ns, zero_ns); };
  for (auto& [file, change] : files_) move(change);
  for (auto& [name, changes] : names_) {
    std::erase_if(changes, is_over);
    std::ranges::for_each(changes, move);
  }
}

const OtherChange* OtherChanges::find(int directory, const std::string& name,
                                      const struct stat* real) const {
  const OtherChange* found = nullptr;
  const auto take = [&](const OtherChange& change) {
    if (!found || found->at_ns < change.at_ns) found = &change;
  };
  if (real) {
    const auto file = files_.find({real->st_dev, real->st_ino});
    if (file != files_.end()) take(file->second);
  }
  const auto same = names_.find(name);
  struct stat here{};
  if (same == names_.end() || fstatat(directory, "", &here, AT_EMPTY_PATH) != 0) return found;
  for (const OtherChange& change : same->second) {
    if (is_in(change.path, here)) take(change);
  }
  return found;
}

}  // namespace filereel

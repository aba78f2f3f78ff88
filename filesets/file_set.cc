#include "filesets/file_set.h"

#include <climits>
#include <unordered_map>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::uint32_t kMaxMode = 07777;
constexpr std::uint16_t kMaxPermille = 1000;
// Linux file offsets are signed 64-bit integers, so no tree can hold more.
constexpr std::uint64_t kMaxBytes = INT64_MAX;

void check_components(std::string_view path, std::string_view where) {
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (component.empty()) {
      throw_unusable(where, fmt::format("the path '{}' has an empty component; use single slashes "
                                        "between names and none at the end",
                                        printable(path)));
    }
    if (component == "." || component == "..") {
      throw_unusable(
          where, fmt::format("the path '{}' contains '{}'; remove it", printable(path), component));
    }
    if (component.size() > kMaxComponent) {
      throw_unusable(where, fmt::format("the path '{}' has a name of {} bytes; the limit is {}",
                                        printable(path), component.size(), kMaxComponent));
    }
    begin = end + 1;
  }
}

// Checks each entry against the entries before it.
class EntryChecker {
 public:
  explicit EntryChecker(const FileSet& set) : set_(set) { kinds_.reserve(set.entries.size()); }

  void check(std::size_t index) {
    const Entry& entry = set_.entries[index];
    index_ = index;
    // The location is formatted only for an error, because a set may have millions of entries.
    try {
      check_path(entry.path, "");
    } catch (const Error& e) {
      fail_here(entry, std::string(e.what()).substr(2));
    }
    check_parent(entry);
    if (!kinds_.emplace(entry.path, entry.kind).second) {
      fail_here(entry, "duplicate path; remove one of the two entries");
    }
    if (entry.mode > kMaxMode) fail_here(entry, "invalid mode: bits outside 07777");
    if (entry.content.compressed_permille > kMaxPermille ||
        entry.content.duplicate_permille > kMaxPermille) {
      fail_here(entry, "content share out of range: more than 1000 thousandths");
    }
    if (entry.kind == EntryKind::file) {
      check_file(entry);
    } else {
      check_other(entry);
    }
  }

 private:
  [[noreturn]] void fail_here(const Entry& entry, std::string_view text) const {
    throw_unusable(fmt::format("file set '{}': entry {} '{}'", printable(set_.name), index_ + 1,
                               printable(entry.path)),
                   text);
  }

  void check_parent(const Entry& entry) {
    const std::size_t slash = entry.path.rfind('/');
    if (slash == std::string::npos) return;
    const std::string_view parent = std::string_view(entry.path).substr(0, slash);
    // Adjacent entries mostly share their directory.
    if (parent == last_parent_) return;
    const auto found = kinds_.find(parent);
    if (found == kinds_.end() || found->second != EntryKind::directory) {
      fail_here(entry, "its parent directory is not listed before it; add that directory first");
    }
    last_parent_ = found->first;
  }

  void check_file(const Entry& entry) {
    if (!entry.target.empty()) fail_here(entry, "a regular file cannot have a target");
    if (entry.size > kMaxBytes - bytes_) {
      fail_here(entry, "the set exceeds 2^63 - 1 bytes here; reduce the file sizes");
    }
    bytes_ += entry.size;
    std::uint64_t end = 0;
    for (const Hole& hole : entry.holes) {
      if (hole.length == 0) fail_here(entry, "a hole is empty");
      if (hole.offset < end) fail_here(entry, "its holes overlap or are out of order");
      if (hole.offset > entry.size || hole.length > entry.size - hole.offset) {
        fail_here(entry,
                  fmt::format(
                      "a hole of {} bytes at offset {} extends past the end of the file ({} bytes)",
                      hole.length, hole.offset, entry.size));
      }
      end = hole.offset + hole.length;
    }
  }

  void check_other(const Entry& entry) const {
    if (entry.size != 0 || !entry.holes.empty()) {
      fail_here(entry, "only regular files can have a size and holes");
    }
    if (entry.kind == EntryKind::directory) {
      if (!entry.target.empty()) fail_here(entry, "a directory cannot have a target");
      return;
    }
    if (entry.kind == EntryKind::symlink) {
      if (entry.target.empty() || entry.target.size() >= PATH_MAX ||
          entry.target.find('\0') != std::string::npos) {
        fail_here(entry, "a symlink target must have 1 to 4095 bytes and no NUL");
      }
      return;
    }
    if (entry.kind != EntryKind::hard_link) fail_here(entry, "unknown kind of entry");
    const auto found = kinds_.find(entry.target);
    if (found == kinds_.end() || found->second != EntryKind::file) {
      fail_here(entry, fmt::format("its target '{}' is not a regular file listed before it",
                                   printable(entry.target)));
    }
  }

  const FileSet& set_;
  std::unordered_map<std::string_view, EntryKind> kinds_;  // views of the paths in set_
  std::string_view last_parent_;
  std::uint64_t bytes_ = 0;
  std::size_t index_ = 0;
};

}  // namespace

FileSetTotals FileSet::totals() const {
  FileSetTotals totals;
  for (const Entry& entry : entries) {
    switch (entry.kind) {
      case EntryKind::directory:
        ++totals.directories;
        break;
      case EntryKind::file:
        ++totals.files;
        totals.bytes += entry.size;
        totals.largest = std::max(totals.largest, entry.size);
        break;
      case EntryKind::symlink:
        ++totals.symlinks;
        break;
      case EntryKind::hard_link:
        ++totals.hard_links;
        break;
    }
  }
  return totals;
}

void check_path(std::string_view path, std::string_view where) {
  if (path.empty()) throw_unusable(where, "the path is empty");
  if (path.size() > PATH_MAX) {
    throw_unusable(where, fmt::format("the path '{}' has {} bytes; the limit is {}",
                                      printable(path), path.size(), PATH_MAX));
  }
  if (path.front() == '/') {
    throw_unusable(where,
                   fmt::format("the path '{}' is absolute; make it relative to the root of the set",
                               printable(path)));
  }
  if (path.find('\0') != std::string_view::npos) {
    throw_unusable(where, fmt::format("the path '{}' contains a NUL byte", printable(path)));
  }
  check_components(path, where);
}

void check_file_set(const FileSet& set) {
  EntryChecker checker(set);
  for (std::size_t i = 0; i < set.entries.size(); ++i) checker.check(i);
}

}  // namespace filereel

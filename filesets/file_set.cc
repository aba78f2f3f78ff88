#include "filesets/file_set.h"

#include <climits>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::uint32_t kMaxMode = 07777;
constexpr std::uint16_t kMaxPermille = 1000;
// Linux file offsets are signed 64-bit integers, so no tree can hold more.
constexpr std::uint64_t kMaxBytes = INT64_MAX;

std::string component_fault(std::string_view path) {
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (component.empty()) {
      return fmt::format(
          "the path '{}' has an empty component; use single slashes between names and none at the "
          "end",
          printable(path));
    }
    if (component == "." || component == "..") {
      return fmt::format("the path '{}' contains '{}'; remove it", printable(path), component);
    }
    if (component.size() > kMaxComponent) {
      return fmt::format("the path '{}' has a name of {}; the limit is {}", printable(path),
                         counted(component.size(), "byte"), kMaxComponent);
    }
    begin = end + 1;
  }
  return "";
}

// Whether check_path accepts a path, given that it accepts the path of the directory.
bool is_valid_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= kMaxComponent &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

// Checks each entry against the entries before it.
class EntryChecker {
 public:
  explicit EntryChecker(const FileSet& set)
      : set_(set), entries_(set.entries), earlier_(set.entries, false) {}

  void check(std::uint32_t number) {
    number_ = number;
    check_name();
    if (!earlier_.add(number)) fail_here("duplicate path; remove one of the two entries");
    const Content content = entries_.content(number);
    if (entries_.mode(number) > kMaxMode) fail_here("invalid mode: bits outside 07777");
    if (content.compressed_permille > kMaxPermille || content.duplicate_permille > kMaxPermille) {
      fail_here("content share out of range: more than 1000 thousandths");
    }
    if (entries_.kind(number) == EntryKind::file) {
      check_file();
    } else {
      check_other();
    }
  }

 private:
  // The location is formatted only for an error, because a set may have millions of entries.
  [[noreturn]] void fail_here(std::string_view text) const {
    throw_unusable(fmt::format("file set '{}': entry {} '{}'", printable(set_.name), number_ + 1,
                               printable(entries_.path(number_))),
                   text);
  }

  void check_name() {
    const std::uint32_t directory = entries_.directory(number_);
    if (directory != last_directory_) {
      last_directory_ = directory;
      last_length_ = directory == EntryList::kNoDirectory ? 0 : entries_.path(directory).size() + 1;
    }
    const std::string_view name = entries_.name(number_);
    if (is_valid_name(name) && last_length_ + name.size() <= PATH_MAX) return;
    if (const std::string fault = path_fault(entries_.path(number_)); !fault.empty()) {
      fail_here(fault);
    }
    fail_here("its parent directory is not listed before it; add that directory first");
  }

  void check_file() {
    if (!entries_.target(number_).empty()) fail_here("a regular file cannot have a target");
    const std::uint64_t size = entries_.file_size(number_);
    if (size > kMaxBytes - bytes_) {
      fail_here("the set exceeds 2^63 - 1 bytes here; reduce the file sizes");
    }
    bytes_ += size;
    std::uint64_t end = 0;
    for (const Hole& hole : entries_.holes(number_)) {
      if (hole.length == 0) fail_here("a hole is empty");
      if (hole.offset < end) fail_here("its holes overlap or are out of order");
      if (hole.offset > size || hole.length > size - hole.offset) {
        fail_here(fmt::format("a hole of {} at offset {} extends past the end of the file ({})",
                              counted(hole.length, "byte"), hole.offset, counted(size, "byte")));
      }
      end = hole.offset + hole.length;
    }
  }

  void check_other() const {
    const std::string_view target = entries_.target(number_);
    if (entries_.file_size(number_) != 0 || !entries_.holes(number_).empty()) {
      fail_here("only regular files can have a size and holes");
    }
    switch (entries_.kind(number_)) {
      case EntryKind::directory:
        if (!target.empty()) fail_here("a directory cannot have a target");
        return;
      case EntryKind::symlink:
        if (target.empty() || target.size() >= PATH_MAX ||
            target.find('\0') != std::string_view::npos) {
          fail_here("a symlink target must have 1 to 4095 bytes and no NUL");
        }
        return;
      case EntryKind::hard_link: {
        const std::uint32_t found = earlier_.find(target);
        if (found != NumberIndex::kNone && entries_.kind(found) == EntryKind::file) return;
        fail_here(fmt::format("its target '{}' is not a regular file listed before it",
                              printable(target)));
      }
      case EntryKind::file:
        break;
    }
    fail_here("unknown kind of entry");
  }

  const FileSet& set_;
  const EntryList& entries_;
  EntryFinder earlier_;
  std::uint32_t last_directory_ = EntryList::kNoDirectory;  // of the entry before
  std::size_t last_length_ = 0;  // bytes of its path and the slash behind it
  std::uint64_t bytes_ = 0;
  std::uint32_t number_ = 0;
};

}  // namespace

FileSetTotals FileSet::totals() const {
  FileSetTotals totals;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    switch (entries.kind(i)) {
      case EntryKind::directory:
        ++totals.directories;
        break;
      case EntryKind::file:
        ++totals.files;
        totals.bytes += entries.file_size(i);
        totals.largest = std::max(totals.largest, entries.file_size(i));
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

std::string path_fault(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > PATH_MAX) {
    return fmt::format("the path '{}' has {}; the limit is {}", printable(path),
                       counted(path.size(), "byte"), PATH_MAX);
  }
  if (path.front() == '/') {
    return fmt::format("the path '{}' is absolute; make it relative to the root of the set",
                       printable(path));
  }
  if (path.find('\0') != std::string_view::npos) {
    return fmt::format("the path '{}' contains a NUL byte", printable(path));
  }
  return component_fault(path);
}

void check_path(std::string_view path, std::string_view where) {
  if (const std::string fault = path_fault(path); !fault.empty()) throw_unusable(where, fault);
}

void check_file_set(const FileSet& set) {
  EntryChecker checker(set);
  for (std::uint32_t i = 0; i < set.entries.size(); ++i) checker.check(i);
}

}  // namespace filereel

#include "traces/check/check_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filesets/system/printable.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

bool changes_names(const Operation& operation) {
  using enum OperationKind;
  switch (operation.kind) {
    case make_directory:
    case remove_directory:
    case make_node:
    case symlink:
    case link:
    case unlink:
    case rename:
      return true;
    case open:
      return (operation.flags & O_CREAT) != 0;
    default:
      return false;
  }
}

// Says nothing about the state of a file.
bool only_releases(OperationKind kind) {
  return kind == OperationKind::close || kind == OperationKind::unmap;
}

void put(std::vector<LastOperations::Last>& list, std::size_t at,
         const LastOperations::Last& last) {
  if (at >= list.size()) list.resize(at + 1);
  list[at] = last;
}

}  // namespace

void LastOperations::add(const RecordedOperation& recorded) {
  const Operation& operation = recorded.operation;
  const Last last{.position = operation.position + 1,
                  .end_ns = recorded.start_ns + recorded.duration_ns,
                  .kind = operation.kind};
  if (operation.entry != kNoFileId && !only_releases(operation.kind)) {
    put(files_, operation.entry, last);
  }
  if (!changes_names(operation) || operation.expected < 0) return;
  put(names_, operation.path, last);
  if (operation.kind == OperationKind::rename) put(names_, operation.old_path, last);
}

LastOperations::Last LastOperations::of(FileId file, PathId name) const {
  Last last;
  if (file < files_.size()) last = files_[file];
  if (name < names_.size() && names_[name].position > last.position) last = names_[name];
  return last;
}

namespace {

std::string headline(const RecordingCheck& check) {
  return fmt::format("the recording differs from reality in {}{}", counted(check.differing, "file"),
                     check.differences.empty() ? "" : ":");
}

// Of `count` names, some are described.
std::vector<std::string> difference_lines(std::uint64_t count,
                                          const std::vector<std::string>& described) {
  std::vector<std::string> lines;
  for (const std::string& text : described) lines.push_back(printable_line(text));
  const std::uint64_t more = count - std::min<std::uint64_t>(count, lines.size());
  if (more > 0 && !lines.empty()) {
    lines.push_back(fmt::format("and {} more", more));
  }
  return lines;
}

void add_indented(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  for (const std::string& line : more) lines.push_back("  " + line);
}

}  // namespace

std::vector<std::string> describe_check(const RecordingCheck& check) {
  std::vector<std::string> lines;
  if (!check.why_not.empty()) {
    lines.push_back(fmt::format("not compared with reality: {}", printable(check.why_not)));
  }
  if (check.differing > 0) {
    lines.push_back(headline(check));
    add_indented(lines, difference_lines(check.differing, check.differences));
  }
  if (check.by_others > 0) {
    lines.push_back(
        fmt::format("changed by others during the recording, so not compared with "
                    "reality: {}{}",
                    counted(check.by_others, "file"), check.others.empty() ? "" : ":"));
    add_indented(lines, difference_lines(check.by_others, check.others));
  }
  if (check.writes > 0) {
    lines.push_back(fmt::format("content compared with reality: the first bytes of {}",
                                counted(check.writes, "write")));
  }
  if (check.changed_later > 0) {
    lines.push_back(fmt::format("changed after the recording, so not compared with reality: {}",
                                counted(check.changed_later, "file")));
  }
  if (check.unchecked > 0) {
    lines.push_back(
        fmt::format("not fully compared with reality: {} (time or permission)",
                    counted_of(check.unchecked, check.unchecked + check.names, "name")));
  }
  return lines;
}

std::string describe_differences(const RecordingCheck& check) {
  if (check.differing == 0) return {};
  return fmt::format("{} {}", headline(check),
                     fmt::join(difference_lines(check.differing, check.differences), "; "));
}

}  // namespace filereel

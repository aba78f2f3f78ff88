#include "replay/jobs/limit_checks.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/volumes/file_system.h"
#include "replay/volumes/name_rules.h"

namespace filereel {
namespace {

[[noreturn]] void refuse_size(std::string_view path, std::uint64_t size, std::uint64_t most,
                              std::string_view advice) {
  if (size > largest_file_of_process()) {
    throw Error(ErrorKind::failed, fmt::format("{} has {}, and {}", printable(path),
                                               format_size(size), file_size_limit_text()));
  }
  throw Error(
      ErrorKind::failed,
      fmt::format("{} has {}, more than the file system's limit of {} ({}): {}", printable(path),
                  format_size(size), format_size(most), counted(most, "byte"), advice));
}

void check_link_text(std::string_view path, std::string_view text, const FileSystemLimits& limits,
                     std::string_view advice) {
  if (text.size() <= limits.link_text) return;
  throw Error(
      ErrorKind::failed,
      fmt::format("the text of the symbolic link {} has {}, more than the file system's limit "
                  "of {}: {}",
                  printable(path), counted(text.size(), "byte"), limits.link_text, advice));
}

void check_names_of_files(const EntryList& entries, const FileSystemLimits& limits,
                          std::string_view advice) {
  std::uint64_t links = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) == EntryKind::hard_link) ++links;
  }
  if (links < limits.names_of_file) return;
  const EntryFinder finder(entries);
  std::unordered_map<std::uint32_t, std::uint64_t> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) == EntryKind::hard_link) ++names[finder.find(entries.target(i))];
  }
  for (const auto& [file, more] : names) {
    if (more < limits.names_of_file) continue;
    throw Error(ErrorKind::failed,
                fmt::format("{} has {} hard links, more than the file system's limit of {}: {}",
                            printable(entries.path(file)), more + 1, limits.names_of_file, advice));
  }
}

void check_directories(const EntryList& entries, const FileSystemLimits& limits,
                       std::string_view advice) {
  if (limits.slots.most == 0) return;
  std::vector<std::uint64_t> slots(entries.size() + 1);  // of the entries, then of the root
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t directory = std::min<std::size_t>(entries.directory(i), entries.size());
    slots[directory] += slots_needed(entries.name(i), limits.slots);
  }
  const auto most = std::ranges::max_element(slots);
  if (*most <= limits.slots.most) return;
  const auto number = static_cast<std::size_t>(most - slots.begin());
  throw Error(
      ErrorKind::failed,
      fmt::format("the names in the directory {} take {} directory entries, more than the file "
                  "system's limit of {}: {}",
                  number < entries.size() ? printable(entries.path(number)) : "'/'", *most,
                  limits.slots.most, advice));
}

bool sets_time(std::uint64_t time) {
  return time != kTimeNow && time != kTimeOmit;
}

class DemandReader {
 public:
  explicit DemandReader(const TextTable& texts) {
    demands_.links.assign(texts.size(), PathTable::kNone);
  }

  void read(const Operation& op) {
    if (op.expected < 0) return;
    using enum OperationKind;
    switch (op.kind) {
      case open:
        paths_[op.file] = op.path;
        break;
      case close:
        paths_.erase(op.file);
        break;
      case write:
      case copy_range:
        if (op.expected > 0) reach(op, op.offset + static_cast<std::uint64_t>(op.expected));
        break;
      case truncate:
        reach(op, op.offset);
        break;
      case allocate:
        if (op.flags == 0) reach(op, op.offset + op.length);
        break;
      case symlink:
        if (demands_.links[op.text] == PathTable::kNone) demands_.links[op.text] = op.path;
        break;
      case set_xattr:
        demands_.largest_xattr =
            std::max(demands_.largest_xattr,
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(op.length, UINT32_MAX)));
        break;
      case set_times:
        for (const std::uint64_t time : {op.offset, op.second}) {
          if (sets_time(time)) add_time(static_cast<std::int64_t>(time));
        }
        break;
      default:
        break;
    }
  }

  TraceDemands demands() && { return std::move(demands_); }

 private:
  void reach(const Operation& op, std::uint64_t end) {
    if (end <= demands_.largest_file) return;
    demands_.largest_file = end;
    const auto found = paths_.find(op.file);
    demands_.largest_path = op.file == kNoFile      ? op.path
                            : found != paths_.end() ? found->second
                                                    : PathTable::kNone;
  }

  void add_time(std::int64_t ns) {
    demands_.sets_times = true;
    demands_.earliest_ns = std::min(demands_.earliest_ns, ns);
    demands_.latest_ns = std::max(demands_.latest_ns, ns);
  }

  TraceDemands demands_;
  std::unordered_map<FileSlot, PathId> paths_;  // of the open files
};

std::string path_of(const PathTable& paths, PathId id) {
  return id == PathTable::kNone ? "a file" : std::string(paths.relative(id));
}

}  // namespace

void check_entries(const EntryList& entries, const FileSystemLimits& limits,
                   std::string_view advice) {
  const std::uint64_t largest = std::min(limits.largest_file, largest_file_of_process());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t size = entries.file_size(i);
    if (size > largest) refuse_size(entries.path(i), size, limits.largest_file, advice);
    if (entries.kind(i) == EntryKind::symlink && limits.links) {
      check_link_text(entries.path(i), entries.target(i), limits, advice);
    }
  }
  if (limits.links) check_names_of_files(entries, limits, advice);
  check_directories(entries, limits, advice);
}

void check_links(const EntryList& entries, const FileSystemLimits& limits,
                 std::string_view advice) {
  for (std::size_t i = 0; i < entries.size() && !limits.links; ++i) {
    const EntryKind kind = entries.kind(i);
    if (kind != EntryKind::symlink && kind != EntryKind::hard_link) continue;
    throw Error(
        ErrorKind::failed,
        fmt::format("{} is a {} link, and the file system has none: {}", printable(entries.path(i)),
                    kind == EntryKind::symlink ? "symbolic" : "hard", advice));
  }
}

std::uint64_t times_outside(const EntryList& entries, const FileSystemLimits& limits) {
  std::uint64_t outside = 0;
  if (!entries.has_times()) return outside;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int64_t time = entries.without_path(i).mtime_ns;
    if (time != Entry::kNoTime && !holds_time(limits, time)) ++outside;
  }
  return outside;
}

TraceDemands demands_of(RecordedSource& source, const TextTable& texts) {
  DemandReader reader(texts);
  std::vector<RecordedOperation> block(4096);
  while (const std::size_t count = source.next(block)) {
    for (std::size_t i = 0; i < count; ++i) reader.read(block[i].operation);
  }
  return std::move(reader).demands();
}

void check_demands(const TraceDemands& demands, const PathTable& paths, const TextTable& texts,
                   const FileSystemLimits& limits, std::string_view advice) {
  if (demands.largest_file > std::min(limits.largest_file, largest_file_of_process())) {
    refuse_size(path_of(paths, demands.largest_path), demands.largest_file, limits.largest_file,
                advice);
  }
  for (TextId id = 0; id < demands.links.size() && limits.links; ++id) {
    if (demands.links[id] == PathTable::kNone) continue;
    check_link_text(path_of(paths, demands.links[id]), texts.text(id), limits, advice);
  }
}

void warn_of_demands(const TraceDemands& demands, const FileSystemLimits& limits,
                     const std::string& file_system, Result& result) {
  const auto warn = [&](std::string text) {
    result.warn({"downgraded", std::move(text),
                 "compare with other file systems only if these do not matter"});
  };
  if (demands.sets_times &&
      !(holds_time(limits, demands.earliest_ns) && holds_time(limits, demands.latest_ns))) {
    warn(fmt::format("{} does not support all times that the trace sets: files get other ones",
                     file_system));
  }
  if (demands.largest_xattr > limits.xattr_value) {
    warn(fmt::format("{} does not support extended attributes of {}: the trace sets such",
                     file_system, counted(demands.largest_xattr, "byte")));
  }
}

}  // namespace filereel

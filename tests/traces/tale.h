// Traces told call by call, for tests: each method is one operation with its recorded result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/traces/recorded.h"
#include "traces/model/trace_builder.h"

namespace filereel {

struct Tale {
  TraceTables tables;
  VectorSink kept;
  TraceBuilder builder{tables, kept};
  std::uint64_t now_ns = 0;
  std::uint32_t thread = 0;

  Tale() { builder.add_thread({}); }

  TreeModel& model() { return builder.model(); }
  PathId path(std::string_view text) { return builder.path(text); }
  TextId text(std::string_view text) { return tables.texts.add(text); }

  // What was put into the trace.
  const Operation& add(Operation operation) {
    operation.thread = thread;
    builder.add({operation, now_ns, 0});
    return kept.operations.back().operation;
  }

  Operation on_path(OperationKind kind, std::string_view path_, std::int64_t result = 0) {
    Operation operation;
    operation.kind = kind;
    operation.path = path(path_);
    operation.expected = result;
    return operation;
  }
  static Operation on_file(OperationKind kind, FileSlot file, std::int64_t result = 0) {
    Operation operation;
    operation.kind = kind;
    operation.file = file;
    operation.expected = result;
    return operation;
  }

  const Operation& simple(OperationKind kind, std::string_view path_, std::int64_t result = 0) {
    return add(on_path(kind, path_, result));
  }
  const Operation& mkdir(std::string_view path_, std::int64_t result = 0) {
    Operation operation = on_path(OperationKind::make_directory, path_, result);
    operation.mode = 0755;
    return add(operation);
  }
  const Operation& rmdir(std::string_view path_, std::int64_t result = 0) {
    return simple(OperationKind::remove_directory, path_, result);
  }
  const Operation& unlink(std::string_view path_, std::int64_t result = 0) {
    return simple(OperationKind::unlink, path_, result);
  }
  const Operation& chdir(std::string_view path_, std::int64_t result = 0) {
    return simple(OperationKind::change_directory, path_, result);
  }
  const Operation& exec(std::string_view path_, std::int64_t result = 0) {
    return simple(OperationKind::execute, path_, result);
  }
  const Operation& access(std::string_view path_, std::uint32_t mode, std::int64_t result = 0) {
    Operation operation = on_path(OperationKind::access, path_, result);
    operation.mode = mode;
    return add(operation);
  }
  const Operation& open(FileSlot file, std::string_view path_, int flags, std::int64_t result = 0,
                        std::uint32_t mode = 0644) {
    Operation operation = on_path(OperationKind::open, path_, result);
    operation.file = file;
    operation.flags = static_cast<std::uint32_t>(flags);
    operation.mode = mode;
    return add(operation);
  }
  const Operation& close(FileSlot file) { return add(on_file(OperationKind::close, file)); }
  const Operation& read(FileSlot file, std::uint64_t offset, std::uint64_t length,
                        std::int64_t result) {
    Operation operation = on_file(OperationKind::read, file, result);
    operation.offset = offset;
    operation.length = length;
    return add(operation);
  }
  const Operation& read(FileSlot file, std::uint64_t offset, std::uint64_t length) {
    return read(file, offset, length, static_cast<std::int64_t>(length));
  }
  const Operation& write(FileSlot file, std::uint64_t offset, std::uint64_t length) {
    Operation operation = on_file(OperationKind::write, file, static_cast<std::int64_t>(length));
    operation.offset = offset;
    operation.length = length;
    return add(operation);
  }
  const Operation& truncate(FileSlot file, std::uint64_t size) {
    Operation operation = on_file(OperationKind::truncate, file);
    operation.offset = size;
    return add(operation);
  }
  const Operation& allocate(FileSlot file, int flags, std::uint64_t offset, std::uint64_t length) {
    Operation operation = on_file(OperationKind::allocate, file);
    operation.flags = static_cast<std::uint32_t>(flags);
    operation.offset = offset;
    operation.length = length;
    return add(operation);
  }
  const Operation& copy(FileSlot from, std::uint64_t from_offset, FileSlot to,
                        std::uint64_t to_offset, std::uint64_t length) {
    Operation operation = on_file(OperationKind::copy_range, to, static_cast<std::int64_t>(length));
    operation.source = from;
    operation.second = from_offset;
    operation.offset = to_offset;
    operation.length = length;
    operation.method = CopyMethod::copy_file_range;
    return add(operation);
  }
  const Operation& stat(std::string_view path_, std::uint32_t mode, std::uint64_t size = 0) {
    Operation operation = on_path(OperationKind::stat, path_);
    operation.mode = mode;
    operation.length = size;
    return add(operation);
  }
  const Operation& stat_missing(std::string_view path_) {
    return simple(OperationKind::stat, path_, -ENOENT);
  }
  const Operation& stat_file(FileSlot file, std::uint32_t mode, std::uint64_t size) {
    Operation operation = on_file(OperationKind::stat, file);
    operation.mode = mode;
    operation.length = size;
    return add(operation);
  }
  const Operation& chmod(std::string_view path_, std::uint32_t mode) {
    Operation operation = on_path(OperationKind::change_mode, path_);
    operation.mode = mode;
    return add(operation);
  }
  const Operation& rename(std::string_view from, std::string_view to, std::uint32_t flags = 0,
                          std::int64_t result = 0) {
    Operation operation = on_path(OperationKind::rename, to, result);
    operation.old_path = path(from);
    operation.flags = flags;
    return add(operation);
  }
  const Operation& link(std::string_view from, std::string_view to, std::int64_t result = 0) {
    Operation operation = on_path(OperationKind::link, to, result);
    operation.old_path = path(from);
    return add(operation);
  }
  const Operation& link_file(FileSlot file, std::string_view to) {
    Operation operation = on_path(OperationKind::link, to);
    operation.file = file;
    return add(operation);
  }
  const Operation& symlink(std::string_view target, std::string_view path_,
                           std::int64_t result = 0) {
    Operation operation = on_path(OperationKind::symlink, path_, result);
    operation.text = text(target);
    return add(operation);
  }
  const Operation& readlink(std::string_view path_, std::string_view target) {
    Operation operation = on_path(OperationKind::read_link, path_);
    operation.text = text(target);
    return add(operation);
  }
  const Operation& map(FileSlot mapping, FileSlot file, int protection, int flags,
                       std::uint64_t offset, std::uint64_t length) {
    Operation operation = on_file(OperationKind::map, file);
    operation.source = mapping;
    operation.flags = static_cast<std::uint32_t>(protection | flags << 8);
    operation.offset = offset;
    operation.length = length;
    return add(operation);
  }
  const Operation& on_mapping(OperationKind kind, FileSlot mapping, std::uint32_t flags = 0,
                              std::uint64_t offset = 0, std::uint64_t length = 0) {
    Operation operation;
    operation.kind = kind;
    operation.source = mapping;
    operation.flags = flags;
    operation.offset = offset;
    operation.length = length;
    return add(operation);
  }

  // The trees, an entry a word: "d/" is a directory, "f=12" a file of 12 bytes, "l>x" a symbolic
  // link, "h~f" a hard link; in the order of paths.
  std::string initial() const { return words(builder.trees().initial); }
  std::string final() const { return words(builder.trees().final); }
  static std::string words(const FileSet& set);
};

inline std::string Tale::words(const FileSet& set) {
  check_file_set(set);
  std::vector<std::string> words;
  for (const Entry& entry : set.entries) {
    switch (entry.kind) {
      case EntryKind::directory:
        words.push_back(entry.path + "/");
        break;
      case EntryKind::file:
        words.push_back(entry.path + "=" + std::to_string(entry.size));
        break;
      case EntryKind::symlink:
        words.push_back(entry.path + ">" + entry.target);
        break;
      case EntryKind::hard_link:
        words.push_back(entry.path + "~" + entry.target);
        break;
    }
  }
  std::ranges::sort(words);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace filereel

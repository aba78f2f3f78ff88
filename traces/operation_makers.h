// Helpers that build operations for workloads.
#pragma once

#include <cstdint>

#include "traces/operation.h"

namespace filereel {

inline Operation named(OperationKind kind, PathId path) {
  Operation operation;
  operation.kind = kind;
  operation.path = path;
  return operation;
}

inline Operation make_directory(PathId path, std::uint32_t mode) {
  Operation operation = named(OperationKind::make_directory, path);
  operation.mode = mode;
  return operation;
}

inline Operation open_file(PathId path, FileSlot slot, int flags, std::uint32_t mode = 0) {
  Operation operation = named(OperationKind::open, path);
  operation.file = slot;
  operation.flags = static_cast<std::uint32_t>(flags);
  operation.mode = mode;
  return operation;
}

// An operation on an open file, with no other members set.
inline Operation of_file(OperationKind kind, FileSlot slot) {
  Operation operation;
  operation.kind = kind;
  operation.file = slot;
  return operation;
}

inline Operation close_file(FileSlot slot, bool counts_file) {
  Operation operation = of_file(OperationKind::close, slot);
  operation.counts_file = counts_file;
  return operation;
}

// A read or write that transfers the full length.
inline Operation data(OperationKind kind, FileSlot slot, std::uint64_t offset,
                      std::uint64_t length) {
  Operation operation = of_file(kind, slot);
  operation.offset = offset;
  operation.length = length;
  operation.expected = static_cast<std::int64_t>(length);
  return operation;
}

inline Operation truncate_file(FileSlot slot, std::uint64_t size) {
  Operation operation = of_file(OperationKind::truncate, slot);
  operation.offset = size;
  return operation;
}

// The owner must be able to keep working in the created files. No set-uid or set-gid bits.
inline std::uint32_t directory_mode(std::uint32_t mode) {
  return (mode & 0777) | 0700;
}
inline std::uint32_t file_mode(std::uint32_t mode) {
  return (mode & 0777) | 0600;
}

}  // namespace filereel

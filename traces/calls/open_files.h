// Resolves which open file a call refers to, and whether it is open in the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/calls/emitter.h"
#include "traces/calls/system_call.h"
#include "traces/operation.h"

namespace filereel {

// Maps device and inode, as seen by the tracer, to files of the trace.
class FileIdentities {
 public:
  struct Known {
    FileId file = kNoFileId;
    bool counted = false;  // counted as one file that the trace treats as several
  };
  // The mutable entry; null if `seen` does not identify a file.
  Known* at(const SeenStat& seen) {
    if (seen.inode == 0) return nullptr;
    return &known_[{seen.device, seen.inode, seen.generation}];
  }
  // kNoFileId: unknown.
  FileId find(const SeenStat& seen) const {
    const auto found = known_.find({seen.device, seen.inode, seen.generation});
    return found == known_.end() ? kNoFileId : found->second.file;
  }

 private:
  struct Identity {
    std::uint64_t device, inode;
    std::uint32_t generation;
    bool operator==(const Identity&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Identity& identity) const {
      return std::hash<std::uint64_t>()((identity.inode * 0x9e3779b97f4a7c15ULL ^ identity.device) +
                                        identity.generation);
    }
  };

  std::unordered_map<Identity, Known, Hash> known_;
};

// A call's reference to an open file, with what the tracer knows about it.
struct FileHandle {
  int descriptor;           // or SystemCall::kNone: a file registered with io_uring
  const std::string& path;  // may be empty
  std::uint64_t file;       // the kernel's number, or 0
};
inline FileHandle first_file(const SystemCall& call) {
  return {call.fd, call.fd_path, call.file};
}
inline FileHandle second_file(const SystemCall& call) {
  return {call.fd2, call.fd2_path, call.file2};
}

// Counts calls on directories that exist no more but are still in use.
inline constexpr std::string_view kRemovedOmitted = "calls on removed directories omitted";

enum class FileUse : std::uint8_t { reading, writing, listing, other };

// Owns the kernel's numbers of open files and the identities of files; the tasks own the descriptor
// tables. Requires that files removed from a table are dropped here. Guarantees that a file used by
// an operation is open in the trace, if necessary by an added open: it may have been opened before
// the trace, or before it moved into the kept part. Also guarantees that the file is closed when
// its last descriptor is gone.
class OpenFiles {
 public:
  // All outlive this.
  OpenFiles(TraceBuilder& builder, PathResolution& paths, Emitter& emitter)
      : builder_(builder), paths_(paths), emitter_(emitter) {}

  // See CallResolver::told. Forgets another file with this number: its close was not seen.
  void told(const SeenFile& file);

  FileNumbers& numbers() { return numbers_; }
  FileIdentities& identities() { return identities_; }

  // The file that the handle refers to, if known; null: not a file, or unknown.
  DescriptionRef known(Task& task, const FileHandle& handle);
  // The file that the handle refers to, by its number or its descriptor, whichever is more
  // reliable. An unknown file counts as opened before the trace. Null: not a file.
  DescriptionRef find(CallContext& context, const FileHandle& handle, FileUse use);
  // The same, opened in the trace as the use requires.
  Description* find_open(CallContext& context, const FileHandle& handle, FileUse use);
  // A file opened before the trace and first seen in `call`; null: not a file.
  DescriptionRef inherit(Task& task, const SystemCall& call, const FileHandle& handle, FileUse use);
  // Opens `file` in the trace if its use, or a kept operation, requires it.
  void ensure_open(const CallContext& context, Description& file, FileUse use);
  void require_open(const CallContext& context, const Description& file);

  // Start of a read or write of `file` without an offset.
  std::uint64_t position_of(Description& file, bool appends);

  // The call assigned `number` to `file`; null: to something else.
  void put(const CallContext& context, std::int64_t number, DescriptionRef file,
           bool close_on_exec);
  // First half of put(): releases the previous file of the number.
  void release_number(const CallContext& context, int number);
  // Releases one reference removed from a table; the last one closes the file.
  void drop(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, DescriptionRef file,
            std::int64_t result = 0);
  void drop_all(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                std::vector<DescriptionRef> files);
  static bool is_last(const DescriptionRef& file) {
    return file && file.use_count() == 1 && file->slot != kNoFile;
  }

 private:
  // A removed directory that the trace has not open.
  bool is_gone(const Description& file) const {
    return file.slot == kNoFile && file.directory && paths_.is_in_removed(file.path);
  }
  // False if it is known that the handle refers to another file.
  bool may_be(const FileHandle& handle, const Description& file) const;
  // A file that has lost its last name and its last descriptor in the trace, and lives on: in a
  // message to another process, for example. A replay has nothing to open.
  bool is_nameless(const FileHandle& handle);
  // The descriptor turns out to refer to `file`.
  void place(CallContext& context, int descriptor, const DescriptionRef& file);

  TraceBuilder& builder_;
  PathResolution& paths_;
  Emitter& emitter_;
  FileNumbers numbers_;
  FileIdentities identities_;
  std::unordered_map<std::uint64_t, SeenFile> told_;  // by number
};

}  // namespace filereel

// Which open file a call means, and whether it is open in the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/calls/call_context.h"
#include "traces/calls/emitter.h"
#include "traces/calls/file_identities.h"

namespace filereel {

// How a call refers to an open file, with what the tracer knows of it.
struct FileHandle {
  int descriptor;           // or SystemCall::kNone: a file that is registered with io_uring
  const std::string& path;  // may be empty
  std::uint64_t file;       // its number, or 0
};
inline FileHandle first_file(const SystemCall& call) {
  return {call.fd, call.fd_path, call.file};
}
inline FileHandle second_file(const SystemCall& call) {
  return {call.fd2, call.fd2_path, call.file2};
}

enum class FileUse : std::uint8_t { reading, writing, listing, other };

// Owns the kernel's numbers of open files and the identities of files; the descriptor tables are
// the tasks'. Requires that what leaves a table is dropped here. Guarantees that a file which an
// operation uses is open in the trace, if need be by an open that is added (it may be open since
// before the trace, or since before it came into the part that is kept), and that it is closed when
// its last descriptor is gone.
class OpenFiles {
 public:
  // All outlive this.
  OpenFiles(TraceBuilder& builder, PathResolution& paths, Emitter& emitter)
      : builder_(builder), paths_(paths), emitter_(emitter) {}

  FileNumbers& numbers() { return numbers_; }
  FileIdentities& identities() { return identities_; }

  // What the handle means as far as is known; null: no file, or not known.
  DescriptionRef known(Task& task, const FileHandle& handle);
  // What it means, by its number or its descriptor, whichever knows better, taken for open since
  // before the trace if it is not known; null: no file.
  DescriptionRef find(CallContext& context, const FileHandle& handle, FileUse use);
  // The same, open in the trace for its use.
  Description* find_open(CallContext& context, const FileHandle& handle, FileUse use);
  // A file that was open before `call`, the first that shows it; null: no file.
  DescriptionRef inherit(Task& task, const SystemCall& call, const FileHandle& handle, FileUse use);
  // Opens `file` in the trace if that is needed for its use, or for an operation that is kept.
  void announce(const CallContext& context, Description& file, FileUse use);
  void show(const CallContext& context, const Description& file);

  // Where a read or write of `file` without an offset begins.
  std::uint64_t position_of(Description& file, bool appends);

  // The call gave `number` out for `file`; null: for no file.
  void put(const CallContext& context, std::int64_t number, DescriptionRef file,
           bool close_on_exec);
  // The same, first half: what had the number is gone.
  void vacate(const CallContext& context, int number);
  // One reference less, out of a table: the last one closes the file.
  void drop(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, DescriptionRef file,
            std::int64_t result = 0);
  void drop_all(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                std::vector<DescriptionRef> files);
  static bool is_last(const DescriptionRef& file) {
    return file && file.use_count() == 1 && file->slot != kNoFile;
  }

 private:
  // The descriptor turns out to be `file`.
  void place(CallContext& context, int descriptor, const DescriptionRef& file);

  TraceBuilder& builder_;
  PathResolution& paths_;
  Emitter& emitter_;
  FileNumbers numbers_;
  FileIdentities identities_;
};

}  // namespace filereel

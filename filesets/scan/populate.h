// Creates a directory tree from a file set.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "filesets/file_set.h"

namespace filereel {

struct PopulateOptions {
  bool keep_set_id = false;  // keep set-user-ID and set-group-ID bits; a set is untrusted input
  std::stop_token stop;      // checked before every entry and every write
  // Times of the file system are multiples of this. By default that of FAT, the coarsest one.
  std::uint32_t time_unit_ns = 2'000'000'000;
};

struct PopulateProgress {
  std::uint64_t entries = 0;  // created so far, of FileSet::entries.size()
  std::uint64_t bytes = 0;    // of content written so far, of PopulateTotals::bytes_to_write
  std::string_view path;      // being created; valid during the call only
};

struct PopulateTotals {
  FileSetTotals set;                 // created entries
  std::uint64_t bytes_to_write = 0;  // content of the set without holes
  std::uint64_t bytes_written = 0;
  std::uint64_t set_ids_dropped = 0;  // entries that lost a set-ID bit
  std::uint64_t modes_lost = 0;       // entries with a mode that the file system rejected
  std::uint64_t times_lost = 0;  // entries with a time that the file system rejected or changed
  bool interrupted = false;      // the stop token ended it early; no tree exists
};

// Creates the entries of `set` below `dir`. `dir` is created if missing (but not its parent) and
// must be empty. Nothing outside `dir` is touched, whatever the set contains: symlinks are created
// but never followed, not even one that replaces a directory. Holes are not written. Modes are
// those of the set, regardless of the umask. Directories get their modes and times after their
// entries exist. Owners are the caller's.
//
// Nothing is flushed to the device. The tree is created completely or not at all: after an error or
// an interruption nothing remains.
//
// `progress` (which may be empty) runs on the calling thread; its exceptions propagate. Throws
// Error(unusable_input) if the set breaks the rules of file_set.h, and Error(failed) if `dir`
// cannot be used or has too little free space, or an entry cannot be created.
PopulateTotals populate_tree(const FileSet& set, const std::string& dir,
                             const PopulateOptions& options,
                             const std::function<void(const PopulateProgress&)>& progress);

// The same below the open directory `root`, which may contain other entries. `name` is its name in
// messages.
PopulateTotals populate_below(int root, const FileSet& set, const std::string& name,
                              const PopulateOptions& options,
                              const std::function<void(const PopulateProgress&)>& progress);

}  // namespace filereel

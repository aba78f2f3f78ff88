// Turns a file set into a real directory tree.
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
  std::stop_token stop;      // looked at before every entry and every write
};

struct PopulateProgress {
  std::uint64_t entries = 0;  // made so far, of FileSet::entries.size()
  std::uint64_t bytes = 0;    // of content written so far, of PopulateTotals::bytes_to_write
  std::string_view path;      // being made; valid during the call only
};

struct PopulateTotals {
  FileSetTotals set;                 // what was made
  std::uint64_t bytes_to_write = 0;  // content of the whole set without its holes
  std::uint64_t bytes_written = 0;
  std::uint64_t set_ids_dropped = 0;  // entries that lost a set-ID bit
  std::uint64_t modes_lost = 0;       // entries whose mode the file system refused
  std::uint64_t times_lost = 0;       // entries whose time the file system refused
  bool interrupted = false;           // the stop token ended it early; there is no tree
};

// Makes everything in `set` below `dir`, which is created if it is missing (its parent is not) and
// must be empty. Nothing outside `dir` is touched, whatever the set contains; symlinks are made but
// never followed, not even one that somebody else puts in a directory's place. Holes are not
// written. Modes are as in the set whatever the umask; directories get theirs, and their times,
// when all that lies in them exists. Owners are the caller's.
//
// Nothing is forced to the device. The tree is there as a whole or not at all: after an error or an
// interruption nothing of it remains.
//
// `progress` (which may be empty) runs on the calling thread; what it throws passes through. Throws
// Error(unusable_input) if the set breaks the rules of file_set.h, and Error(failed) if `dir`
// cannot be used or has too little free space, or an entry cannot be made.
PopulateTotals populate_tree(const FileSet& set, const std::string& dir,
                             const PopulateOptions& options,
                             const std::function<void(const PopulateProgress&)>& progress);

// The same below the open directory `root`, which may hold other things already; `name` stands for
// it in messages.
PopulateTotals populate_below(int root, const FileSet& set, const std::string& name,
                              const PopulateOptions& options,
                              const std::function<void(const PopulateProgress&)>& progress);

}  // namespace filereel

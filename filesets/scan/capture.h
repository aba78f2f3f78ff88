// How this folder works: capture.cc walks a real directory and yields the entries of a file set,
// with properties of content from content_survey.h; populate.h does the opposite. Both open
// directories by paths.h, because other processes may change the tree meanwhile. Start here.
//
// Captures a directory tree as the entries of a file set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"

namespace filereel {

struct CaptureOptions {
  bool cross_file_systems = false;  // descend into mounts below the directory
  std::stop_token stop;             // checked before every entry and every read
};

struct CaptureProgress {
  std::uint64_t entries = 0;  // passed to the sink so far
  std::uint64_t bytes = 0;    // read so far
  std::string_view path;      // being read; valid during the call only
};

// A path of the tree that is missing or incomplete in the file set.
struct SkippedPath {
  std::string path;    // bytes, relative to the directory
  std::string reason;  // "Permission denied", "changed while being read" ...
};

struct CaptureTotals {
  static constexpr std::size_t kMaxExamples = 10;

  FileSetTotals set;                  // passed to the sink
  std::uint64_t duplicate_files = 0;  // files with the content of an earlier file
  std::uint64_t duplicate_bytes = 0;  // of these files, holes included

  std::uint64_t unreadable = 0;          // files, symlinks, directories (captured as empty)
  std::uint64_t special = 0;             // sockets, FIFOs, devices
  std::uint64_t changed = 0;             // modified, replaced or removed during the capture
  std::uint64_t too_long = 0;            // longer than check_path allows
  std::uint64_t other_file_systems = 0;  // mount points, captured as empty directories
  std::vector<SkippedPath> examples;     // first kMaxExamples of the above
  std::uint64_t times_moved = 0;         // entries with a time that an Entry cannot hold
  bool interrupted = false;              // the stop token ended the capture early

  std::uint64_t skipped() const {
    return unreadable + special + changed + too_long + other_file_systems;
  }
};

// Calls `sink` once for each entry below `dir`, in the order of a FileSet: a directory, then its
// entries in byte order of their names. Symlinks are not followed, except `dir` itself. Nothing is
// written; access times are preserved if the system allows it.
//
// Each file is read once as a whole. Files with the same bytes and holes get the same content key.
// Keys count from 1 in the order of the walk; files without data have key 0. Compressibility is
// measured with zstd at level 1: on the whole file up to 512 KiB, and on 8 pieces of 64 KiB of a
// larger one. Holes are those reported by the file system.
//
// Memory: about 3 MB, 32 to 64 bytes per distinct content, the names of the directories on the
// current path, and the paths of files with hard links not seen yet.
//
// `sink` and `progress` (which may be empty) run on the calling thread; their exceptions propagate.
// Throws Error(unusable_input) if `dir` cannot be read.
CaptureTotals capture_tree(const std::string& dir, const CaptureOptions& options,
                           const std::function<void(const Entry&)>& sink,
                           const std::function<void(const CaptureProgress&)>& progress);

}  // namespace filereel

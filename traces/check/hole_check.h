// Compares where a file has holes with where a trace wrote.
#pragma once

#include <string>
#include <vector>

#include <sys/stat.h>

#include "filesets/entry.h"
#include "filesets/system/descriptor.h"
#include "traces/model/data_ranges.h"

namespace filereel {

struct HoleQuestion {
  int directory;
  std::string name;  // of a regular file in it
  const struct stat& real;
  bool made;                  // the trace created the file: its ranges are complete
  const DataRanges& written;  // what the trace wrote
};

// A regular file in the directory; only this user's, because reading others would change their time
// of access.
Descriptor open_for_check(int directory, const std::string& name);

// What differs, for a message; empty: nothing, or the file system does not report holes exactly
// (only those of ext4, xfs, btrfs and tmpfs are used). Files without holes are not opened.
std::string hole_difference(const HoleQuestion& question);

// Whether less is allocated than the size, for a regular file.
bool has_holes(const struct stat& status);

// The holes of a regular file in the directory; none if it cannot be read or its file system does
// not report them exactly.
std::vector<Hole> find_holes(int directory, const std::string& name);

}  // namespace filereel

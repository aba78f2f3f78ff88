// Atomic file creation: the file appears complete or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "filesets/ownership/new_file.h"

namespace filereel {

// Writes to an unnamed file (see NewFile) in the directory of the final path. commit() gives it the
// final name and makes file and name durable. Until then an existing file of that name stays
// unchanged. All errors throw Error(failed) with the path and the reason.
class AtomicFile {
 public:
  // Creates the file. `path` must name a regular file or nothing. Devices and pipes (/dev/null)
  // cannot be replaced and are rejected, as are names that are too long and files that are
  // immutable or append-only. Symbolic links are followed.
  explicit AtomicFile(const std::string& path);

  void write(std::string_view bytes);
  // Call once, after the last write.
  void commit();
  // Like commit(), but never replaces a file: returns false and discards the content if the name
  // exists.
  bool commit_new();

  const std::string& path() const { return path_; }

 private:
  void check_target() const;
  [[noreturn]] void fail(std::string_view what, int error) const;
  void make_durable(int descriptor);

  std::string path_;  // final path, symbolic links resolved
  std::optional<NewFile> file_;
};

}  // namespace filereel

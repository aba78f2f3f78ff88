// Writing a file so that it is there as a whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "filesets/ownership/new_file.h"

namespace filereel {

// Writes to a file without a name, see NewFile, in the directory of the final path; commit() gives
// it the final name and makes both durable. Until then an existing file of that name stays as it
// is. Every error throws Error(failed) with the path and the reason.
class AtomicFile {
 public:
  // Creates the file. `path` must name a regular file or nothing yet: a device or pipe
  // (/dev/null) cannot be replaced and is refused, as are names that are too long and files that
  // are immutable or append-only. A symbolic link is followed.
  explicit AtomicFile(const std::string& path);

  void write(std::string_view bytes);
  // To be called once, after the last write.
  void commit();
  // The same for a file that must not replace another: false, and nothing is written, if there is
  // something of that name by now.
  bool commit_new();

  const std::string& path() const { return path_; }

 private:
  void check_target() const;
  [[noreturn]] void fail(std::string_view what, int error) const;
  void make_durable(int descriptor);

  std::string path_;  // the final one, with symbolic links resolved
  std::optional<NewFile> file_;
};

}  // namespace filereel

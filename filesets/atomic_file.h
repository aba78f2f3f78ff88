// Writing a file so that it is there as a whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// Writes to a temporary file in the directory of the final path, whose name begins with
// ".filereel-"; commit() gives it the final name and makes both durable. Until then an existing
// file of that name stays as it is. Every error throws Error(failed) with the path and the reason.
class AtomicFile {
 public:
  // Creates the temporary file. `path` must name a regular file or nothing yet: a device or pipe
  // (/dev/null) cannot be replaced and is refused. A symbolic link is followed.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();  // removes the temporary file unless commit() was called
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  // To be called once, after the last write.
  void commit();
  // The same for a file that must not replace another: false, and the temporary file is removed, if
  // there is something of that name by now.
  bool commit_new();

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(std::string_view what, int error) const;
  void finish_writing();
  void sync_directory();

  std::string path_;       // the final one, with symbolic links resolved
  std::string directory_;  // that it lies in
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace filereel

// Atomic file creation: the file appears complete or not at all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "filesets/ownership/new_file.h"
#include "filesets/ownership/output_stream.h"

namespace filereel {

// Writes to an unnamed file (see NewFile) in the directory of the final path. commit() gives it the
// final name and makes file and name durable. Until then an existing file of that name stays
// unchanged. All errors throw Error(failed) with the path and the reason.
//
// Hours may pass between creation and commit(), and a recorded program may do anything to the
// directory meanwhile. The directory is therefore opened once, and commit() keeps the content in
// any case:
// - in the directory, wherever it was renamed to;
// - else, if it was removed or unmounted or cannot take the file, as a copy in its nearest existing
//   parent;
// - else as a copy in the state directory (`kept`).
// A file that appeared under the name meanwhile is not replaced: the new one gets a number.
class AtomicFile {
 public:
  // Creates the file. Symbolic links are followed. Rejected are directories, names that are too
  // long, and files that are immutable or append-only or in such a directory. A stream
  // (names_stream) cannot be replaced: it gets the content at commit().
  explicit AtomicFile(const std::string& path);

  void write(std::string_view bytes);
  // From now on, a failed write moves the content to another directory, too. Before, it throws, so
  // that long work for a full disk does not fill a second one.
  void keep_in_any_case() { keeps_ = true; }
  // Call once, after the last write. Returns "", or one line for the user if the file is not at the
  // intended place: the reason and its path.
  [[nodiscard]] std::string commit();
  // Like commit(), but only at the intended place: returns false and discards the content if the
  // name exists, or if it is a stream.
  bool commit_new();

  const std::string& path() const { return path_; }  // after commit(), the file's place

 private:
  void check_target();
  void relocate(std::string why);
  bool copy_to(struct FallbackPlace place);
  int link_with_number(std::string& name);
  int place(std::string& name);
  static int flush(int descriptor);
  int descriptor() const { return stream_ ? stream_->descriptor() : file_->descriptor(); }
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::string path_;       // final path, symbolic links resolved
  std::string directory_;  // absolute path of its directory, as far as known
  bool existed_ = false;   // there was a file to replace
  bool keeps_ = false;
  std::string moved_;  // reason why the file is not in the intended directory, or ""
  std::optional<OutputStream> stream_;
  std::unique_ptr<NewFile> file_;  // null for a stream
};

}  // namespace filereel

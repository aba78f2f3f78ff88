// Atomic file creation: the file appears complete or not at all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/ownership/output_stream.h"
#include "filesets/system/descriptor.h"

namespace filereel {

// --- A file that is unnamed until it is complete.

// If the file system does not support unnamed files, or the process could not name them later (no
// /proc and no CAP_DAC_READ_SEARCH), the file has a temporary name, which starts with ".filereel-",
// and a lease. A killed process thus leaves nothing behind, or nothing without a
// lease.
class NewFile {
 public:
  // Creates the file in `directory`, open for reading and writing, with the permissions `mode` less
  // the umask. `shown` is its name in messages. Throws Error(failed).
  NewFile(const std::string& directory, const std::string& shown, mode_t mode);
  // The same in an open directory, whose absolute path is `path`. If `directory` is empty, errno is
  // the reason.
  NewFile(std::string path, Descriptor directory, const std::string& shown, mode_t mode);
  ~NewFile();  // removes the file unless link_as or replace succeeded
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return file_.get(); }
  int directory() const { return directory_.get(); }

  // Gives the file its name in the directory. Returns 0 or the error. EEXIST: the name exists;
  // ESTALE: another file has taken the temporary name.
  int link_as(const std::string& name);
  // The same, replacing an existing file.
  int replace(const std::string& name);

 private:
  void choose_temporary_name();
  void note_temporary_name();
  void drop_temporary_name();
  bool has_temporary_name() const;
  bool can_link_unnamed() const;
  int link_unnamed(const std::string& name) const;

  std::string directory_path_;
  Descriptor directory_;
  Descriptor file_;
  std::optional<Lease> lease_;  // of the temporary name
  std::string temporary_;       // or ""
};

// --- Directories for a file that cannot be stored in the intended one.

struct FallbackPlace {
  std::string path;  // absolute
  Descriptor directory;
};

// The directory `path` or else its nearest existing parent. Symbolic links are not followed: what
// replaced a part of the path leads elsewhere. `path` is absolute and was free of symbolic links.
std::optional<FallbackPlace> nearest_existing(const std::string& path);

// The directory `kept` in filereel's state directory.
std::optional<FallbackPlace> kept_in_state_directory();

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

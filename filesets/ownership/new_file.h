// A file that is unnamed until it is complete.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/system/descriptor.h"

namespace filereel {

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

}  // namespace filereel

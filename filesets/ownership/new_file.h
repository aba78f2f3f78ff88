// A file that has no name until it is complete.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "filesets/ownership/lease.h"
#include "filesets/system/descriptor.h"

namespace filereel {

// Where the file system cannot have a file without a name, it has a temporary one, which begins
// with
// ".filereel-", and a lease. Whoever kills the process leaves nothing, or nothing that is not on
// the list.
class NewFile {
 public:
  // Made in `directory`, open for reading and writing, with the permissions `mode` less the umask.
  // `shown` stands for it in messages. Throws Error(failed).
  NewFile(const std::string& directory, const std::string& shown, mode_t mode);
  ~NewFile();  // without link_as or replace the file is gone
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return file_.get(); }
  int directory() const { return directory_.get(); }

  // Gives it its name in the directory. 0, or the error; EEXIST: there is something of that name;
  // ESTALE: another file has taken its temporary name.
  int link_as(const std::string& name);
  // The same in the place of whatever has the name.
  int replace(const std::string& name);

 private:
  void choose_temporary_name();
  void note_temporary_name();
  void drop_temporary_name();
  bool has_temporary_name() const;
  int link_unnamed(const std::string& name) const;

  std::string directory_path_;
  Descriptor directory_;
  Descriptor file_;
  std::optional<Lease> lease_;  // of the temporary name
  std::string temporary_;       // "" if it has none
};

}  // namespace filereel

// A directory that filereel fills: a volume, or what populate makes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/ownership/lease.h"
#include "filesets/system/descriptor.h"

namespace filereel {

// filereel works in a directory of its own inside the one that the user named, with a name that
// nobody can have chosen. So whatever lies beside it is the user's, whenever it came there, and
// whatever lies in it goes with it. What is to stay is moved up at the end. Both directories are
// opened once: no other directory that takes the place of either is ever touched.
class WorkDirectory {
 public:
  // Whether what is kept is the user's from then on, or stays filereel's: the next volume there may
  // remove it, as long as nobody changes it.
  enum class Use : bool { tree, volume };

  // Opens `path`, which is made if it is missing (its parent is not). It must be empty but for
  // lost+found; a volume may also hold what an earlier one kept there, which is removed. Throws
  // Error(failed).
  WorkDirectory(const std::string& path, Use use);
  ~WorkDirectory();  // removes what is left, and the directory itself if it was made here
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  int root() const { return work_.get(); }      // to be filled
  int target() const { return target_.get(); }  // that the user named

  void clear();                // Throws Error(failed).
  void check_present() const;  // Throws Error(failed) if either is gone or replaced.

  // Each ends the use; after that neither does anything. keep leaves all that is in it directly in
  // the target, remove leaves nothing. Throw Error(failed).
  void keep();
  void remove();

 private:
  void open_target();
  void make_target();
  void check_empty();
  std::vector<std::uint64_t> list_kept(std::uint64_t seed) const;
  void note_kept(std::uint64_t seed, std::span<const std::uint64_t> kept) const;
  std::optional<std::string> first_name() const;
  void make_work();
  void remove_work();
  void remove_target();
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::string path_;  // as the user named it
  Use use_;
  std::string full_path_;    // absolute, without symbolic links
  std::string target_name_;  // in the directory `parent_`
  Descriptor target_, work_;
  Descriptor parent_;                  // of the target, where that was made here
  std::optional<Lease> target_lease_;  // likewise
  std::string work_name_;
  std::optional<Lease> work_lease_;
};

}  // namespace filereel

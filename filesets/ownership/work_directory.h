// A directory that filereel fills: a volume, or the target of populate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/ownership/lease.h"
#include "filesets/ownership/removal.h"
#include "filesets/system/descriptor.h"

namespace filereel {

// filereel works in its own directory inside the one named by the user. Its name is random.
// Everything beside it belongs to the user, and everything inside is removed with it. Files to be
// kept are moved up at the end. Both directories are opened once, so that a directory which
// replaces one of them is never touched.
class WorkDirectory {
 public:
  // Whether kept files belong to the user (tree) or stay filereel's (volume). The next volume there
  // may remove the latter unless someone has changed them.
  enum class Use : bool { tree, volume };

  // Checks that filereel may work in `path`, and changes nothing. It must be writable, and empty
  // except for lost+found. A volume may also contain files that an earlier volume kept there. It
  // may be missing, but not its parent. Throws Error(failed).
  WorkDirectory(const std::string& path, Use use);
  ~WorkDirectory();  // removes the rest, and the target if it was created here
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  // Begins the use: removes the files of an earlier volume, and creates a missing `path` and the
  // directory to fill. Call once. Throws Error(failed).
  void take();

  // The directory to fill; before take() the one named by the user, or its parent if it is missing.
  int place() const { return work_ ? work_.get() : target_ ? target_.get() : parent_.get(); }
  const TreeSpace& removable() const { return removable_; }  // what take() removes

  int root() const { return work_.get(); }                // the directory to fill
  int target() const { return target_.get(); }            // the directory named by the user
  const std::string& name() const { return work_name_; }  // of the root in the target

  void clear();                // Throws Error(failed).
  void check_present() const;  // Throws Error(failed) if either was removed, moved or replaced.

  // Each ends the use; later calls do nothing. keep moves all contents to the target, remove leaves
  // nothing. Both throw Error(failed).
  void keep();
  void remove();

 private:
  void open_target();
  void check_missing();
  void make_target();
  void find_path();
  void check_writable() const;
  void check_empty(bool clears);
  bool accept_kept(std::vector<FoundLease>& leases, bool clears);
  void check_used_elsewhere() const;
  std::vector<std::uint64_t> list_kept(std::uint64_t seed) const;
  void note_kept(std::uint64_t seed, std::span<const std::uint64_t> kept) const;
  std::optional<std::string> first_name() const;
  void make_work();
  bool make_files();
  int remove_directories();
  void remove_work();
  void remove_target();
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::string path_;  // as the user named it
  Use use_;
  std::string full_path_;    // absolute, without symbolic links
  std::string target_name_;  // in `parent_`
  Descriptor target_;
  Descriptor holder_;  // of `work_`, where inode numbers do not last (LeaseRecord::proof)
  Descriptor work_;
  TreeSpace removable_;
  Descriptor parent_;                  // of the target, if it is created here
  std::optional<Lease> target_lease_;  // likewise
  std::string work_name_;
  std::optional<Lease> work_lease_;
};

}  // namespace filereel

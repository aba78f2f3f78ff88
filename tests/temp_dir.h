// A directory of a test's own, removed with all that is in it.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

// Where temporary files belong or, where that is memory, a folder beside it; empty where no disk
// is.
inline std::string temporary_on_disk() {
  for (const std::string& folder :
       {boost::filesystem::temp_directory_path().string(), std::string("/var/tmp")}) {
    struct statfs info{};
    if (statfs(folder.c_str(), &info) != 0 || ::access(folder.c_str(), W_OK | X_OK) != 0) continue;
    if (info.f_type != TMPFS_MAGIC && info.f_type != RAMFS_MAGIC) return folder;
  }
  return {};
}

class TempDir {
 public:
  TempDir() : TempDir(boost::filesystem::temp_directory_path().string()) {}
  explicit TempDir(const std::string& parent) : path_(parent + "/filereel.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp");
    chmod(path_.c_str(), 0755);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  // Not by Boost's remove_all, which fails for paths longer than PATH_MAX.
  ~TempDir() {
    if (std::system(("rm -rf -- '" + path_ + "'").c_str()) != 0) MESSAGE("left behind: ", path_);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

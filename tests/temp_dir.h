// A directory of a test's own, removed with all that is in it.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <sys/stat.h>

class TempDir {
 public:
  TempDir() {
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
  std::string path_ = (boost::filesystem::temp_directory_path() / "filereel.XXXXXX").string();
};

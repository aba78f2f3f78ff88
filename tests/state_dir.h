// A state directory of a test's own.
#pragma once

#include <string>

#include <stdlib.h>
#include <sys/stat.h>

#include "tests/temp_dir.h"

class StateDir {
 public:
  StateDir() {
    if (const char* const path = getenv(kName)) before_ = path;
    chmod(folder_.path().c_str(), 0700);
    setenv(kName, folder_.path().c_str(), 1);
  }
  ~StateDir() { before_.empty() ? unsetenv(kName) : setenv(kName, before_.c_str(), 1); }
  StateDir(const StateDir&) = delete;
  StateDir& operator=(const StateDir&) = delete;

  const std::string& path() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  static constexpr const char* kName = "FILEREEL_STATE_DIR";
  TempDir folder_;
  std::string before_;
};

// A file that says: filereel works here. It is locked while it does, and a later run that finds it
// unlocked knows that it may clear what an earlier, killed run left.
#pragma once

#include <string>

#include "filesets/descriptor.h"

namespace filereel {

class Lease {
 public:
  // Makes or takes over the file `path` for the volume `name`. Throws Error(failed) when another
  // process holds it or it cannot be made.
  Lease(std::string path, const std::string& name);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();  // removes the file unless keep() was called

  bool found() const { return found_; }  // it was there before: left by a killed or a kept run
  void keep() { keep_ = true; }

 private:
  std::string path_;
  Descriptor file_;
  bool found_ = false;
  bool keep_ = false;
};

}  // namespace filereel

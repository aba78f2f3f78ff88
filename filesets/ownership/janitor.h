// Removes leftovers even if this process is killed.
#pragma once

#include "filesets/system/descriptor.h"

namespace filereel {

// A process that waits for the end of this one. If the destructor did not run, it removes the
// leftovers of killed runs (leftovers.h). It survives signals to the process group: mpirun kills
// all processes of a run if one of them dies. Create it before there are threads.
class Janitor {
 public:
  Janitor();   // without a process, leftovers wait for the next run
  ~Janitor();  // sends it away
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

 private:
  Descriptor pipe_;
};

}  // namespace filereel

// The drive as the file `drive` of a FUSE file system.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/model_drive/drive.h"

struct fuse_session;

namespace filereel::model_drive {

// Mounted as long as it lives. Its threads need all signals blocked that the program handles
// otherwise, and take SIGUSR2 for themselves. If somebody else unmounts it, it sends SIGTERM to the
// process.
class FuseMount {
 public:
  // Throws Error(failed) if FUSE does not work here, Error(usage) if the folder is not an empty
  // one.
  FuseMount(Drive& drive, const std::string& folder);
  FuseMount(const FuseMount&) = delete;
  FuseMount& operator=(const FuseMount&) = delete;
  // Finishes the drive. What uses the file then, such as a loop device, gets errors from now on.
  ~FuseMount();

 private:
  struct Close {
    void operator()(fuse_session* session) const;
  };

  void serve();

  Drive& drive_;
  std::unique_ptr<fuse_session, Close> session_;
  std::atomic<bool> ending_ = false;
  std::atomic<int> serving_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace filereel::model_drive

#include "replay/volumes/lease.h"

#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "filesets/error.h"

namespace filereel {

Lease::Lease(std::string path, const std::string& name) : path_(std::move(path)) {
  found_ = access(path_.c_str(), F_OK) == 0;
  file_.reset(open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_) {
    const int error = errno;
    throw Error(ErrorKind::failed,
                error == EROFS
                    ? fmt::format("{} is read-only: choose a volume that can be written", name)
                    : fmt::format("cannot write {}: {}; choose a volume that can be "
                                  "written",
                                  path_, strerror(error)));
  }
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    keep_ = true;  // it is another's
    throw Error(
        ErrorKind::failed,
        fmt::format("{} is in use by another filereel: wait for it or choose another volume",
                    name));
  }
  constexpr std::string_view kText =
      "filereel works here. What it made beside this file it may remove again.\n";
  if (ftruncate(file_.get(), 0) != 0 ||
      pwrite(file_.get(), kText.data(), kText.size(), 0) != static_cast<ssize_t>(kText.size())) {
    const int error = errno;
    if (!found_) unlink(path_.c_str());
    throw Error(ErrorKind::failed, fmt::format("cannot write {}: {}; make room or choose another "
                                               "volume",
                                               path_, strerror(error)));
  }
}

Lease::~Lease() {
  if (!keep_ && file_) unlink(path_.c_str());
}

}  // namespace filereel

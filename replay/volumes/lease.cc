#include "replay/volumes/lease.h"

#include <array>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/error.h"

namespace filereel {

Lease::Lease(std::string path, const std::string& name) : path_(std::move(path)) {
  // Whoever held the file may remove it just before it is locked here: then make a new one.
  do {
    open_file(name);
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      keep_ = true;  // it is another's
      throw Error(ErrorKind::failed,
                  fmt::format("{} is in use by another filereel: wait for it or choose another "
                              "volume",
                              name));
    }
  } while (!is_in_place());
  if (found_) noted_ = second_line();
  note(noted_);
}

void Lease::open_file(const std::string& name) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  file_.reset(open(path_.c_str(), kFlags | O_CREAT | O_EXCL, 0600));
  found_ = !file_ && errno == EEXIST;
  if (found_) file_.reset(open(path_.c_str(), kFlags | O_CREAT, 0600));
  if (file_) return;
  const int error = errno;
  throw Error(ErrorKind::failed,
              error == EROFS
                  ? fmt::format("{} is read-only: choose a volume that can be written", name)
                  : fmt::format("cannot write {}: {}; choose a volume that can be written", path_,
                                strerror(error)));
}

bool Lease::is_in_place() const {
  struct stat ours{}, there{};
  return fstat(file_.get(), &ours) == 0 && stat(path_.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

std::string Lease::second_line() const {
  constexpr std::size_t kMost = kMaxNote + 4096;  // with the first line
  std::string all;
  std::array<char, 4096> piece;
  ssize_t length = 0;
  while (all.size() < kMost && (length = pread(file_.get(), piece.data(), piece.size(),
                                               static_cast<off_t>(all.size()))) > 0) {
    all.append(piece.data(), static_cast<std::size_t>(length));
  }
  const std::size_t begin = all.find('\n');
  const std::size_t end = begin == std::string::npos ? begin : all.find('\n', begin + 1);
  return end == std::string::npos ? "" : all.substr(begin + 1, end - begin - 1);
}

void Lease::note(const std::string& line) {
  const std::string text = fmt::format(
      "filereel works here. What it made beside this file it may remove again.\n{}\n", line);
  // Written before it is cut, so that noting the same again cannot lose it.
  if (pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0) {
    const int error = errno;
    throw Error(ErrorKind::failed,
                fmt::format("cannot write {}: {}; make room or choose another volume", path_,
                            strerror(error)));
  }
}

Lease::~Lease() {
  if (!keep_ && file_) unlink(path_.c_str());
}

}  // namespace filereel

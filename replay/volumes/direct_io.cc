#include "replay/volumes/direct_io.h"

#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"

namespace filereel {
namespace {

// The test file, unlinked on destruction.
class ProbeFile {
 public:
  ProbeFile(int root, const std::string& name) : root_(root), name_(name) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_DIRECT | O_NOFOLLOW | O_CLOEXEC;
    file_.reset(openat(root_, name_.c_str(), kFlags, 0600));
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;
  // Some file systems create the file before they reject O_DIRECT.
  ~ProbeFile() { unlinkat(root_, name_.c_str(), 0); }

  int get() const { return file_.get(); }
  bool is_open() const { return static_cast<bool>(file_); }

 private:
  int root_;
  std::string name_;
  Descriptor file_;
};

// Kernels before 6.1 do not report this.
bool is_direct_io_unsupported(int file) {
  struct statx info{};
  return statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 &&
         (info.stx_mask & STATX_DIOALIGN) != 0 && info.stx_dio_offset_align == 0;
}

}  // namespace

bool can_do_direct_io(int root, const std::string& name, std::uint64_t size, std::uint64_t align) {
  const ProbeFile file(root, name);
  if (!file.is_open() || is_direct_io_unsupported(file.get())) return false;
  constexpr std::size_t kMemoryAlignment = 4096;
  const std::size_t length = (size + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  const std::unique_ptr<void, decltype(&free)> buffer(aligned_alloc(kMemoryAlignment, length),
                                                      &free);
  if (!buffer) return false;
  memset(buffer.get(), 1, length);
  const auto wanted = static_cast<ssize_t>(size);
  const auto offset = static_cast<off_t>(align);
  return pwrite(file.get(), buffer.get(), size, offset) == wanted &&
         pread(file.get(), buffer.get(), size, offset) == wanted;
}

}  // namespace filereel

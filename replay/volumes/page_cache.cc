#include "replay/volumes/page_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "replay/volumes/block_device.h"

namespace filereel {
namespace {

// As in <linux/mman.h> of kernel 6.5, which is newer than Debian 12's headers.
constexpr long kCachestat = 451;
struct CachestatRange {
  std::uint64_t offset, length;
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;  // pages
};

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t resident_by_mincore(int fd, std::uint64_t size) {
  constexpr std::uint64_t kWindow = 1 << 30;  // mapped at once
  std::uint64_t pages = 0;
  std::vector<unsigned char> present;
  for (std::uint64_t at = 0; at < size; at += kWindow) {
    const std::uint64_t length = std::min(kWindow, size - at);
    void* map = mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(at));
    if (map == MAP_FAILED) break;
    present.resize((length + page_size() - 1) / page_size());
    if (mincore(map, length, present.data()) == 0) {
      pages += static_cast<std::uint64_t>(
          std::ranges::count_if(present, [](unsigned char page) { return (page & 1) != 0; }));
    }
    munmap(map, length);
  }
  return pages;
}

Descriptor open_to_read(int root, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return Descriptor(static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

void read_to_end(int fd, std::vector<char>& buffer, const std::stop_token& stop) {
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  while (!stop.stop_requested() && read(fd, buffer.data(), buffer.size()) > 0) {
  }
}

Residency residency_of(int root, const FileList& files) {
  Residency all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Descriptor file = open_to_read(root, files.path(i));
    if (!file) continue;
    const Residency one = residency(file.get());
    all.cached += std::min(one.cached, one.size);  // the last page counts as a whole
    all.size += one.size;
  }
  return all;
}

}  // namespace

Residency residency(int fd) {
  const std::uint64_t size = device_size(fd);
  if (size == 0) return {};
  CachestatRange all{0, 0};  // length 0: to the end
  Cachestat result{};
  if (syscall(kCachestat, fd, &all, &result, 0) == 0) {
    return {result.cached * page_size(), size};
  }
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return {resident_by_mincore(fd, size) * page_size(), size};
}

bool has_cachestat() {
  return syscall(kCachestat, -1, nullptr, nullptr, 0) != 0 && errno != ENOSYS;
}

std::optional<double> warm_files(int root, const FileList& files, const std::stop_token& stop) {
  constexpr int kMostPasses = 3;  // a full cache evicts the first files for the last ones
  std::vector<char> buffer(1 << 20);
  Residency seen;
  for (int pass = 0; pass < kMostPasses && !stop.stop_requested(); ++pass) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Descriptor file = open_to_read(root, files.path(i));
      if (file) read_to_end(file.get(), buffer, stop);
    }
    const std::uint64_t before = seen.cached;
    seen = residency_of(root, files);
    if (seen.cached == seen.size || seen.cached <= before) break;
  }
  if (seen.size == 0) return std::nullopt;
  return static_cast<double>(seen.cached) / static_cast<double>(seen.size);
}

void drop_from_cache(int fd) {
  ioctl(fd, BLKFLSBUF, 0);  // block devices: writes back and drops; fails on anything else
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

bool drop_all_caches() {
  const Descriptor file(open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), "3", 1) == 1;
}

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

#include "tests/model_drive/content.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "filesets/system/error.h"
#include "filesets/system/units.h"

namespace filereel::model_drive {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

Content::Content(std::uint64_t size) : size_(size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw_failed(fmt::format("no address space for a drive of {}: {}; make it smaller",
                             format_binary_size(size), std::strerror(errno)));
  }
  bytes_ = static_cast<char*>(memory);
  // A first write into a huge page would have to clear 2 MiB.
  madvise(bytes_, size, MADV_NOHUGEPAGE);
}

Content::~Content() {
  munmap(bytes_, size_);
}

void Content::write(std::uint64_t offset, std::span<const char> bytes) {
  std::memcpy(bytes_ + offset, bytes.data(), bytes.size());
}

void Content::discard(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = offset + length;
  const std::uint64_t first = std::min(end, (offset + kPage - 1) / kPage * kPage);
  const std::uint64_t last = std::max(first, end / kPage * kPage);
  std::memset(bytes_ + offset, 0, first - offset);
  if (last > first && madvise(bytes_ + first, last - first, MADV_DONTNEED) != 0) {
    std::memset(bytes_ + first, 0, last - first);
  }
  std::memset(bytes_ + last, 0, end - last);
}

}  // namespace filereel::model_drive

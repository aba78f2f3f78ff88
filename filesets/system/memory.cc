#include "filesets/system/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"

namespace filereel {

void fail_for_memory(std::string_view what) {
  throw_failed(fmt::format("{} needs more memory than is available; {}, or reduce the size", what,
                           memory_limit().text()));
}

void require_memory(std::size_t bytes, const std::string& what) {
  if (bytes == 0) return;
  // The memory is never touched, so none is used. malloc and free could be optimised away.
  void* const there =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) fail_for_memory(what);
  munmap(there, bytes);
}

}  // namespace filereel

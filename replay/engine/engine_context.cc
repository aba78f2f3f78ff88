#include "replay/engine/engine_context.h"

#include <sys/mman.h>
#include <unistd.h>

namespace filereel {

OpenFile::~OpenFile() {
  if (const int open = fd.load(); open >= 0) close(open);
}

Mapping::~Mapping() {
  if (std::byte* const mapped = begin.load()) munmap(mapped, length.load());
}

}  // namespace filereel

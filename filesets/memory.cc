#include "filesets/memory.h"

#include <cstdlib>

#include <fmt/format.h>

#include "filesets/error.h"

namespace filereel {

void fail_for_memory(std::string_view what) {
  throw_failed(
      fmt::format("{} needs more memory than there is; use less of it, raise the limit "
                  "(ulimit -v), or end other programs",
                  what));
}

void require_memory(std::size_t bytes, const std::string& what) {
  void* const there = std::malloc(bytes);  // not touched: none of it is taken
  std::free(there);
  if (there == nullptr && bytes > 0) fail_for_memory(what);
}

}  // namespace filereel

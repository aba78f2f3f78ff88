// Reports running out of memory as an error that names the cause.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

namespace filereel {

// Throws Error(failed): `what` needs more memory than is available.
[[noreturn]] void fail_for_memory(std::string_view what);

// Returns the result of `work`. If it runs out of memory, throws Error(failed) that names `what`,
// such as "the file set 'many'".
template <class Work>
auto within_memory(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_for_memory(what);
  }
}

// Checks in advance, for work that must not run out of memory: throws unless `bytes` could be
// allocated.
void require_memory(std::size_t bytes, const std::string& what);

}  // namespace filereel

// Running out of memory as an error that says what was too large.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

namespace filereel {

// Throws Error(failed): `what` needs more memory than there is.
[[noreturn]] void fail_for_memory(std::string_view what);

// What `work` returns. Where it runs out of memory, throws Error(failed) that blames `what`, such
// as "the file set 'many'".
template <class Work>
auto within_memory(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_for_memory(what);
  }
}

// The same before work that must not run out of memory: throws unless so many bytes could be had.
void require_memory(std::size_t bytes, const std::string& what);

}  // namespace filereel

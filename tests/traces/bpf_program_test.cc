// The recorder's kernel program, as this kernel loads it.
#include "traces/record/bpf/bpf_program.h"

#include <cstdio>
#include <string>

#include <doctest/doctest.h>
#include <sys/utsname.h>

#include "tests/skipped.h"

namespace filereel {
namespace {

// Whether the kernel has at least this version.
bool is_since(int major, int minor) {
  utsname names{};
  int own_major = 0, own_minor = 0;
  if (uname(&names) != 0 || std::sscanf(names.release, "%d.%d", &own_major, &own_minor) != 2) {
    return false;
  }
  return own_major > major || (own_major == major && own_minor >= minor);
}

TEST_CASE("the verifier accepts the fastest form of the kernel program that the kernel supports") {
  if (const std::string missing = bpf_missing(); !missing.empty()) return skipped(missing);
  if (!is_since(6, 2)) return skipped("needs Linux 6.2, which casts pointers to types");
  const BpfProgram program({.ring_bytes = 1u << 16});
  CHECK(program.form() != BpfProgram::Form::portable);
  if (is_since(6, 18)) CHECK(program.form() == BpfProgram::Form::direct);  // older ones: not tried
}

}  // namespace
}  // namespace filereel

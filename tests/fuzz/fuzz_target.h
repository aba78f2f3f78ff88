// Fuzz targets: FUZZ_TARGET(name) { … } gets `data`, `size` bytes of anything, and ends the program
// if what holds for all bytes does not. Each is linked by itself with libFuzzer, which searches for
// such bytes (tests/fuzz/long), and all together into fuzz_corpus, which tries the kept samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct FuzzTarget {
  const char* name;  // also of its folder in the corpus
  void (*run)(const std::uint8_t* data, std::size_t size);
};

// All that are linked.
inline std::vector<FuzzTarget>& fuzz_targets() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

struct RegisteredFuzzTarget {
  explicit RegisteredFuzzTarget(const FuzzTarget& target) { fuzz_targets().push_back(target); }
};

#define FUZZ_TARGET(name)                                                     \
  static void fuzz_##name(const std::uint8_t* data, std::size_t size);        \
  static const RegisteredFuzzTarget kRegistered_##name({#name, fuzz_##name}); \
  static void fuzz_##name(const std::uint8_t* data, std::size_t size)

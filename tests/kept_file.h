// What tests compare with.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

// The bytes of a file below tests/.
inline std::string kept_file(const std::string& name) {
  const char* tests = std::getenv("FILEREEL_TEST_DATA");
  REQUIRE_MESSAGE(tests != nullptr, "set FILEREEL_TEST_DATA to the folder tests/");
  std::ifstream in(std::string(tests) + "/" + name, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), "tests/", name, " is missing");
  return {std::istreambuf_iterator<char>(in), {}};
}

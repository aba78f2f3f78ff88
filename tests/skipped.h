// Tests that cannot run here say why, and the run of all tests ends with a list of them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

// The file for tests/list_skipped that this program's skipped tests go to; empty where none is
// wanted.
inline std::string skipped_list() {
  const char* folder = getenv("FILEREEL_SKIPPED");
  return folder ? std::string(folder) + "/" + program_invocation_short_name : std::string();
}

// Before the first test: what an earlier run has left says nothing of this one.
inline void forget_skipped() {
  if (skipped_list().empty()) return;
  ::mkdir(getenv("FILEREEL_SKIPPED"), 0755);
  ::unlink(skipped_list().c_str());
}

// To be called in the running test, which then returns.
inline void skipped(const std::string& reason) {
  MESSAGE("skipped: ", reason);
  if (skipped_list().empty()) return;
  std::ofstream(skipped_list(), std::ios::app)
      << doctest::getContextOptions()->currentTest->m_name << '\t' << reason << '\n';
}

// Lowers the address space of this process (RLIMIT_AS) for a part of a test.
#pragma once

#include <cstdint>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

class AddressLimit {
 public:
  // Leaves `bytes` more than are used now. Leave some: the address sanitizer ends a process that
  // has none at all.
  explicit AddressLimit(std::uint64_t bytes) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    rlimit low = before_;
    low.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + bytes;
    REQUIRE(setrlimit(RLIMIT_AS, &low) == 0);
  }
  ~AddressLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;

 private:
  rlimit before_{};
};

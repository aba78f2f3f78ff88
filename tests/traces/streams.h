// Reading the operations of traces in tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "traces/fc_test.h"

namespace filereel {

inline constexpr CopyMethod kMethods[] = {CopyMethod::readwrite, CopyMethod::copy_file_range,
                                          CopyMethod::reflink, CopyMethod::sendfile};
inline constexpr FcStep kSteps[] = {FcStep::create, FcStep::read, FcStep::copy_near,
                                    FcStep::copy_far, FcStep::remove};

inline std::vector<Operation> drain(OperationSource& source, std::size_t batch = 5) {
  std::vector<Operation> all, out(batch);
  while (const std::size_t filled = source.next(out)) {
    all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(filled));
  }
  return all;
}

inline std::vector<std::vector<Operation>> drain(const Trace& trace) {
  std::vector<std::vector<Operation>> threads;
  for (const auto& source : trace.threads) threads.push_back(drain(*source));
  return threads;
}

inline std::string place(const PathTable& paths, PathId id) {
  return fmt::format("{}/{}", role_name(paths.node(id).role), paths.relative(id));
}

inline FcTestOptions options(std::uint64_t block_size, CopyMethod method = CopyMethod::readwrite,
                             std::uint32_t threads = 1) {
  return {.block_size = block_size, .copy_method = method, .threads = threads};
}

}  // namespace filereel

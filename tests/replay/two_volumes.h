// Two directories as volumes, and operations for them written by hand.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "filesets/system/descriptor.h"
#include "tests/temp_dir.h"
#include "traces/operation_source.h"

struct TwoVolumes {
  TempDir near, far;
  filereel::Descriptor near_root = open_root(near), far_root = open_root(far);

  std::array<int, filereel::kRoles> roots() const { return {near_root.get(), far_root.get()}; }

 private:
  static filereel::Descriptor open_root(const TempDir& temp) {
    return filereel::Descriptor(open(temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
};

class VectorSource final : public filereel::OperationSource {
 public:
  explicit VectorSource(std::vector<filereel::Operation> operations)
      : operations_(std::move(operations)) {}

  std::size_t next(std::span<filereel::Operation> out) override {
    const std::size_t count = std::min(out.size(), operations_.size() - next_);
    std::copy_n(operations_.begin() + static_cast<std::ptrdiff_t>(next_), count, out.begin());
    next_ += count;
    return count;
  }

 private:
  std::vector<filereel::Operation> operations_;
  std::size_t next_ = 0;
};

inline filereel::Trace trace_of(const filereel::PathTable& paths, const filereel::FileSet& files,
                                std::vector<std::vector<filereel::Operation>> threads) {
  filereel::Trace trace;
  trace.paths = &paths;
  trace.files = &files;
  trace.slots = 2;
  trace.largest_io = 4096;
  for (auto& operations : threads) {
    trace.threads.push_back(std::make_unique<VectorSource>(std::move(operations)));
  }
  return trace;
}

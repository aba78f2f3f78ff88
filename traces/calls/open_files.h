// Open files by the numbers that the kernel has for them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "traces/calls/descriptor_table.h"

namespace filereel {

// A number is its file's as long as the file is open, in whatever process; then it is given to
// another one. Number 0 is nobody's. Does not keep files open.
class OpenFiles {
 public:
  // Null if the number is not known.
  DescriptionRef find(std::uint64_t number);

  // `number` is `file`'s from now on (null: of something that is no file). What had it before, if
  // the trace has not seen it closed, has none any more.
  void bind(std::uint64_t number, const DescriptionRef& file);

  // `file` is closed.
  void forget(Description& file);

  // Calls `visit` with every open file that has a number.
  template <typename Visit>
  void each(Visit visit) {
    for (auto& [number, file] : files_) {
      if (const DescriptionRef open = file.lock()) visit(*open);
    }
  }

 private:
  std::unordered_map<std::uint64_t, std::weak_ptr<Description>> files_;
};

}  // namespace filereel

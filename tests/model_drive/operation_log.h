// The drive's own account of what it did; README.md describes the file.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "filesets/system/descriptor.h"
#include "tests/model_drive/service.h"

namespace filereel::model_drive {

// "2" or "1+3" as in the script, where the first stall is 1; "-" for none.
std::string stall_numbers(StallSet stalls);

// A line without its end.
std::string log_line(const Service& service, std::uint64_t completion_ns);

// Lines are kept in memory as numbers until flush() writes them, so that nothing waits for a file.
// add() is for any thread, the rest for one.
class OperationLog {
 public:
  // Keeps nothing if `path` is empty. Throws Error(failed) if the file cannot be made.
  explicit OperationLog(const std::string& path);

  void add(const Service& service, std::uint64_t completion_ns);
  // Throw Error(failed) if the file cannot be written. A note follows all that was added before.
  void flush();
  void note(std::string_view text);

 private:
  struct Entry {
    Service service;
    std::uint64_t completion_ns;
  };

  void write(std::string_view text);

  std::string path_;
  Stream file_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace filereel::model_drive

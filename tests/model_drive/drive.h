// The model drive without its connection to the kernel: content, queue, clock and log.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "tests/model_drive/completions.h"
#include "tests/model_drive/content.h"
#include "tests/model_drive/operation_log.h"
#include "tests/model_drive/service.h"

namespace filereel::model_drive {

// Requests come on any thread: begin() when one arrives, end() when its bytes were taken. Later
// the drive answers, on a thread of its own or within end().
class Drive {
 public:
  // The log must outlive the drive.
  Drive(Script script, OperationLog& log);

  Content& content() { return content_; }

  Service begin(Kind kind, std::uint64_t offset, std::uint64_t length);
  void end(const Service& service, std::function<void()> answer);

  // Puts another script into force, and gives the time of CLOCK_MONOTONIC from which it is: what
  // arrives later follows it. Throws as ServiceQueue::replace.
  std::uint64_t replace(Script script, std::string_view where);

  // "cached 4096 in_use 2 old 0 celsius 35.25": the medium now, as README.md describes it.
  std::string medium_state();

  // Answers all requests at once, also those to come.
  void finish() { completions_.finish(); }

 private:
  OperationLog& log_;
  Content content_;
  std::mutex mutex_;
  ServiceQueue queue_;  // behind the mutex
  Completions completions_;
};

}  // namespace filereel::model_drive

#include "tests/model_drive/operation_log.h"

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"

namespace filereel::model_drive {

std::string stall_numbers(StallSet stalls) {
  std::string text;
  for (std::size_t i = 0; i < kMaxStalls; ++i) {
    if ((stalls >> i & 1) != 0) text += fmt::format("{}{}", text.empty() ? "" : "+", i + 1);
  }
  return text.empty() ? "-" : text;
}

std::string log_line(const Service& service, std::uint64_t completion_ns) {
  return fmt::format("{} {} {} {} {} {} {} {}", service.arrival_ns, completion_ns,
                     kKindNames[static_cast<std::size_t>(service.kind)], service.offset,
                     service.length, service.service_ns, stall_numbers(service.stalls),
                     service.number);
}

OperationLog::OperationLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "we"));
  if (!file_) throw_failed(fmt::format("{}: cannot be made: {}", path, std::strerror(errno)));
  note("arrival_ns completion_ns kind offset length service_ns stalls number");
}

void OperationLog::add(const Service& service, std::uint64_t completion_ns) {
  if (!file_) return;
  const std::lock_guard lock(mutex_);
  entries_.push_back({service, completion_ns});
}

void OperationLog::flush() {
  if (!file_) return;
  std::deque<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
  }
  std::string text;
  for (const Entry& entry : entries) text += log_line(entry.service, entry.completion_ns) + "\n";
  write(text);
}

void OperationLog::note(std::string_view text) {
  if (!file_) return;
  flush();
  write(fmt::format("# {}\n", text));
}

void OperationLog::write(std::string_view text) {
  const bool good = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (!good || std::fflush(file_.get()) != 0) {
    throw_failed(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
}

}  // namespace filereel::model_drive

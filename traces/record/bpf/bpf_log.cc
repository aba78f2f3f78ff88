#include "traces/record/bpf/bpf_log.h"

#include <cstdarg>
#include <cstdio>
#include <new>
#include <utility>

#include <bpf/libbpf.h>

#include "traces/record/bpf/bpf_log_summary.h"

namespace filereel {
namespace {

// libbpf passes no user data to its print callback.
thread_local std::string* listening = nullptr;

// No exception may pass through libbpf: without memory for a message, the message is missing.
void append(std::string& to, std::size_t size, const char* format, va_list values) noexcept {
  try {
    std::string text(size + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, values);
    text.pop_back();
    to += text;
  } catch (const std::bad_alloc&) {
    return;
  }
}

__attribute__((format(printf, 2, 0))) int listen(libbpf_print_level level, const char* format,
                                                 va_list values) {
  if (!listening || level > LIBBPF_INFO) return 0;
  va_list again;
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, format, values);
  if (size > 0) append(*listening, static_cast<std::size_t>(size), format, again);
  va_end(again);
  return 0;
}

}  // namespace

BpfLog::BpfLog() : before_(std::exchange(listening, &text_)) {
  libbpf_set_print(listen);
}

BpfLog::~BpfLog() {
  listening = before_;
}

std::string BpfLog::summary() const {
  return summarise_bpf_log(text_);
}

}  // namespace filereel

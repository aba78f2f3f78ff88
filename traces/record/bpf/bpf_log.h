// Captures the messages of libbpf and the kernel's verifier on this thread during its lifetime.
// After the first object was created, libbpf prints nothing.
#pragma once

#include <string>

namespace filereel {

class BpfLog {
 public:
  BpfLog();
  ~BpfLog();
  BpfLog(const BpfLog&) = delete;
  BpfLog& operator=(const BpfLog&) = delete;

  void clear() { text_.clear(); }

  // The rejected program and the last messages about it, as one line; "no reason given" if there
  // are none.
  std::string summary() const;

 private:
  std::string text_;
  std::string* before_;
};

}  // namespace filereel

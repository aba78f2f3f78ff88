// What libbpf and the kernel's verifier say on this thread while the object lives; from the first
// one on nothing of it is printed.
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

  // Which program was refused and the last words about it, as one line; "no reason given" if
  // nothing was said.
  std::string summary() const;

 private:
  std::string text_;
  std::string* before_;
};

}  // namespace filereel

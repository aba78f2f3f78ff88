// The threads in strace's output: the thread of each line, and its unfinished call.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "traces/calls/call_table.h"
#include "traces/import/strace_lexer.h"

namespace filereel {

struct StraceThread {
  // A call shown as "<unfinished ...>".
  struct Pending {
    const CallRow* call = nullptr;  // nullptr: none
    std::string text;
    std::uint64_t enter_ns = 0;
    bool entered = false;  // the resolver knows the call
    std::uint32_t as = 0;  // number of the calling thread
  };
  std::uint32_t id = 0;
  bool has_exited = false;  // after an exit call
  std::string unneeded;     // name of an unfinished call unrelated to files
  Pending pending;
};

class StraceThreads {
 public:
  // `beginning` is the start of the text, which may show the number of a lone thread.
  explicit StraceThreads(std::string_view beginning);

  // The thread of a line, possibly new. Lines without a number belong to the only thread.
  StraceThread& of(const StraceLine& line);
  StraceThread* find(std::uint32_t id);

  // strace reports that it follows the thread from now on.
  void attached(std::uint32_t id);
  // A call returned the number of this new thread.
  void announce(std::uint32_t id);

  void erase(StraceThread& thread);
  const std::map<std::uint32_t, StraceThread>& all() const { return threads_; }

 private:
  StraceThread& add(std::uint32_t id);

  std::map<std::uint32_t, StraceThread> threads_;  // living threads
  std::set<std::uint32_t> announced_;
  StraceThread* last_ = nullptr;  // of the last line
  // The thread of lines without a number: its assigned number, and its real one once known.
  std::uint32_t lone_ = 1;
  bool lone_seen_ = false;
  std::uint32_t lone_known_as_ = 0;
};

}  // namespace filereel

// The threads in strace's text: whose line it is, and what each has under way.
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
  // A call that is shown as "<unfinished ...>".
  struct Pending {
    const CallRow* call = nullptr;  // nullptr: none
    std::string text;
    std::uint64_t enter_ns = 0;
    bool entered = false;  // the resolver knows of it
    std::uint32_t as = 0;  // the number of the thread that made it
  };
  std::uint32_t id = 0;
  bool has_exited = false;  // by a call that says so
  std::string unneeded;     // the name of an unfinished call that is not about files
  Pending pending;
};

class StraceThreads {
 public:
  // `beginning` is that of the text, in which the number of a lone thread is looked for.
  explicit StraceThreads(std::string_view beginning);

  // The thread of a line, which may be new. Lines without a number are of the only thread there is.
  StraceThread& of(const StraceLine& line);
  StraceThread* find(std::uint32_t id);

  // strace says that it follows the thread from now on.
  void attached(std::uint32_t id);
  // A call returned this number of a new thread.
  void announce(std::uint32_t id);

  void erase(StraceThread& thread);
  const std::map<std::uint32_t, StraceThread>& all() const { return threads_; }

 private:
  StraceThread& add(std::uint32_t id);

  std::map<std::uint32_t, StraceThread> threads_;  // that live
  std::set<std::uint32_t> announced_;
  StraceThread* last_ = nullptr;  // of the last line
  // The thread of lines without a number: the number it was given, and the one that it turned out
  // to have.
  std::uint32_t lone_ = 1;
  bool lone_seen_ = false;
  std::uint32_t lone_known_as_ = 0;
};

}  // namespace filereel

// The thread and time of strace's lines, and the links read in them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "traces/calls/call_table.h"
#include "traces/import/importers.h"
#include "traces/import/strace_lexer.h"

namespace filereel {

// The times of strace's lines on a monotonic clock that starts with the first line.
class StraceClock {
 public:
  // A longer span, in nanoseconds, means that the text is invalid.
  static constexpr std::uint64_t kLongest = 366 * 24 * 3'600'000'000'000;

  // The time of the line with this stamp, in nanoseconds since the first line with a time; 0 before
  // that line.
  std::uint64_t at(const StraceStamp& stamp);

  bool timed() const { return timed_; }                            // any line had a time
  bool whole_seconds() const { return timed_ && whole_seconds_; }  // no line had more than that
  std::uint64_t now() const { return now_; }                       // of the last line
  // Time of the first line, if its date is known: nanoseconds since 1970; otherwise 0.
  std::uint64_t began() const { return began_; }

 private:
  std::uint64_t step(const StraceStamp& stamp);

  std::uint64_t now_ = 0;
  std::uint64_t last_ = 0;  // time in the last line that had one
  bool timed_ = false, whole_seconds_ = true;
  bool past_midnight_ = false;  // the last line of the day before has been seen
  std::uint64_t began_ = 0;
};

// --- The threads in strace's output: the thread of each line, and its unfinished call.

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

// --- Finds the symbolic links whose reading strace's output shows.

inline constexpr std::uint64_t kLinesBetweenStops = 4096;  // interval of checks for a stop

struct StraceLink {
  std::string path;  // absolute
  std::string text;
};

// Links read by a complete path, in the order of the lines, except links that the trace creates or
// renames, or may do so. Programs often use a link first and read it later.
std::vector<StraceLink> find_strace_links(LineReader& input, const std::stop_token& stop);

}  // namespace filereel

// Parses one line of strace's output down to the arguments of the call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace filereel {

// The times before a call; there may be several.
struct StraceStamp {
  enum class Kind : std::uint8_t { none, epoch, day };  // -ttt; -t and -tt
  Kind kind = Kind::none;
  bool whole_seconds = false;                  // of `at_ns`
  std::uint64_t at_ns = 0;                     // since 1970, or since midnight
  std::optional<std::uint64_t> since_last_ns;  // -r
};

struct StraceLine {
  enum class Kind : std::uint8_t {
    call,        // name, text: everything after the opening parenthesis
    unfinished,  // the same, with the rest in a later line
    torn,        // the same, but other output cut the line off
    resumed,     // name, text: everything after "resumed>"
    ended,       // the thread has ended
    superseded,  // other: the thread whose execve replaced it
    attached,    // other: a thread that strace follows from now on
    stopped,     // by a signal
    continued,   // the same, at the end of the stop
    notice,      // other signals, and messages of strace
    garbled,
  };
  Kind kind = Kind::garbled;
  std::optional<std::uint32_t> thread;
  StraceStamp stamp;
  std::string_view name;
  std::string_view text;
  std::uint32_t other = 0;
  bool dumped_core = false;  // ended
};

StraceLine read_strace_line(std::string_view line);

// "strace: Process 7 attached" at the end of a line that it interrupts: the thread; `line` becomes
// the part before.
std::optional<std::uint32_t> cut_off_attached(std::string_view& line);

// The result of a call.
struct StraceResult {
  enum class Kind : std::uint8_t { number, error, unknown };  // unknown: "?"
  Kind kind = Kind::unknown;
  std::int64_t value = 0;  // -errno for an error
  std::string_view text;   // the complete result, which may contain a descriptor's path
  std::optional<std::uint64_t> duration_ns;  // -T
};

// The arguments of a call, as text.
class StraceArguments {
 public:
  static constexpr std::size_t kMost = 8;

  // Parses `text`, which starts after the opening parenthesis of the call. False without a closing
  // one followed by a result; the arguments found are kept.
  bool split(std::string_view text);

  std::size_t count() const { return count_; }
  // Empty beyond the last one.
  std::string_view operator[](std::size_t number) const {
    return number < count_ ? arguments_[number] : std::string_view();
  }
  const StraceResult& result() const { return result_; }

 private:
  bool read_result(std::string_view text);

  std::array<std::string_view, kMost> arguments_;
  std::size_t count_ = 0;
  StraceResult result_;
};

}  // namespace filereel

// One line of strace's text, taken apart down to the call's arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace filereel {

// What stands before a call about time; several may be there at once.
struct StraceStamp {
  enum class Kind : std::uint8_t { none, epoch, day };  // -ttt; -t and -tt
  Kind kind = Kind::none;
  bool whole_seconds = false;                  // of `at_ns`
  std::uint64_t at_ns = 0;                     // since 1970, or since midnight
  std::optional<std::uint64_t> since_last_ns;  // -r
};

struct StraceLine {
  enum class Kind : std::uint8_t {
    call,        // name, text: what follows the opening parenthesis
    unfinished,  // the same, the end of it comes later
    torn,        // the same, but the line ends within it: another text has cut it
    resumed,     // name, text: what follows "resumed>"
    ended,       // the thread is no more
    superseded,  // other: the thread whose execve made it this one
    attached,    // other: the thread that strace follows from now on
    notice,      // signals and what strace says of itself
    garbled,
  };
  Kind kind = Kind::garbled;
  std::optional<std::uint32_t> thread;
  StraceStamp stamp;
  std::string_view name;
  std::string_view text;
  std::uint32_t other = 0;
};

StraceLine read_strace_line(std::string_view line);

// "strace: Process 7 attached" at the end of a line that it cut in two: the thread, and `line` is
// what came before.
std::optional<std::uint32_t> cut_off_attached(std::string_view& line);

// What a call returned.
struct StraceResult {
  enum class Kind : std::uint8_t { number, error, unknown };  // unknown: "?"
  Kind kind = Kind::unknown;
  std::int64_t value = 0;                    // -errno for an error
  std::string_view text;                     // of it all, to look for a descriptor's path
  std::optional<std::uint64_t> duration_ns;  // -T
};

// The arguments of a call, as text.
class StraceArguments {
 public:
  static constexpr std::size_t kMost = 8;

  // Takes `text` apart, which begins behind the call's opening parenthesis. False if there is no
  // closing one with a result behind it; the arguments are those that are there.
  bool split(std::string_view text);

  std::size_t count() const { return count_; }
  // Empty if there are not so many.
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

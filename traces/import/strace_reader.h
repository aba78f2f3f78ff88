// From the text of a call to SystemCalls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traces/calls/system_call.h"
#include "traces/import/strace_calls.h"
#include "traces/import/strace_lexer.h"

namespace filereel {

// What could be read only nearly.
enum class StraceDoubt : std::uint8_t {
  cut_name,       // a name that -s cut off
  cut_text,       // another text that -s cut off: it is left out
  unknown_flag,   // a flag by a name that filereel does not know
  hidden_buffer,  // the sizes of buffers are not shown
  hidden_ring,    // io_uring, whose requests are not shown
  not_followed,   // a call that changes what names and descriptors mean: it is lost
};
inline constexpr std::size_t kStraceDoubts = 6;
std::string_view strace_doubt_name(StraceDoubt doubt);

class StraceReader {
 public:
  enum class Outcome : std::uint8_t {
    read,          // calls() are what it says
    no_file_call,  // not about files
    no_path,       // the path is not shown
    torn,          // the text ends before the call does
    cut_off,       // it has no result: its thread was ended
  };

  // `text` is what follows the call's opening parenthesis. Of the calls, thread and times are the
  // caller's.
  Outcome read(const StraceCall& call, std::string_view text);

  // The same for a call that has not returned: what is known of it is in calls()[0].
  Outcome read_beginning(const StraceCall& call, std::string_view text);

  // Until the next call of read(). One, but for io_submit and io_getevents.
  std::span<SystemCall> calls() { return {calls_.data(), count_}; }

  const StraceResult& result() const { return arguments_.result(); }
  const StraceArguments& arguments() const { return arguments_; }

  // How often so far.
  std::uint64_t doubts(StraceDoubt doubt) const { return doubts_[static_cast<std::size_t>(doubt)]; }

  // For those who finish a call (strace_finish.h): the value of a text, or of an argument; 0 if
  // there is none.
  std::uint64_t value(std::string_view text);
  std::uint64_t value(std::size_t argument) { return value(arguments_[argument]); }
  void doubt(StraceDoubt doubt) { ++doubts_[static_cast<std::size_t>(doubt)]; }
  bool succeeded() const;
  // An array of struct iovec.
  std::uint64_t sum_of_buffers(std::string_view text);
  // Another call of this line, like the first. References to earlier ones become invalid.
  SystemCall& another();
  // The path may be missing after all.
  void needs_no_path() { no_path_ = false; }
  // Takes back the first call: the line has none of its own.
  void drop_first();

 private:
  bool fill(const StraceCall& call);
  bool fill(char letter, std::string_view text, SystemCall& call);
  void read_stat(std::string_view text, SystemCall& call);
  bool read_path(std::string_view text, std::string& path);
  Outcome outcome(bool filled, bool about_files);

  StraceArguments arguments_;
  std::vector<SystemCall> calls_ = std::vector<SystemCall>(1);
  std::size_t count_ = 0;
  bool no_path_ = false, beginning_ = false;
  std::array<std::uint64_t, kStraceDoubts> doubts_{};
};

}  // namespace filereel

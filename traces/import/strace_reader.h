// Converts the text of a call to `SystemCall`s: arguments by their roles in the table of calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "traces/calls/call_arguments.h"
#include "traces/calls/call_table.h"
#include "traces/calls/system_call.h"
#include "traces/import/strace_lexer.h"

namespace filereel {

// Information that strace shows incompletely.
enum class StraceDoubt : std::uint8_t {
  cut_name,           // a name truncated by -s
  cut_text,           // another text truncated by -s: it is omitted
  hidden_buffer,      // the sizes of buffers are not shown
  hidden_ring,        // io_uring, with requests that are not shown
  hidden_request,     // a request of io_submit that is not shown
  hidden_completion,  // one found completed by io_getevents
};
inline constexpr std::size_t kStraceDoubts = 6;
std::string_view strace_doubt_name(StraceDoubt doubt);

class StraceReader {
 public:
  enum class Outcome : std::uint8_t {
    read,          // calls() has the calls
    no_file_call,  // unrelated to files
    no_path,       // the path is not shown
    torn,          // the text ends within the call
    cut_off,       // no result: its thread was killed
  };

  // `text` starts after the opening parenthesis of the call. The caller sets the threads and times
  // of the calls.
  Outcome read(const CallRow& row, std::string_view text);

  // The same for a call that has not returned: its known arguments are in calls()[0].
  Outcome read_beginning(const CallRow& row, std::string_view text);

  // Valid until the next call of read(). One call, except for io_submit and io_getevents.
  std::span<SystemCall> calls() { return {calls_.data(), count_}; }

  const StraceResult& result() const { return arguments_.result(); }
  const StraceArguments& arguments() const { return arguments_; }

  // Number of occurrences so far.
  std::uint64_t doubts(StraceDoubt doubt) const { return doubts_[static_cast<std::size_t>(doubt)]; }

  bool succeeded() const { return result().kind == StraceResult::Kind::number; }

 private:
  void doubt(StraceDoubt doubt) { ++doubts_[static_cast<std::size_t>(doubt)]; }

  Outcome decode(const CallRow& row, bool ended);
  // False if the call has no descriptor where it should.
  bool fill(const CallRow& row, CallArguments& to);
  // False if the text cannot be read.
  bool fill(Argument role, std::string_view text, CallArguments& to);
  void read_structure(const Structure& structure, std::string_view text, CallArguments& to);
  bool read_times(Argument role, std::string_view text, CallArguments& to);
  void read_socket_name(std::string_view text, CallArguments& to);
  void read_path(std::string_view text, std::string& path, CallArguments& to);
  void read_text(std::string_view text, CallArguments& to);
  void read_flags(std::string_view text, CallArguments& to);
  void read_link_text(std::string_view text, CallArguments& to);
  // For an array of struct iovec; `at_least` counts if strace does not show all elements. Nullopt
  // if one that is shown cannot be read.
  std::optional<std::uint64_t> sum_of_buffers(std::string_view text, std::uint64_t at_least);

  // strace_requests.cc: calls that strace combines in one line. False if there are none.
  bool read_others(bool succeeded);
  void read_submitted();
  bool read_submitted(std::string_view control_block, SystemCall& call);
  void read_completed();
  void read_process_descriptor();
  void read_foreign_descriptor();
  // Adds another call of this line.
  void add(SystemCall&& call);

  StraceArguments arguments_;
  std::vector<SystemCall> calls_ = std::vector<SystemCall>(1);
  std::size_t count_ = 0;
  std::array<std::uint64_t, kStraceDoubts> doubts_{};
};

}  // namespace filereel

// Reads text line by line, and the fields of a line, for importers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "filesets/system/descriptor.h"

namespace filereel {

// Text input, line by line, in bounded memory.
class LineReader {
 public:
  // "-" is standard input. Throws Error(failed) if it cannot be opened. Waits for a writer of a
  // pipe; a requested stop ends the input.
  explicit LineReader(const std::string& path, std::stop_token stop = {});
  // A pipe into which another program writes. Waits for its first bytes.
  LineReader(Descriptor input, std::string name);
  // The text itself; for tests. It outlives the reader.
  LineReader(std::string_view text, std::string name);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // The last line of next() had no newline: the input may be cut off within it.
  bool is_cut() const;
  // The next line without its newline, valid until the next call; false at the end. A line longer
  // than 16 MiB throws Error(unusable_input).
  bool next(std::string_view& line);

  // The first bytes of the input (up to 64 KiB, or the bytes available from a pipe), which next()
  // returns again.
  std::string_view peek();

  // The same input from its start; null if it can be read only once, such as a pipe.
  std::unique_ptr<LineReader> again() const;

  const std::string& name() const;
  std::uint64_t line() const;  // number of the last line returned, from 1

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The largest offset of a file.
inline constexpr std::uint64_t kLargestOffset = INT64_MAX;

// `line` without blanks, tabs and carriage returns at its end.
std::string_view trim_end(std::string_view line);

// Removes the last field of `line`, and the blanks before it, and returns it. Empty if there is
// none.
std::string_view take_last_field(std::string_view& line);

// Numbers as strtol reads them with base 0: -7, 0x40, 0600.
std::optional<std::int64_t> parse_any_base(std::string_view text);

// Throws Error(unusable_input) "NAME:LINE: what; what to do" for the last line read.
[[noreturn]] void reject_line(const LineReader& input, std::string_view what,
                              std::string_view what_to_do);

}  // namespace filereel

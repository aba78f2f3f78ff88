#include "traces/import/strace_lexer.h"

#include <cerrno>

#include "filesets/system/numbers.h"
#include "traces/import/strace_constants.h"
#include "traces/import/strace_text.h"

namespace filereel {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMostThreads = 1 << 22;  // Linux has no larger thread numbers
constexpr std::uint64_t kYears = 100'000'000;    // seconds: a larger number is a date
constexpr std::uint64_t kMostSeconds = UINT64_MAX / kSecond - 1;
constexpr std::string_view kUnfinished = "<unfinished ...>";

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '?';
}

// The rest of a line.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }

  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  void blanks() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool number(std::uint64_t& value) { return take_number(text_, value); }
  // ".123456", in nanoseconds; 0 if missing.
  std::uint64_t fraction() {
    if (text_.size() < 2 || text_[0] != '.' || !is_digit(text_[1])) return 0;
    std::uint64_t value = 0, unit = kSecond;
    std::size_t i = 1;
    for (; i < text_.size() && is_digit(text_[i]); ++i) {
      unit /= 10;
      value += unit * static_cast<unsigned>(text_[i] - '0');
    }
    text_.remove_prefix(i);
    return value;
  }
  void skip(std::size_t count) { text_.remove_prefix(count); }

 private:
  std::string_view text_;
};

// "123 ", "[pid 123] ", with "<name>" after the number if strace decodes it.
std::optional<std::uint32_t> read_thread(Rest& rest) {
  Rest here = rest;
  const bool brackets = here.take("[pid ");
  if (brackets) here.blanks();
  std::uint64_t value = 0;
  if (!here.number(value) || value >= kMostThreads) return std::nullopt;
  if (here.text().starts_with('<')) {
    const std::size_t end = here.text().find('>');
    if (end == kNone) return std::nullopt;
    here.skip(end + 1);
  }
  if (brackets ? !here.take("] ") : !here.take(" ")) return std::nullopt;
  rest = here;
  return static_cast<std::uint32_t>(value);
}

// "hh:mm:ss" or "seconds", either with a fraction. Without a fraction, only a date is accepted as
// seconds.
bool read_time(Rest& rest, StraceStamp& stamp) {
  Rest here = rest;
  here.blanks();
  std::uint64_t value = 0, minutes = 0, seconds = 0;
  if (!here.number(value) || value > kMostSeconds) return false;
  const bool day = here.take(":");
  if (day) {
    if (!here.number(minutes) || !here.take(":") || !here.number(seconds)) return false;
    if (value > 24 || minutes > 59 || seconds > 60) return false;
    value = (value * 60 + minutes) * 60 + seconds;
  }
  const bool whole = !here.text().starts_with('.');
  const std::uint64_t at = value * kSecond + here.fraction();
  if (!here.take(" ")) return false;
  if (day || value >= kYears) {
    stamp.kind = day ? StraceStamp::Kind::day : StraceStamp::Kind::epoch;
    stamp.whole_seconds = whole;
    stamp.at_ns = at;
  } else {
    if (whole) return false;
    stamp.since_last_ns = at;
  }
  rest = here;
  return true;
}

// "(+     0.000040) ", printed by -r together with another time.
void read_since_last(Rest& rest, StraceStamp& stamp) {
  Rest here = rest;
  if (!here.take("(+")) return;
  here.blanks();
  std::uint64_t seconds = 0;
  if (!here.number(seconds) || seconds > kMostSeconds) return;
  const std::uint64_t since = seconds * kSecond + here.fraction();
  if (!here.take(") ")) return;
  stamp.since_last_ns = since;
  rest = here;
}

// "[  59] ", "[00007fb9b6a9dad7] ": number of the call (-n), address of the caller (-i).
void skip_places(Rest& rest) {
  while (rest.text().starts_with('[')) {
    const std::size_t end = rest.text().find_first_not_of(" 0123456789abcdef?", 1);
    if (end == kNone || !rest.text().substr(end).starts_with("] ")) return;
    rest.skip(end + 2);
  }
}

void read_call(std::string_view text, StraceLine& line) {
  std::size_t end = 0;
  while (end < text.size() && is_name(text[end])) ++end;
  if (end == 0 || is_digit(text[0]) || end == text.size() || text[end] != '(') return;
  line.name = text.substr(0, end);
  line.text = text.substr(end + 1);
  line.kind = StraceLine::Kind::call;
  for (const std::string_view end_mark : {kUnfinished, std::string_view("<detached ...>")}) {
    if (!line.text.ends_with(end_mark)) continue;
    line.text.remove_suffix(end_mark.size());
    if (line.text.ends_with(' ')) line.text.remove_suffix(1);
    line.kind = StraceLine::Kind::unfinished;
    return;
  }
  // Every complete call has its result near the end. Arguments are parsed on demand.
  if (line.text.rfind(" = ") == kNone) line.kind = StraceLine::Kind::torn;
}

void read_body(Rest rest, StraceLine& line) {
  const std::string_view text = rest.text();
  std::uint64_t number = 0;
  if (rest.take("<... ")) {
    const std::size_t end = rest.text().find(" resumed>");
    if (end == kNone) return;
    line.kind = StraceLine::Kind::resumed;
    line.name = rest.text().substr(0, end);
    line.text = rest.text().substr(end + std::string_view(" resumed>").size());
  } else if (rest.take("+++ superseded by execve in pid ")) {
    if (!rest.number(number) || number >= kMostThreads) return;
    line.kind = StraceLine::Kind::superseded;
    line.other = static_cast<std::uint32_t>(number);
  } else if (text.starts_with("+++ exited with ") || text.starts_with("+++ killed by ")) {
    line.kind = StraceLine::Kind::ended;
    line.dumped_core = text.contains("(core dumped)");
  } else if (rest.take("strace: Process ") && rest.number(number) &&
             rest.text().starts_with(" attached") && number < kMostThreads) {
    line.kind = StraceLine::Kind::attached;
    line.other = static_cast<std::uint32_t>(number);
  } else if (text.starts_with("--- stopped by ")) {
    line.kind = StraceLine::Kind::stopped;
  } else if (text.starts_with("--- SIGCONT ")) {
    line.kind = StraceLine::Kind::continued;
  } else if (text.starts_with("--- ") || text.starts_with("strace: ") ||
             text.starts_with("[ Process ")) {
    line.kind = StraceLine::Kind::notice;
  } else {
    read_call(text, line);
  }
}

// "2 /* 22531 in strace's PID NS */": the number of a process for strace, if the program is in
// another namespace of processes (--pidns-translation).
std::optional<std::uint64_t> translated(std::string_view text) {
  constexpr std::string_view kBegin = " /* ";
  const std::size_t at = text.find(kBegin);
  if (at == kNone) return std::nullopt;
  Rest rest(text.substr(at + kBegin.size()));
  std::uint64_t number = 0;
  const bool is_it = rest.number(number) && rest.text().starts_with(" in strace's PID NS");
  return is_it ? std::optional(number) : std::nullopt;
}

}  // namespace

StraceLine read_strace_line(std::string_view text) {
  StraceLine line;
  Rest rest(text);
  line.thread = read_thread(rest);
  if (line.thread) rest.blanks();
  if (read_time(rest, line.stamp)) read_since_last(rest, line.stamp);
  skip_places(rest);
  read_body(rest, line);
  return line;
}

std::optional<std::uint32_t> cut_off_attached(std::string_view& line) {
  constexpr std::string_view kBegin = "strace: Process ";
  if (!line.ends_with(" attached")) return std::nullopt;
  const std::size_t at = line.rfind(kBegin);
  if (at == kNone || at == 0) return std::nullopt;
  Rest rest(line.substr(at + kBegin.size()));
  std::uint64_t number = 0;
  if (!rest.number(number) || rest.text() != " attached" || number >= kMostThreads) {
    return std::nullopt;
  }
  line = line.substr(0, at);
  return static_cast<std::uint32_t>(number);
}

bool StraceArguments::split(std::string_view text) {
  count_ = 0;
  result_ = StraceResult();
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && text[at] == ' ') ++at;
    const std::size_t end = strace_value_end(text, at);
    const bool closed = end < text.size() && text[end] != ',';
    if (count_ < kMost && (end > at || count_ > 0 || !closed)) {
      arguments_[count_++] = text.substr(at, end - at);
    }
    if (closed) return text[end] == ')' && read_result(text.substr(end + 1));
    at = end + 1;
  }
  return false;
}

bool StraceArguments::read_result(std::string_view text) {
  Rest rest(text);
  rest.blanks();
  if (!rest.take("= ")) return false;
  text = rest.text();
  if (text.ends_with('>')) {  // <0.000012>
    const std::size_t open = text.rfind(" <");
    Rest duration(open == kNone ? std::string_view() : text.substr(open + 2));
    std::uint64_t seconds = 0;
    if (duration.number(seconds) && seconds <= kMostSeconds) {
      const std::uint64_t value = seconds * kSecond + duration.fraction();
      if (duration.text() == ">") {
        result_.duration_ns = value;
        text = text.substr(0, open);
      }
    }
  }
  result_.text = text;
  if (text.starts_with('?')) return true;
  if (text.starts_with("-1 E")) {
    const std::string_view name = text.substr(3, text.substr(3).find(' '));
    const int error = strace_error(name);
    result_.kind = StraceResult::Kind::error;
    result_.value = -(error != 0 ? error : EIO);
    return true;
  }
  const std::optional<std::uint64_t> value = strace_value(text);
  if (!value) return false;
  result_.kind = StraceResult::Kind::number;
  result_.value = static_cast<std::int64_t>(translated(text).value_or(*value));
  return true;
}

}  // namespace filereel

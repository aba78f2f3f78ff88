#include "traces/import/line_reader.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/limits.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;
constexpr std::size_t kPeek = std::size_t{64} << 10;
constexpr std::size_t kLongestLine = std::size_t{16} << 20;
constexpr useconds_t kPauseUs = 5000;  // a pipe of 1 MiB does not fill up in this time
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr int kLargestWindowLog = 27;  // zstd's own limit without --long

struct FreeDStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

}  // namespace

struct LineReader::State {
  std::string name;
  std::uint64_t line = 0;
  bool is_cut = false;  // the last line

  Descriptor opened;
  int fd = -1;  // -1: `text` has the whole input
  bool compressed = false;
  bool grows = false;    // another program is writing it
  bool drained = false;  // the last read emptied it
  std::stop_token stop;
  std::unique_ptr<ZSTD_DStream, FreeDStream> stream;
  bool between_frames = true;
  std::vector<char> raw;  // compressed bytes; those from `raw_at` to `raw_end` are unread
  std::size_t raw_at = 0, raw_end = 0;

  std::vector<char> buffer;  // text; the part before `begin` was returned
  std::size_t begin = 0, end = 0;
  std::string_view text;  // without a file
  bool ended = false;     // no more text after `end`

  std::string_view rest() const {
    return fd < 0 ? text.substr(begin) : std::string_view(buffer.data() + begin, end - begin);
  }
  void fill();
  bool wait() const;
  std::size_t read_file(char* into, std::size_t size);
  std::size_t decompress(char* into, std::size_t size);
  void begin_file();
};

// Waits for input or its end; false if the stop is requested before.
bool LineReader::State::wait() const {
  constexpr int kLookMs = 50;  // maximum delay of a stop
  pollfd input{fd, POLLIN, 0};
  while (!stop.stop_requested()) {
    if (::poll(&input, 1, kLookMs) != 0) return true;
  }
  return false;
}

std::size_t LineReader::State::read_file(char* into, std::size_t size) {
  // Lets the writer wake up this process less often.
  if (grows && drained) usleep(kPauseUs);
  while (grows || wait()) {
    const ssize_t got = ::read(fd, into, size);
    drained = got >= 0 && static_cast<std::size_t>(got) < size;
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR || errno == EAGAIN) continue;
    throw Error(ErrorKind::failed,
                fmt::format("cannot read {}: {}", printable(name), error_text(errno)));
  }
  return 0;
}

void LineReader::State::begin_file() {
  raw.resize(kBlock);
  while (raw_end < kZstdMagic.size()) {
    const std::size_t got = read_file(raw.data() + raw_end, raw.size() - raw_end);
    if (got == 0) break;
    raw_end += got;
  }
  compressed = std::string_view(raw.data(), raw_end).starts_with(kZstdMagic);
  if (compressed) {
    stream.reset(ZSTD_createDStream());
    if (stream == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kLargestWindowLog);
  } else {
    buffer.assign(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(raw_end));
    end = raw_end;
    raw = {};
  }
}

// Reads at least one byte; returns 0 at the end.
std::size_t LineReader::State::decompress(char* into, std::size_t size) {
  ZSTD_outBuffer out{into, size, 0};
  while (out.pos == 0) {
    if (raw_at == raw_end) {
      raw_at = 0;
      raw_end = read_file(raw.data(), raw.size());
      if (raw_end == 0) {
        if (between_frames || stop.stop_requested()) return 0;
        throw Error(ErrorKind::unusable_input,
                    fmt::format("{}:{}: unexpected end of zstd data; the file is truncated, create "
                                "or copy it again",
                                printable(name), line + 1));
      }
    }
    ZSTD_inBuffer in{raw.data(), raw_end, raw_at};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
    raw_at = in.pos;
    if (ZSTD_isError(left) != 0) {
      throw Error(
          ErrorKind::unusable_input,
          fmt::format(
              "{}:{}: corrupt zstd data ({}); unpack it with zstd -d to see what can be recovered",
              printable(name), line + 1, zstd_failure(left)));
    }
    between_frames = left == 0;
  }
  return out.pos;
}

// Reads more after `end`.
void LineReader::State::fill() {
  if (begin > 0) {
    std::memmove(buffer.data(), buffer.data() + begin, end - begin);
    end -= begin;
    begin = 0;
  }
  if (buffer.size() < end + kBlock) buffer.resize(std::max(end + kBlock, buffer.size() * 2));
  char* const into = buffer.data() + end;
  const std::size_t size = buffer.size() - end;
  const std::size_t got = compressed ? decompress(into, size) : read_file(into, size);
  end += got;
  ended = got == 0;
}

LineReader::LineReader(const std::string& path, std::stop_token stop)
    : state_(std::make_unique<State>()) {
  state_->name = path == "-" ? "standard input" : path;
  state_->stop = std::move(stop);
  if (path == "-") {
    state_->fd = STDIN_FILENO;
  } else {
    state_->opened.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    state_->fd = state_->opened.get();
    if (state_->fd < 0) {
      throw Error(ErrorKind::failed,
                  fmt::format("cannot open {}: {}", printable(path), error_text(errno)));
    }
  }
  state_->begin_file();
}

LineReader::LineReader(Descriptor input, std::string name) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->fd = input.get();
  state_->opened = std::move(input);
  state_->grows = true;
  state_->begin_file();
}

LineReader::LineReader(std::string_view text, std::string name)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->text = text;
  state_->ended = true;
}

LineReader::~LineReader() = default;

bool LineReader::next(std::string_view& line) {
  State& state = *state_;
  std::size_t searched = 0;
  std::string_view rest = state.rest();
  std::size_t length = rest.find('\n');
  while (length == std::string_view::npos && !state.ended) {
    searched = rest.size();
    if (searched > kLongestLine) break;
    state.fill();
    rest = state.rest();
    length = rest.find('\n', searched);
  }
  const bool whole = length != std::string_view::npos;
  state.is_cut = !whole;
  if (!whole) length = rest.size();
  if (length > kLongestLine) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}:{}: line longer than 16 MiB; this is not a text trace",
                            printable(state.name), state.line + 1));
  }
  if (!whole && rest.empty()) return false;
  line = rest.substr(0, length);
  state.begin += length + (whole ? 1 : 0);
  ++state.line;
  return true;
}

bool LineReader::is_cut() const {
  return state_->is_cut;
}

std::string_view LineReader::peek() {
  while (!state_->ended && state_->rest().size() < kPeek) {
    if (state_->grows && !state_->rest().empty()) break;
    state_->fill();
  }
  return state_->rest().substr(0, kPeek);
}

std::unique_ptr<LineReader> LineReader::again() const {
  if (state_->fd < 0) return std::make_unique<LineReader>(state_->text, state_->name);
  struct stat status{};
  const bool file = ::fstat(state_->fd, &status) == 0 && S_ISREG(status.st_mode);
  return file && state_->fd != STDIN_FILENO
             ? std::make_unique<LineReader>(state_->name, state_->stop)
             : nullptr;
}

const std::string& LineReader::name() const {
  return state_->name;
}

std::uint64_t LineReader::line() const {
  return state_->line;
}

namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

std::string_view trim_end(std::string_view line) {
  return line.substr(0, line.find_last_not_of(kBlanks) + 1);
}

std::string_view take_last_field(std::string_view& line) {
  line = trim_end(line);
  const std::size_t begin = line.find_last_of(kBlanks) + 1;
  const std::string_view field = line.substr(begin);
  line = trim_end(line.substr(0, begin));
  return field;
}

std::optional<std::int64_t> parse_any_base(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  if (text.starts_with('-')) return std::nullopt;
  const std::optional<std::int64_t> value = parse_number<std::int64_t>(text, base);
  return value && negative ? -*value : value;
}

void reject_line(const LineReader& input, std::string_view what, std::string_view what_to_do) {
  throw Error(ErrorKind::unusable_input, fmt::format("{}:{}: {}; {}", printable(input.name()),
                                                     input.line(), what, what_to_do));
}

}  // namespace filereel

#include "traces/import/io_riot.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sched.h>

#include "filesets/system/numbers.h"
#include "filesets/system/search.h"
#include "traces/calls/call_resolver.h"
#include "traces/import/fields.h"

namespace filereel {
namespace {

// Separates fields and ends lines. It is long so that damaged lines are noticed: SystemTap loses
// some under load.
constexpr std::string_view kSeparator = ";:,";
constexpr std::string_view kLetters = "abcdfimoOpPstADFGTW";

constexpr std::uint64_t kMostDamaged = 20;      // lines at the start: then it is no capture
constexpr std::uint64_t kUnknownLength = 4096;  // assumed request if nothing was transferred
constexpr std::uint64_t kThread =
    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

// The values of a line by their letters.
class Values {
 public:
  // False if the line is damaged.
  bool parse(std::string_view line) {
    while (!line.empty()) {
      const std::size_t end = line.find(kSeparator);
      const bool whole = end != line.npos;
      const std::string_view field = line.substr(0, end);
      line.remove_prefix(whole ? end + kSeparator.size() : line.size());
      if (field.size() < 2 || field[1] != '=') return false;
      const std::size_t letter = kLetters.find(field[0]);
      if (letter == kLetters.npos || values_[letter]) return false;
      if (!whole && field[0] != 'c') return false;  // no separator after readahead's count
      values_[letter] = field.substr(2);
    }
    return true;
  }

  std::optional<std::string_view> text(char letter) const { return values_[kLetters.find(letter)]; }

  std::optional<std::int64_t> number(char letter) const {
    const std::optional<std::string_view> value = text(letter);
    return value ? parse_number<std::int64_t>(*value) : std::nullopt;
  }

 private:
  std::array<std::optional<std::string_view>, kLetters.size()> values_;
};

struct CapturedCall {
  std::string_view name;  // SystemTap's name
  Call call;
  char result;  // letter of the returned value
  // The values of the call: d the descriptor, p and P paths, f flags, m mode, O offset, b and c
  // length, W origin of a seek, G the second number of an owner, a an address.
  std::string_view values;
  std::uint64_t flags = 0;  // in addition to those of the line
};

constexpr std::uint64_t kCreat = O_CREAT | O_WRONLY | O_TRUNC;
constexpr CapturedCall kCalls[] = {
    {"open", Call::open, 'd', "pfm"},
    {"openat", Call::open, 'd', "pfm"},
    {"creat", Call::open, 'd', "pm", kCreat},
    {"close", Call::close, 's', "d"},
    {"read", Call::read, 'b', "d"},
    {"readv", Call::read, 'b', "d"},
    {"write", Call::write, 'b', "d"},
    {"writev", Call::write, 'b', "d"},
    {"lseek", Call::seek, 'b', "dOW"},
    {"llseek", Call::seek, 'b', "dOW"},
    {"fcntl", Call::set_flags, 's', "d"},
    {"fsync", Call::fsync, 's', "d"},
    {"fdatasync", Call::fdatasync, 's', "d"},
    {"sync_file_range", Call::sync_file_range, 's', "dOb"},
    {"sync", Call::sync, 's', ""},
    {"syncfs", Call::syncfs, 's', "d"},
    {"readahead", Call::readahead, 'b', "dOc"},
    {"stat", Call::stat, 's', "p"},
    {"lstat", Call::stat, 's', "p", AT_SYMLINK_NOFOLLOW},
    {"fstat", Call::fstat, 's', "d"},
    {"fstatat", Call::stat, 's', "pf"},
    {"statfs", Call::statfs, 's', "p"},
    {"statfs64", Call::statfs, 's', "p"},
    {"fstatfs", Call::fstatfs, 's', "d"},
    {"fstatfs64", Call::fstatfs, 's', "d"},
    {"readlink", Call::readlink, 's', "p"},
    {"readlinkat", Call::readlink, 's', "p"},
    {"readdir", Call::getdents, 's', "d"},
    {"getdents", Call::getdents, 'b', "dc"},
    {"mkdir", Call::mkdir, 's', "pm"},
    {"mkdirat", Call::mkdir, 's', "pm"},
    {"rmdir", Call::rmdir, 's', "p"},
    {"unlink", Call::unlink, 's', "p"},
    {"unlinkat", Call::unlink, 's', "pf"},
    {"rename", Call::rename, 's', "pP"},
    {"renameat", Call::rename, 's', "pP"},
    {"renameat2", Call::rename, 's', "pP"},
    {"chmod", Call::chmod, 's', "pm"},
    {"fchmodat", Call::chmod, 's', "pm"},
    {"fchmod", Call::fchmod, 's', "dm"},
    {"chown", Call::chown, 's', "pOG"},
    {"chown16", Call::chown, 's', "pOG"},
    {"lchown", Call::chown, 's', "pOG", AT_SYMLINK_NOFOLLOW},
    {"lchown16", Call::chown, 's', "pOG", AT_SYMLINK_NOFOLLOW},
    {"fchown", Call::fchown, 's', "dOG"},
    {"fchown16", Call::fchown, 's', "dOG"},
    {"fchownat", Call::chown, 's', "pOGf"},
    {"mmap2", Call::mmap, 'A', "ambfdO"},
    {"munmap", Call::munmap, 's', "ab"},
    {"msync", Call::msync, 's', "abf"},
    {"exit_group", Call::exit_group, 0, ""},
};

// SystemTap puts quotes around paths.
std::string unquote(std::string_view path) {
  if (path.size() >= 2 && path.front() == '"' && path.back() == '"') {
    path = path.substr(1, path.size() - 2);
  }
  return std::string(path);
}

// False if a value is missing or not a number.
bool fill(const CapturedCall& captured, const Values& values, SystemCall& call) {
  for (const char letter : captured.values) {
    if (letter == 'p' || letter == 'P') {
      const std::optional<std::string_view> path = values.text(letter);
      if (!path || path->empty()) return false;
      (letter == 'p' ? call.path : call.path2) = unquote(*path);
      continue;
    }
    const std::optional<std::int64_t> number = values.number(letter);
    if (!number) return false;
    const auto value = static_cast<std::uint64_t>(*number);
    switch (letter) {
      case 'd':
        if (*number < INT32_MIN || *number > INT32_MAX) return false;
        call.fd = static_cast<int>(*number);
        break;
      case 'f':
      case 'W':
        // SystemTap writes them as signed 32-bit numbers.
        call.flags |= static_cast<std::uint32_t>(value);
        break;
      case 'm':
        call.mode = static_cast<std::uint32_t>(value);
        break;
      case 'O':
        call.offset = value;
        break;
      case 'G':
        call.offset2 = static_cast<std::uint32_t>(value);
        break;
      case 'a':
        call.address = value;
        break;
      default:
        call.length = value;
    }
  }
  call.flags |= captured.flags;
  if (captured.result != 0) {
    const std::optional<std::int64_t> result = values.number(captured.result);
    if (!result) return false;
    call.result = *result;
  }
  return true;
}

class Capture {
 public:
  Capture(LineReader& input, TraceBuilder& builder, const ImportOptions& options)
      : input_(input),
        builder_(builder),
        options_(options),
        resolver_(builder, {.working_directory = options.working_directory}) {}

  bool read() {
    builder_.fact("source", "I/O Riot");
    std::string_view text;
    bool any = false;
    std::uint64_t damaged = 0;
    while (input_.next(text)) {
      if (input_.line() % 1024 == 0 && options_.stop.stop_requested()) return false;
      text = trim_end(text);
      if (text.empty() || text.starts_with('#')) continue;
      if (line(text)) {
        any = true;
      } else {
        builder_.lost("corrupt lines");
        if (!any && ++damaged == kMostDamaged) reject();
      }
    }
    if (!any) reject();
    resolver_.finish(now_ns_);
    return true;
  }

 private:
  using Descriptor = std::pair<std::uint32_t, int>;  // a process and a number

  [[noreturn]] void reject() const {
    reject_line(input_, "no intact line of an I/O Riot capture",
                "pass a capture file (ioriot -c), not a replay file");
  }

  // False if the line is damaged.
  bool line(std::string_view text) {
    Values values;
    if (text.find('\0') != text.npos || !values.parse(text)) return false;
    SystemCall call;
    if (!take_thread(values, call) || !take_time(values, call)) return false;
    const std::optional<std::string_view> name = values.text('o');
    if (!name) return false;
    if (*name == "mremap") {
      builder_.lost("changes of mapping sizes");
      return true;
    }
    const CapturedCall* const captured = find_or_null(kCalls, *name, &CapturedCall::name);
    if (!captured) return false;
    call.call = captured->call;
    call.name = captured->name;
    if (!fill(*captured, values, call) || !finish(*name, values, call)) return false;
    now_ns_ = call.exit_ns;
    if (is_about_known_files(call)) {
      begin_thread(call);
      resolver_.returned(call);
      follow(call);
    }
    return true;
  }

  bool take_thread(const Values& values, SystemCall& call) {
    const std::string_view both = values.text('i').value_or("");
    const std::size_t colon = std::min(both.find(':'), both.size());
    const auto process = parse_number<std::uint64_t>(both.substr(0, colon));
    const auto thread = parse_number<std::uint64_t>(both.substr(std::min(both.size(), colon + 1)));
    if (!process || !thread || *process == 0 || *thread == 0) return false;
    if (std::max(*process, *thread) > std::numeric_limits<std::int32_t>::max()) return false;
    process_ = static_cast<std::uint32_t>(*process);
    call.thread = static_cast<std::uint32_t>(*thread);
    return true;
  }

  bool take_time(const Values& values, SystemCall& call) {
    const std::string_view text = values.text('t').value_or("");
    const auto ms = parse_number<std::uint64_t>(text);
    if (!ms || *ms > kLargestOffset / 1'000'000) return false;
    if (!began_ms_) began_ms_ = ms;
    const std::uint64_t since_ms = *ms - std::min(*ms, *began_ms_);
    call.enter_ns = call.exit_ns = std::max(now_ns_, since_ms * 1'000'000);
    return true;
  }

  // Cases that the table cannot express.
  bool finish(std::string_view name, const Values& values, SystemCall& call) {
    switch (call.call) {
      case Call::read:
      case Call::write:
        if (call.result > 0) {
          call.length = static_cast<std::uint64_t>(call.result);
        } else {
          call.length = kUnknownLength;
          builder_.approximated("lengths of reads and writes that transferred nothing");
        }
        return true;
      case Call::getdents:
        if (name == "readdir") call.length = kUnknownLength;
        return true;
      case Call::sync_file_range:
        call.flags =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
        return true;
      case Call::chown:
      case Call::fchown:
        call.offset = static_cast<std::uint32_t>(*call.offset);
        return true;
      case Call::unlink:
        if ((call.flags & AT_REMOVEDIR) != 0) call.call = Call::rmdir;
        return true;
      case Call::mmap:
        if (*call.offset > kLargestOffset / 4096) return false;
        call.offset = *call.offset * 4096;  // mmap2 counts pages
        if (call.fd < 0) call.fd = SystemCall::kNone;
        return true;
      case Call::set_flags:
        return finish_fcntl(values, call);
      default:
        return true;
    }
  }

  static bool finish_fcntl(const Values& values, SystemCall& call) {
    const auto command = values.number('F'), argument = values.number('G');
    if (!command || !argument) return false;
    call.flags = static_cast<std::uint32_t>(*argument);
    if (*command == F_DUPFD || *command == F_DUPFD_CLOEXEC) {
      call.call = Call::dup;
      call.flags = *command == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
    } else if (*command == F_SETFD) {
      call.call = Call::set_cloexec;
      call.flags &= FD_CLOEXEC;
    } else if (*command != F_SETFL) {
      call.fd = SystemCall::kNone;  // a query, or unrelated to the file
    }
    return true;
  }

  // Captures do not show earlier opens, or which descriptors are sockets or pipes.
  bool is_about_known_files(const SystemCall& call) {
    if (call.call == Call::mmap && call.fd < 0) return true;  // may replace mapped files
    const bool names_descriptor = call.fd != SystemCall::kNone && call.call != Call::open;
    if (!names_descriptor) return call.call != Call::set_flags;
    if (open_.contains({process_, call.fd})) return true;
    if (call.call != Call::close) builder_.lost("calls on descriptors with no recorded open");
    return false;
  }

  // I/O Riot captures no clone: a new number within a process is a new thread of it.
  void begin_thread(const SystemCall& call) {
    if (call.thread == process_ || !threads_.insert({process_, call.thread}).second) return;
    SystemCall fork;
    fork.call = Call::fork;
    fork.thread = process_;
    fork.enter_ns = fork.exit_ns = call.enter_ns;
    fork.result = call.thread;
    fork.flags = kThread;
    resolver_.returned(fork);
  }

  void follow(const SystemCall& call) {
    const bool opens = call.call == Call::open || call.call == Call::dup;
    if (opens && call.result >= 0 && call.result <= INT32_MAX) {
      open_.insert({process_, static_cast<int>(call.result)});
    } else if (call.call == Call::close) {
      open_.erase({process_, call.fd});
    } else if (call.call == Call::exit_group) {
      erase_process(open_);
      erase_process(threads_);
    }
  }

  template <typename Number>
  void erase_process(std::set<std::pair<std::uint32_t, Number>>& all) const {
    all.erase(all.lower_bound({process_, std::numeric_limits<Number>::min()}),
              all.upper_bound({process_, std::numeric_limits<Number>::max()}));
  }

  LineReader& input_;
  TraceBuilder& builder_;
  const ImportOptions& options_;
  CallResolver resolver_;
  std::optional<std::uint64_t> began_ms_;
  std::uint64_t now_ns_ = 0;
  std::uint32_t process_ = 0;  // of the line
  std::set<Descriptor> open_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> threads_;
};

// Recognised by the first line that is not a comment.
bool recognises_capture(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = trim_end(beginning.substr(0, end));
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.starts_with("#|capture_version=")) return true;
    if (line.empty() || line.starts_with('#')) continue;
    Values values;
    return values.parse(line) && values.number('t') && values.text('i') && values.text('o');
  }
  return false;
}

bool read_capture(LineReader& input, TraceBuilder& builder, const ImportOptions& options) {
  return Capture(input, builder, options).read();
}

constexpr Importer kIoRiotImporter = {
    .name = "ioriot",
    .description = "I/O Riot capture files (ioriot -c)",
    .timed = true,
    .time_unit_ns = 1'000'000,
    .recognises = recognises_capture,
    .read = read_capture,
};

}  // namespace

const Importer& io_riot_importer() {
  return kIoRiotImporter;
}

}  // namespace filereel

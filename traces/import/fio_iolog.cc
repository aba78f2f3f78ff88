// Reads the logs of fio (write_iolog): files, offsets and lengths. Version 3 also has times.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "traces/import/importers.h"
#include "traces/import/line_reader.h"

namespace filereel {
namespace {

constexpr std::string_view kMagic = "fio version ";
constexpr std::string_view kMagicEnd = " iolog";
// A log has files, offsets and lengths alone.
constexpr std::string_view kUnknownSettings =
    "reads and writes of a job whose direct, sync, iodepth and ioengine are unknown, because an "
    "iolog does not hold them (replayed through the page cache, one at a time)";
constexpr std::uint64_t kLogBlock = 4096;  // of the C library's output, on most file systems

struct Action {
  std::string_view name;
  OperationKind kind;
  bool ranged;  // an offset and a length follow
};
constexpr Action kActions[] = {
    {"open", OperationKind::open, false},
    {"close", OperationKind::close, false},
    {"read", OperationKind::read, true},
    {"write", OperationKind::write, true},
    {"sync", OperationKind::sync, true},
    {"datasync", OperationKind::sync_data, true},
    {"sync_file_range", OperationKind::sync_range, true},
    {"syncfs", OperationKind::sync_volume, true},
    {"trim", OperationKind::allocate, true},
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// A line without its time.
struct Fields {
  std::string_view file, action;
  std::uint64_t offset = 0, length = 0;
  bool ranged = false;
};

// Whether a line without a newline is whole all the same: a number or a word could be a part of
// one.
bool ends_with_word(std::string_view text) {
  return text.ends_with(" open") || text.ends_with(" close") || text.ends_with(" add");
}

class Iolog {
 public:
  Iolog(LineReader& input, TraceBuilder& builder, const ImportOptions& options)
      : input_(input), builder_(builder), options_(options) {}

  bool read() {
    builder_.fact("source", "fio");
    builder_.add_thread({.process = 1, .thread = 1, .name = "fio"});
    std::string_view text;
    while (input_.next(text)) {
      if (input_.line() % 1024 == 0 && options_.stop.stop_requested()) return false;
      line_begin_ = next_line_;
      next_line_ += text.size() + 1;
      text = trim_end(text);
      if (begin_part(text) || text.empty()) continue;
      if (input_.is_cut() && !ends_with_word(text)) {
        builder_.lost("a last line that is cut off");
        continue;
      }
      line(text);
    }
    if (version_ == 0) {
      throw_not_an_iolog();
    }
    if (transfers_ > 0) builder_.approximated(kUnknownSettings, transfers_);
    return true;
  }

 private:
  // The header line. Each job writes one, and fio appends to an existing log.
  bool begin_part(std::string_view text) {
    const std::size_t magic = text.find(kMagic);
    if (magic != text.npos && text.ends_with(kMagicEnd)) {
      // A job closes its files at the end of its part.
      if (version_ != 0 && (magic != 0 || open_files_ > 0)) reject_torn();
      text.remove_prefix(kMagic.size());
      text.remove_suffix(std::min(text.size(), kMagicEnd.size()));
      if (text != "2" && text != "3") {
        reject(fmt::format("unsupported iolog version {}", printable(text)),
               "record with fio 1.17 or later to get version 2 or 3");
      }
      if (version_ != 0) {
        builder_.approximated("further jobs or runs of fio in one log (replayed in sequence)");
      }
      version_ = text == "2" ? 2 : 3;
      builder_.fact("format", fmt::format("iolog version {}", version_));
      began_ns_ = now_ns_;
      return true;
    }
    if (version_ == 0) throw_not_an_iolog();
    return false;
  }

  // Jobs that write to one log at once write blocks of some kB, which end in the middle of lines.
  [[noreturn]] void reject_torn() const {
    reject_line(input_, "several jobs wrote this log at once, which tears its lines",
                "record each job alone, with numjobs=1 and a write_iolog of its own, import each "
                "log, and join the reels with \"filereel merge\"");
  }

  // Anything wrong with a line. At the end of such a block, the reason is probably the above.
  [[noreturn]] void reject(std::string_view what, std::string_view what_to_do) const {
    const bool torn =
        next_line_ / kLogBlock != line_begin_ / kLogBlock && line_begin_ % kLogBlock != 0;
    if (torn && version_ != 0) reject_torn();
    reject_line(input_, what, what_to_do);
  }

  [[noreturn]] void throw_not_an_iolog() const {
    reject("not a fio iolog",
           "the first line must be \"fio version 2 iolog\" or \"fio version 3 iolog\"");
  }

  void line(std::string_view text) {
    if (text.find('\0') != text.npos) {
      reject("unexpected NUL byte", "the log is corrupt");
    }
    if (version_ == 3) take_time(text);
    const Fields fields = split(text);
    if (fields.action == "wait") {
      wait(fields.offset);
      return;
    }
    const PathId path = name(fields.file);
    std::vector<FileSlot>& open = open_[path];
    if (fields.action == "add") return;
    const Action* action = std::ranges::find(kActions, fields.action, &Action::name);

    RecordedOperation made;
    made.start_ns = now_ns_;
    Operation& operation = made.operation;
    operation.kind = action->kind;
    if (operation.kind == OperationKind::open) {
      operation.path = path;
      operation.file = builder_.take_slot();
      operation.flags = O_RDWR;  // fio creates its files before it starts
      builder_.add(made);
      open.push_back(operation.file);
      ++open_files_;
      return;
    }
    if (open.empty()) {
      reject(fmt::format("\"{}\" is not open", printable(fields.file)),
             "its \"open\" line is missing");
    }
    operation.file = open.back();
    if (fields.ranged) fill_range(fields, operation);
    builder_.add(made);
    if (operation.kind == OperationKind::close) {
      builder_.free_slot(operation.file);
      open.pop_back();
      --open_files_;
    }
  }

  // Sets the members used by the kind.
  void fill_range(const Fields& fields, Operation& operation) {
    switch (operation.kind) {
      case OperationKind::read:
      case OperationKind::write:
        check_range(fields, kMaxTransfer);
        ++transfers_;
        operation.expected = static_cast<std::int64_t>(fields.length);
        break;
      case OperationKind::sync_range:
        check_range(fields, kLargestOffset);
        operation.flags =
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
        break;
      case OperationKind::allocate:
        check_range(fields, kLargestOffset);
        if (fields.length == 0) reject("trim of zero bytes", "remove the line");
        operation.flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
        builder_.approximated("trims (replayed as punched holes)");
        break;
      default:
        return;  // the range is ignored
    }
    operation.offset = fields.offset;
    operation.length = fields.length;
  }

  void check_range(const Fields& fields, std::uint64_t most) const {
    if (fields.length > most) {
      reject(fmt::format("length of {} is out of range", counted(fields.length, "byte")),
             fmt::format("the limit for one call is {}", most));
    }
    if (fields.offset > kLargestOffset - fields.length) {
      reject(fmt::format("offset {} is out of range", fields.offset), "files end at 2^63 - 1");
    }
  }

  void take_time(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto us = parse_number<std::uint64_t>(text.substr(0, end));
    if (!us || *us > kLargestOffset / 1000) {
      reject(fmt::format("invalid time \"{}\"", printable(text.substr(0, end))),
             "lines of version 3 start with microseconds");
    }
    advance(began_ns_, *us);
    text.remove_prefix(std::min(text.size(), end + 1));
  }

  // Times never decrease: jobs that write to one log are one thread here.
  void advance(std::uint64_t from_ns, std::uint64_t us) {
    if (us > (kLargestOffset - from_ns) / 1000) {
      reject("time after the year 2200", "the log is corrupt");
    }
    now_ns_ = std::max(now_ns_, from_ns + us * 1000);
  }

  void wait(std::uint64_t us) {
    if (version_ == 3) {
      reject("unexpected \"wait\" in an iolog of version 3, which has times", "remove the line");
    }
    advance(now_ns_, us);
  }

  // Read from the end: names may contain blanks.
  Fields split(std::string_view text) const {
    Fields fields;
    std::string_view rest = text;
    fields.action = take_last_field(rest);
    if (const auto last = parse_number<std::uint64_t>(fields.action)) {
      const std::string_view offset = take_last_field(rest);
      fields.action = take_last_field(rest);
      fields.offset = number(offset);
      fields.length = *last;
      fields.ranged = true;
    }
    fields.file = rest;
    const Action* action = std::ranges::find(kActions, fields.action, &Action::name);
    const bool known = action != std::end(kActions) || fields.action == "add" ||
                       (fields.ranged && fields.action == "wait");
    if (!known) {
      reject(fmt::format("unknown action \"{}\"", printable(fields.action)),
             "expected add, open, close, or read, write, sync, datasync, trim or wait with "
             "offset and length");
    }
    if (fields.ranged !=
        (fields.action == "wait" || (action != std::end(kActions) && action->ranged))) {
      reject(fmt::format("wrong number of fields for \"{}\"", fields.action),
             "expected \"FILE ACTION\" or \"FILE ACTION OFFSET LENGTH\"");
    }
    return fields;
  }

  std::uint64_t number(std::string_view text) const {
    const auto value = parse_number<std::uint64_t>(text);
    if (!value) {
      reject(fmt::format("invalid number of bytes \"{}\"", printable(text)),
             "expected 0 to 2^63 - 1");
    }
    return *value;
  }

  PathId name(std::string_view file) {
    const auto known = names_.find(file);
    if (known != names_.end()) return known->second;
    const PathId path = builder_.path(file.starts_with('/')
                                          ? std::string(file)
                                          : fmt::format("{}/{}", options_.working_directory, file));
    if (builder_.tables().paths.is_root(path)) {
      reject(fmt::format("\"{}\" is not a file name", printable(file)),
             "lines start with the name of a file");
    }
    names_.emplace(file, path);
    return path;
  }

  LineReader& input_;
  TraceBuilder& builder_;
  const ImportOptions& options_;
  int version_ = 0;                               // none read yet
  std::uint64_t line_begin_ = 0, next_line_ = 0;  // offsets in the log
  std::uint64_t open_files_ = 0, transfers_ = 0;
  std::uint64_t began_ns_ = 0, now_ns_ = 0;
  std::unordered_map<std::string, PathId, TextHash, std::equal_to<>> names_;
  std::unordered_map<PathId, std::vector<FileSlot>> open_;  // the last one is in use
};

bool recognises_iolog(std::string_view beginning) {
  return beginning.starts_with(kMagic);
}

bool read_iolog(LineReader& input, TraceBuilder& builder, const ImportOptions& options) {
  return Iolog(input, builder, options).read();
}

constexpr Importer kFioImporter = {
    .name = "fio",
    .description = "fio iologs, versions 2 and 3 (fio --write_iolog)",
    .timed = true,
    .time_unit_ns = 1000,
    .recognises = recognises_iolog,
    .read = read_iolog,
};

}  // namespace

const Importer& fio_importer() {
  return kFioImporter;
}

}  // namespace filereel

// Reads the load files of dbench: an operation on each line (`NTCreateX`, `WriteX` …), with handles
// of files. DbenchClient turns them into operations of a trace.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"
#include "traces/import/dbench_client.h"
#include "traces/import/importers.h"
#include "traces/import/line_reader.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestName = 4095;  // longer ones cannot be opened
constexpr double kLatestSecond = 9e9;
constexpr std::int64_t kLongestSleepUs = 1'000'000'000'000;
constexpr std::int64_t kFailed = -1;  // handle of an NTCreateX that failed, in dbench 2

// The part of a line after the operation's name.
struct LoadLine {
  std::array<std::string, 2> names;
  std::int64_t handle = 0;
  std::uint64_t offset = 0, length = 0;
  std::uint64_t returned = 0;                   // bytes
  std::array<std::int64_t, 3> numbers{-1, -1};  // -1: absent
  bool succeeded = false;
};

struct LoadOperation {
  std::string_view name;
  // The fields: n a name, h the handle of an open file, H that of a new one, o an offset, l the
  // bytes of one read or write, r those of a lock, s microseconds, i a number; after these, if the
  // line has them: R the bytes that a read returned, I a number. Further fields are not needed.
  std::string_view fields;
  void (*run)(DbenchClient& client, const LoadLine& line);
};

constexpr auto unsigned_of = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };

using Client = DbenchClient;
using Line = LoadLine;
constexpr LoadOperation kOperations[] = {
    {"NTCreateX", "niiH",
     [](Client& client, const Line& line) {
       client.create(line.names[0], unsigned_of(line.numbers[0]), unsigned_of(line.numbers[1]),
                     line.handle, line.succeeded);
     }},
    {"Close", "h", [](Client& client, const Line& line) { client.close(line.handle); }},
    {"ReadX", "holR",
     [](Client& client, const Line& line) {
       client.read(line.handle, line.offset, line.length, line.returned);
     }},
    {"WriteX", "hol",
     [](Client& client, const Line& line) { client.write(line.handle, line.offset, line.length); }},
    {"Flush", "h", [](Client& client, const Line& line) { client.flush(line.handle); }},
    {"LockX", "hor",
     [](Client& client, const Line& line) {
       client.lock(line.handle, line.offset, line.length, false);
     }},
    {"UnlockX", "hor",
     [](Client& client, const Line& line) {
       client.lock(line.handle, line.offset, line.length, true);
     }},
    {"QUERY_FILE_INFORMATION", "h",
     [](Client& client, const Line& line) { client.query_file(line.handle); }},
    {"SET_FILE_INFORMATION", "h",
     [](Client& client, const Line& line) { client.set_file(line.handle); }},
    {"QUERY_PATH_INFORMATION", "n",
     [](Client& client, const Line& line) { client.query_path(line.names[0]); }},
    {"QUERY_FS_INFORMATION", "", [](Client& client, const Line&) { client.query_volume(); }},
    {"FIND_FIRST", "nII",
     [](Client& client, const Line& line) { client.find_first(line.names[0], line.numbers[1]); }},
    {"Mkdir", "n", [](Client& client, const Line& line) { client.make_directory(line.names[0]); }},
    {"Rmdir", "n",
     [](Client& client, const Line& line) {
       client.remove_directory(line.names[0], line.succeeded);
     }},
    {"Unlink", "n",
     [](Client& client, const Line& line) { client.unlink(line.names[0], line.succeeded); }},
    {"Rename", "nn",
     [](Client& client, const Line& line) {
       client.rename(line.names[0], line.names[1], line.succeeded);
     }},
    {"Deltree", "n", [](Client& client, const Line& line) { client.delete_tree(line.names[0]); }},
    {"Sleep", "s",
     [](Client& client, const Line& line) { client.sleep(unsigned_of(line.numbers[0]) * 1000); }},
};

// How the lines of a load file are written.
enum class Dialect : std::uint8_t {
  bare,    // of dbench 2: no status, and quotes are a part of names, as in FILLER"*
  status,  // of dbench 3 and 4: a status at the end, and quotes around names
};

// The fields of a line without the quotes around names, with backslashes replaced by slashes.
std::vector<std::string> split(std::string_view text, Dialect dialect) {
  std::vector<std::string> fields;
  bool quoted = false, inside = false;
  for (const char c : text) {
    if (!quoted && (c == ' ' || c == '\t' || c == '\r')) {
      inside = false;
      continue;
    }
    const bool first = !inside;
    if (first) fields.emplace_back();
    inside = true;
    if (c == '"' && (dialect == Dialect::status || first || quoted)) {
      quoted = !quoted;
    } else {
      fields.back().push_back(c == '\\' ? '/' : c);
    }
  }
  return fields;
}

std::size_t required_fields(const LoadOperation& operation, Dialect dialect) {
  const std::string_view optional = dialect == Dialect::bare ? "IR" : "R";
  return std::min(operation.fields.find_first_of(optional), operation.fields.size());
}

bool is_time(const std::string& field) {
  return !field.empty() && field.front() >= '0' && field.front() <= '9';
}

constexpr std::string_view kStatusName = "NT_STATUS_";

bool is_status(std::string_view field) {
  return field.starts_with(kStatusName) || field.starts_with("0x");
}

// A number at the end is a status if the operation has all its fields without it.
Dialect dialect_of(std::string_view line) {
  std::vector<std::string> fields = split(line, Dialect::status);
  if (fields.empty() || !is_status(fields.back())) return Dialect::bare;
  if (fields.back().starts_with(kStatusName)) return Dialect::status;
  if (is_time(fields[0])) fields.erase(fields.begin());
  const LoadOperation* operation = std::ranges::find(kOperations, fields[0], &LoadOperation::name);
  const bool cut = operation != std::end(kOperations) &&
                   fields.size() < required_fields(*operation, Dialect::bare) + 2;
  return cut ? Dialect::bare : Dialect::status;
}

bool is_success(std::string_view status) {
  return status == "NT_STATUS_OK" || parse_any_base(status) == 0;
}

class LoadFile {
 public:
  LoadFile(LineReader& input, TraceBuilder& builder, const ImportOptions& options)
      : input_(input), builder_(builder), options_(options), client_(builder) {}

  bool read() {
    builder_.fact("source", "dbench");
    builder_.add_thread({.process = 1, .thread = 1, .name = "dbench"});
    std::string_view text;
    std::uint64_t lines = 0;
    while (input_.next(text)) {
      if (input_.line() % 1024 == 0 && options_.stop.stop_requested()) return false;
      lines += line(text) ? 1 : 0;
    }
    if (lines == 0) reject("no operations", "pass a dbench load file such as client.txt");
    builder_.fact("lines", std::to_string(lines));
    return true;
  }

 private:
  // False if the line has no operation.
  bool line(std::string_view text) {
    if (text.find('\0') != text.npos) reject("unexpected NUL byte", "the load file is corrupt");
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos || text[begin] == '#') return false;
    if (text.substr(begin).starts_with("SMB")) {
      reject("unsupported load file of dbench 1", "pass one of dbench 2 or later");
    }
    std::vector<std::string> fields = split(text, take_dialect(text));
    if (is_time(fields[0])) {
      take_time(fields[0]);
      fields.erase(fields.begin());
    }
    if (fields.empty()) reject("no operation after the time", "the load file is corrupt");
    const bool succeeded = dialect_ == Dialect::bare || is_success(fields.back());
    if (dialect_ == Dialect::status && fields.size() > 1) fields.pop_back();
    const LoadOperation* operation =
        std::ranges::find(kOperations, fields[0], &LoadOperation::name);
    if (operation == std::end(kOperations)) {
      reject(fmt::format("unknown operation \"{}\"", printable(fields[0])),
             "only load files for dbench's file system backend are supported");
    }
    operation->run(client_, take_fields(*operation, fields, succeeded));
    return true;
  }

  // All lines are written like the first one.
  Dialect take_dialect(std::string_view text) {
    if (!dialect_) dialect_ = dialect_of(text);
    const std::string_view last = take_last_field(text);
    if (*dialect_ == Dialect::status && !is_status(last)) {
      reject(fmt::format("invalid status \"{}\"", printable(last)),
             "expected NT_STATUS_OK, another NT_STATUS_ name, or 0x and a number");
    }
    if (*dialect_ == Dialect::bare && last.starts_with(kStatusName)) {
      reject(
          fmt::format("unexpected status \"{}\"", printable(last)),
          "the first operation has none, as in load files of dbench 2; use one format throughout");
    }
    return *dialect_;
  }

  LoadLine take_fields(const LoadOperation& operation, std::vector<std::string>& fields,
                       bool succeeded) {
    LoadLine line;
    line.succeeded = succeeded;
    const std::size_t required = required_fields(operation, *dialect_);
    if (fields.size() < required + 1) {
      reject(fmt::format("{} after \"{}\"", counted(fields.size() - 1, "field"), operation.name),
             fmt::format("expected {}", required));
    }
    std::size_t names = 0, numbers = 0;
    for (std::size_t i = 0; i < std::min(operation.fields.size(), fields.size() - 1); ++i) {
      std::string& field = fields[i + 1];
      switch (operation.fields[i]) {
        case 'n':
          check_name(field);
          line.names[names++] = std::move(field);
          break;
        case 's':
          line.numbers[numbers++] = number(field, 0, kLongestSleepUs);
          break;
        case 'i':
        case 'I':
          line.numbers[numbers++] = number(field);
          break;
        default:
          take_file_field(operation.fields[i], field, line);
      }
    }
    if (line.offset > kLargestOffset - line.length) {
      reject(fmt::format("offset {} is out of range", line.offset), "files end at 2^63 - 1");
    }
    return line;
  }

  // A field about an open file.
  void take_file_field(char kind, const std::string& field, LoadLine& line) {
    switch (kind) {
      case 'h':
        line.handle = number(field);
        check_open(line.handle);
        break;
      case 'H':
        line.handle = number(field);
        if (*dialect_ == Dialect::bare) line.succeeded = line.handle != kFailed;
        if (line.succeeded) check_not_open(line.handle);
        break;
      case 'o':
        line.offset = unsigned_of(number(field, 0));
        break;
      case 'l':
        line.length = unsigned_of(number(field, 0, kMaxTransfer));
        break;
      case 'R':  // negative: an error
        line.returned = unsigned_of(std::max<std::int64_t>(0, number(field)));
        break;
      default:
        line.length = unsigned_of(number(field, 0));
    }
  }

  void take_time(const std::string& field) {
    const auto seconds = parse_number_in<double>(field, 0, kLatestSecond);
    if (!seconds) {
      reject(fmt::format("invalid time \"{}\"", printable(field)),
             "expected seconds or an operation at the start of the line");
    }
    client_.advance_to(static_cast<std::uint64_t>(*seconds * 1e9));
  }

  void check_name(const std::string& name) const {
    if (name.size() > kLongestName) {
      reject(fmt::format("name of {} is too long", counted(name.size(), "byte")),
             fmt::format("the limit is {}", counted(kLongestName, "byte")));
    }
  }

  void check_open(std::int64_t handle) const {
    if (client_.is_open(handle)) return;
    reject(fmt::format("handle {} is not open", handle),
           "its NTCreateX is missing or failed, or the load file is corrupt");
  }

  // Handles of failed operations are ignored.
  void check_not_open(std::int64_t handle) const {
    if (!client_.is_open(handle)) return;
    reject(fmt::format("handle {} is already open", handle), "its Close is missing");
  }

  std::int64_t number(const std::string& field, std::int64_t least = INT64_MIN,
                      std::int64_t most = INT64_MAX) const {
    const std::optional<std::int64_t> value = parse_any_base(field);
    if (!value || *value < least || *value > most) {
      reject(fmt::format("invalid number \"{}\"", printable(field)),
             fmt::format("expected {} to {}", least, most));
    }
    return *value;
  }

  [[noreturn]] void reject(std::string_view what, std::string_view what_to_do) const {
    reject_line(input_, what, what_to_do);
  }

  LineReader& input_;
  TraceBuilder& builder_;
  const ImportOptions& options_;
  DbenchClient client_;
  std::optional<Dialect> dialect_;  // unknown before the first operation
};

// Recognised by the first line that is not a comment. Without a status, it has a name that begins
// like those of dbench 2.
bool recognises_loadfile(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    std::string_view line = beginning.substr(0, std::min<std::size_t>(end, 8192));
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    std::vector<std::string> fields = split(line, Dialect::status);
    if (fields.empty() || fields[0].starts_with('#')) continue;
    if (is_time(fields[0])) fields.erase(fields.begin());
    if (fields.size() < 2) return false;
    const LoadOperation* operation =
        std::ranges::find(kOperations, fields[0], &LoadOperation::name);
    if (operation == std::end(kOperations)) return false;
    return dialect_of(line) == Dialect::status ||
           (operation->fields.starts_with('n') && fields[1].starts_with('/'));
  }
  return false;
}

bool read_loadfile(LineReader& input, TraceBuilder& builder, const ImportOptions& options) {
  return LoadFile(input, builder, options).read();
}

constexpr Importer kDbenchImporter = {
    .name = "dbench",
    .description = "dbench load files for its file system backend",
    .timed = true,
    .time_unit_ns = 1000,
    .recognises = recognises_loadfile,
    .read = read_loadfile,
};

}  // namespace

const Importer& dbench_importer() {
  return kDbenchImporter;
}

}  // namespace filereel

#include "traces/import/dbench_loadfile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "traces/import/dbench_client.h"
#include "traces/import/fields.h"

namespace filereel {
namespace {

constexpr std::size_t kLongestName = 4095;  // longer ones cannot be opened
constexpr double kLatestSecond = 9e9;
constexpr std::int64_t kLongestSleepUs = 1'000'000'000'000;

// The part of a line after the operation's name.
struct LoadLine {
  std::array<std::string, 2> names;
  std::int64_t handle = 0;
  std::uint64_t offset = 0, length = 0;
  std::array<std::int64_t, 3> numbers{};
  bool succeeded = false;
};

struct LoadOperation {
  std::string_view name;
  // The fields: n a name, h the handle of an open file, H that of a new one, o an offset, l the
  // bytes of one read or write, r those of a lock, s microseconds, i a number. Further fields are
  // not needed.
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
    {"ReadX", "hol",
     [](Client& client, const Line& line) { client.read(line.handle, line.offset, line.length); }},
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
    {"FIND_FIRST", "nii",
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

// The fields of a line without quotes, with backslashes replaced by slashes.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> fields;
  bool quoted = false, inside = false;
  for (const char c : text) {
    if (!quoted && (c == ' ' || c == '\t' || c == '\r')) {
      inside = false;
      continue;
    }
    if (!inside) fields.emplace_back();
    inside = true;
    if (c == '"') {
      quoted = !quoted;
    } else {
      fields.back().push_back(c == '\\' ? '/' : c);
    }
  }
  return fields;
}

bool is_time(const std::string& field) {
  return !field.empty() && field.front() >= '0' && field.front() <= '9';
}

bool is_status(std::string_view field) {
  return field.starts_with("NT_STATUS_") || field.starts_with("0x");
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
    std::vector<std::string> fields = split(text);
    if (fields.size() < 2 || fields[0].starts_with('#')) return false;
    if (fields[0].starts_with("SMB")) {
      reject("unsupported load file of dbench 1", "pass one of dbench 2 or later");
    }
    if (is_time(fields[0])) {
      take_time(fields[0]);
      fields.erase(fields.begin());
    }
    if (!is_status(fields.back())) {
      reject(fmt::format("invalid status \"{}\"", printable(fields.back())),
             "expected NT_STATUS_OK, another NT_STATUS_ name, or 0x and a number");
    }
    const LoadOperation* operation =
        std::ranges::find(kOperations, fields[0], &LoadOperation::name);
    if (operation == std::end(kOperations)) {
      reject(fmt::format("unknown operation \"{}\"", printable(fields[0])),
             "only load files for dbench's file system backend are supported");
    }
    operation->run(client_, take_fields(*operation, fields));
    return true;
  }

  LoadLine take_fields(const LoadOperation& operation, std::vector<std::string>& fields) const {
    LoadLine line;
    line.succeeded = is_success(fields.back());
    if (fields.size() < operation.fields.size() + 2) {
      reject(fmt::format("{} fields after \"{}\"", fields.size() - 2, operation.name),
             fmt::format("expected {}", operation.fields.size()));
    }
    std::size_t names = 0, numbers = 0;
    for (std::size_t i = 0; i < operation.fields.size(); ++i) {
      std::string& field = fields[i + 1];
      switch (operation.fields[i]) {
        case 'n':
          check_name(field);
          line.names[names++] = std::move(field);
          break;
        case 'h':
          line.handle = number(field);
          check_open(line.handle);
          break;
        case 'H':
          line.handle = number(field);
          if (line.succeeded) check_not_open(line.handle);
          break;
        case 'o':
          line.offset = unsigned_of(number(field, 0));
          break;
        case 'l':
          line.length = unsigned_of(number(field, 0, kMaxTransfer));
          break;
        case 'r':
          line.length = unsigned_of(number(field, 0));
          break;
        case 's':
          line.numbers[numbers++] = number(field, 0, kLongestSleepUs);
          break;
        default:
          line.numbers[numbers++] = number(field);
      }
    }
    if (line.offset > kLargestOffset - line.length) {
      reject(fmt::format("offset {} is out of range", line.offset), "files end at 2^63 - 1");
    }
    return line;
  }

  void take_time(const std::string& field) {
    double seconds = -1;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), seconds);
    if (error != std::errc() || end != field.data() + field.size() ||
        !(seconds >= 0 && seconds <= kLatestSecond)) {
      reject(fmt::format("invalid time \"{}\"", printable(field)),
             "expected seconds or an operation at the start of the line");
    }
    client_.advance_to(static_cast<std::uint64_t>(seconds * 1e9));
  }

  void check_name(const std::string& name) const {
    if (name.size() > kLongestName) {
      reject(fmt::format("name of {} bytes is too long", name.size()),
             fmt::format("the limit is {} bytes", kLongestName));
    }
  }

  void check_open(std::int64_t handle) const {
    if (client_.is_open(handle)) return;
    reject(fmt::format("handle {} is not open", handle),
           "its NTCreateX is missing or the load file is corrupt");
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
};

// Recognised by the first line that is not a comment.
bool recognises_loadfile(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    std::vector<std::string> fields = split(beginning.substr(0, std::min<std::size_t>(end, 8192)));
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (fields.empty() || fields[0].starts_with('#')) continue;
    if (is_time(fields[0])) fields.erase(fields.begin());
    return fields.size() >= 2 && is_status(fields.back()) &&
           std::ranges::find(kOperations, fields[0], &LoadOperation::name) != std::end(kOperations);
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

#include "filesets/formats/fc_test_files.h"

#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "filesets/content/content.h"
#include "filesets/specification/file_group.h"
#include "filesets/specification/scaling.h"
#include "filesets/specification/specification.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kMaxEntries = SpecificationLimits{}.max_entries;
constexpr std::uint64_t kMaxCount = 100'000'000;  // of one line, before scaling
constexpr std::string_view kBlank = " \t";
constexpr std::string_view kSeparators = " \t|;,";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text, std::string_view what) {
  const std::size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

struct Line {
  std::string_view text;  // non-empty, trimmed
  std::string where;      // "file:line"
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorKind::unusable_input, fmt::format("{}: {}", where, what));
  }
};

// Calls `take` for each line that is not empty or a comment.
template <typename Take>
void for_each_line(std::string_view text, std::string_view file_name, Take&& take) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw Error(
        ErrorKind::unusable_input,
        fmt::format(
            "{}:1: unsupported encoding UTF-16; convert the file with 'iconv -f UTF-16 -t UTF-8'",
            file_name));
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // DOS editors append byte 26.
    const std::string_view line = trimmed(text.substr(0, end), " \t\r\x1a");
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == ';' || line.front() == '#' || line.starts_with("//")) {
      continue;
    }
    take(Line{line, fmt::format("{}:{}", file_name, number)});
  }
}

FileSet empty_set(std::string_view file_name, std::string_view kind) {
  FileSet set;
  const std::size_t slash = file_name.rfind('/');
  set.name = std::string(slash == std::string_view::npos ? file_name : file_name.substr(slash + 1));
  set.description = fmt::format("read from an FC-Test {}", kind);
  set.source = std::string(file_name);
  set.seed = content_key(set.name);
  return set;
}

void finish(const FileSet& set, std::string_view file_name) {
  if (set.entries.empty()) {
    throw Error(ErrorKind::unusable_input, fmt::format("{}: no files listed", file_name));
  }
  try {
    check_file_set(set);
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("{}: {}", file_name, e.what()));
  }
}

FileGroup parse_pattern(const Line& line) {
  constexpr std::string_view kExpected =
      "expected a number of files and their size such as '100 x 1 MB'";
  std::string_view rest = line.text;
  FileGroup group;
  if (!take_number(rest, group.count)) line.fail(kExpected);
  if (group.count > kMaxCount) line.fail("more than 100 million files; reduce the count");
  const std::size_t before = rest.size();
  rest = rest.substr(std::min(rest.find_first_not_of(" \t,;*"), rest.size()));
  for (const std::string_view word : {"files", "file", "x"}) {
    if (lower(rest.substr(0, word.size())) == word) {
      rest.remove_prefix(word.size());
      break;
    }
  }
  rest = rest.substr(std::min(rest.find_first_not_of(" \t,;*"), rest.size()));
  if (rest.empty() || rest.size() == before) line.fail(kExpected);
  if (lower(rest).ends_with(" each")) rest = trimmed(rest.substr(0, rest.size() - 5), kBlank);
  const std::uint64_t size = parse_size(rest, line.where);
  if (group.count > 0 && size > INT64_MAX / group.count) {
    line.fail("more than 2^63 - 1 bytes in total; reduce the count or the size");
  }
  group.total = size * group.count;
  return group;
}

// Splits the size off the end of a line: digits with a unit, after a separator. Otherwise returns
// the whole line and no size.
struct PathAndSize {
  std::string_view path;
  std::string_view size;  // empty if there is none
};

PathAndSize split_size(std::string_view text) {
  if (text.front() == '"') {
    const std::size_t quote = text.find('"', 1);
    if (quote == std::string_view::npos) return {text, {}};
    return {text.substr(1, quote - 1), trimmed(text.substr(quote + 1), kSeparators)};
  }
  std::size_t at = text.size();
  while (at > 0 && is_letter(text[at - 1])) --at;
  while (at > 0 && text[at - 1] == ' ') --at;
  const std::size_t digits_end = at;
  while (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '.')) --at;
  if (at == digits_end || at == 0 || !is_digit(text[at]) ||
      kSeparators.find(text[at - 1]) == std::string_view::npos) {
    return {text, {}};
  }
  return {trimmed(text.substr(0, at), kSeparators), text.substr(at)};
}

bool is_drive(std::string_view path) {
  return path.size() >= 2 && is_letter(path[0]) && path[1] == ':';
}

// The tree of a list, with one spelling per directory.
class ListReader {
 public:
  explicit ListReader(FileSetBuilder& builder) : builder_(builder) {}

  void take(const Line& line) {
    const PathAndSize parts = split_size(line.text);
    const bool is_first = first_;
    first_ = false;
    if (parts.size.empty()) {
      const bool ends_in_separator =
          !parts.path.empty() && (parts.path.back() == '\\' || parts.path.back() == '/');
      if (is_first && is_drive(parts.path)) return;  // the root of the list
      if (!ends_in_separator) {
        line.fail("expected a path and a file size such as 'folder\\name.txt;1234'");
      }
      directory(components(parts.path, line), line);
      return;
    }
    std::vector<std::string_view> names = components(parts.path, line);
    if (names.empty()) line.fail("the path is empty");
    Entry entry;
    entry.size = parse_size(parts.size, line.where);
    if (entry.size > INT64_MAX) line.fail("the size exceeds 2^63 - 1 bytes");
    const std::string_view name = names.back();
    names.pop_back();
    entry.path = directory(names, line);
    if (!entry.path.empty()) entry.path += '/';
    entry.path += name;
    entry.content.key = content_key(entry.path);
    entry.content.compressed_permille =
        content_kind_of_extension(extension_of(name)).compressed_permille;
    const auto [place, is_new] = spelling_.emplace(lower(entry.path), entry.path);
    if (!is_new) line.fail(fmt::format("duplicate path '{}'", printable(place->second)));
    builder_.add(entry, line.where);
  }

 private:
  static std::vector<std::string_view> components(std::string_view path, const Line& line) {
    if (is_drive(path)) path.remove_prefix(2);
    std::vector<std::string_view> names;
    while (!path.empty()) {
      const std::size_t end = std::min(path.find_first_of("\\/"), path.size());
      const std::string_view name = path.substr(0, end);
      path.remove_prefix(std::min(end + 1, path.size()));
      if (name.empty() || name == ".") continue;
      if (name == "..") line.fail("the path contains '..'; remove it");
      names.push_back(name);
    }
    return names;
  }

  // Returns the path of the directory in its first spelling and adds the directory if it is new.
  std::string directory(const std::vector<std::string_view>& names, const Line& line) {
    std::string path;
    for (const std::string_view name : names) {
      if (!path.empty()) path += '/';
      path += name;
      // Without the limit the loop would be quadratic.
      if (path.size() > 4096) line.fail("the path is longer than 4096 bytes");
      const auto [place, is_new] = spelling_.emplace(lower(path), path);
      path = place->second;
    }
    builder_.add_directories(path, line.where);
    return path;
  }

  FileSetBuilder& builder_;
  std::unordered_map<std::string, std::string> spelling_;  // by lower-case path
  bool first_ = true;
};

}  // namespace

FileSet parse_ptn(std::string_view text, std::string_view file_name, double scale) {
  check_scale(scale);
  FileSet set = empty_set(file_name, "pattern (.ptn)");
  FileSetBuilder builder(set, kMaxEntries);
  int number = 0;
  for_each_line(text, file_name, [&](const Line& line) {
    FileGroup group = parse_pattern(line);
    group.path = fmt::format("p{:03}", ++number);
    group.tree = {.files_per_directory = 100, .max_depth = 1, .spread = FileSpread::even};
    builder.add_group(scale_group(group, scale), line.where);
  });
  finish(set, file_name);
  return set;
}

FileSet parse_fls(std::string_view text, std::string_view file_name, double scale) {
  check_scale(scale);
  FileSet set = empty_set(file_name, "list (.fls)");
  FileSetBuilder builder(set, kMaxEntries);
  ListReader reader(builder);
  for_each_line(text, file_name, [&](const Line& line) { reader.take(line); });
  scale_file_set(set, scale);
  finish(set, file_name);
  return set;
}

}  // namespace filereel

#include "filesets/specification/specification.h"

#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "filesets/content/content.h"
#include "filesets/specification/file_group.h"
#include "filesets/specification/scaling.h"
#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::size_t kMaxExtensions = 1'000;
constexpr std::uint64_t kMaxSize = INT64_MAX;

// Defaults for the files of a group.
struct ContentDefaults {
  std::optional<std::uint16_t> compressed_permille;  // none: by extension
  std::uint16_t duplicate_permille = 0;
};

std::uint16_t compressed_of_kind(const YamlValue& value) {
  const std::string name = value.text();
  const ContentKind* kind = find_content_kind(name);
  if (kind == nullptr) {
    value.fail(fmt::format("must be a content kind ({}), not '{}'", content_kind_names(),
                           printable(name)));
  }
  return kind->compressed_permille;
}

// Reads `content: KIND` or `compressed: SHARE`.
std::optional<std::uint16_t> read_compressed(const YamlMap& map) {
  const YamlValue* kind = map.find("content");
  const YamlValue* share = map.find("compressed");
  if (kind != nullptr && share != nullptr) {
    share->fail("conflicts with 'content'; remove one of the two");
  }
  if (kind != nullptr) return compressed_of_kind(*kind);
  if (share != nullptr) return share->permille();
  return std::nullopt;
}

std::uint64_t read_size(const YamlValue& value) {
  const std::uint64_t size = value.size();
  if (size > kMaxSize) value.fail("exceeds 2^63 - 1 bytes");
  return size;
}

std::uint32_t read_mode(const YamlValue& value) {
  const auto mode = parse_number<std::uint32_t>(value.text(), 8);
  if (!mode || *mode > 07777) {
    value.fail("must be permission bits in octal, 0 to 7777, such as 0644");
  }
  return *mode;
}

// Parses and removes a fixed number of decimal digits at the start of `text`.
bool take_digits(std::string_view& text, std::size_t digits, int& out) {
  if (text.size() < digits) return false;
  if (!parse_number(text.substr(0, digits), out) || out < 0) return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// "2004-05-06T07:08:09Z", "2004-05-06 07:08:09.25Z" or "2004-05-06", all UTC.
std::optional<std::int64_t> parse_time(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!take_digits(text, 4, year) || !take(text, '-') || !take_digits(text, 2, month) ||
      !take(text, '-') || !take_digits(text, 2, day)) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // Nanoseconds in 64 bits end in 2262.
  if (!date.ok() || year < 1700 || year > 2261) return std::nullopt;
  std::int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * 86'400LL;
  std::int64_t nanoseconds = 0;
  if (!text.empty()) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!(take(text, 'T') || take(text, ' ')) || !take_digits(text, 2, hour) || !take(text, ':') ||
        !take_digits(text, 2, minute) || !take(text, ':') || !take_digits(text, 2, second) ||
        hour > 23 || minute > 59 || second > 59) {
      return std::nullopt;
    }
    seconds += hour * 3600 + minute * 60 + second;
    if (take(text, '.')) {
      std::int64_t unit = 100'000'000;
      while (!text.empty() && text.front() >= '0' && text.front() <= '9' && unit > 0) {
        nanoseconds += (text.front() - '0') * unit;
        unit /= 10;
        text.remove_prefix(1);
      }
    }
    if (text != "Z") return std::nullopt;
  }
  return seconds * 1'000'000'000 + nanoseconds;
}

std::vector<Hole> read_holes(const YamlValue& value, std::uint64_t size) {
  std::vector<Hole> holes;
  std::uint64_t end = 0;
  for (const YamlValue& item : value.list(kMaxYamlNodes)) {
    const YamlMap map = item.map({"offset", "length"});
    const Hole hole{map.require("offset").size(), map.require("length").size()};
    if (hole.length == 0) item.fail("is empty; give it a length");
    if (hole.offset < end) item.fail("overlaps the previous hole or is out of order");
    if (hole.offset > size || hole.length > size - hole.offset) {
      item.fail("extends past the end of the file");
    }
    end = hole.offset + hole.length;
    holes.push_back(hole);
  }
  return holes;
}

class SpecificationReader {
 public:
  SpecificationReader(FileSet& set, double scale, const SpecificationLimits& limits)
      : set_(set), scale_(scale), limits_(limits), builder_(set, limits.max_entries) {}

  void read(const YamlValue& document) {
    const YamlMap map = document.map({"name", "description", "source", "seed", "groups"});
    set_.name = map.require("name").text();
    if (set_.name.empty()) map.require("name").fail("is empty");
    if (const auto* value = map.find("description")) set_.description = value->text();
    if (const auto* value = map.find("source")) set_.source = value->text();
    set_.seed = 1;
    if (const auto* value = map.find("seed")) set_.seed = value->whole_number(0, UINT64_MAX);
    const auto groups = map.require("groups").list(limits_.max_groups);
    if (groups.empty()) map.require("groups").fail("is empty; add at least one group");
    for (const YamlValue& group : groups) read_group(group);
  }

 private:
  void read_group(const YamlValue& value) {
    const YamlMap map =
        value.map({"path", "files", "count", "size", "total", "sizes", "directories", "extensions",
                   "content", "compressed", "duplicates"});
    ContentDefaults defaults;
    defaults.compressed_permille = read_compressed(map);
    if (const auto* share = map.find("duplicates")) defaults.duplicate_permille = share->permille();
    std::string path;
    if (const auto* text = map.find("path")) {
      path = text->text();
      if (!path.empty()) check_path(path, text->where());
    }
    if (const YamlValue* files = map.find("files")) {
      for (const char* key : {"count", "size", "total", "sizes", "directories", "extensions"}) {
        if (const auto* other = map.find(key)) {
          other->fail("conflicts with 'files'; remove one of the two");
        }
      }
      read_list(*files, path, defaults);
    } else {
      read_numbers(map, path, defaults);
    }
  }

  void read_list(const YamlValue& files, const std::string& path, const ContentDefaults& defaults) {
    builder_.add_directories(path, files.where());
    const std::size_t first = set_.entries.size();
    for (const YamlValue& file : files.list(kMaxYamlNodes)) {
      builder_.add(read_entry(file, path, defaults), file.where());
    }
    try {
      scale_entries(set_.entries, first, scale_);
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("{}: {}", files.where(), e.what()));
    }
  }

  static Entry read_entry(const YamlValue& value, const std::string& group_path,
                          const ContentDefaults& defaults) {
    const YamlMap map = value.map({"path", "size", "content", "compressed", "duplicates", "mode",
                                   "mtime", "symlink", "hard_link", "holes"});
    const auto below_group = [&](const std::string& path) {
      return group_path.empty() ? path : group_path + "/" + path;
    };
    Entry entry;
    std::string path = map.require("path").text();
    const YamlValue* symlink = map.find("symlink");
    const YamlValue* hard_link = map.find("hard_link");
    if (symlink != nullptr && hard_link != nullptr) {
      hard_link->fail("conflicts with 'symlink'; remove one of the two");
    }
    if (symlink != nullptr) {
      entry.kind = EntryKind::symlink;
      entry.mode = 0777;
      entry.target = symlink->text();
    } else if (hard_link != nullptr) {
      entry.kind = EntryKind::hard_link;
      entry.target = below_group(hard_link->text());
    } else if (path.ends_with('/')) {
      entry.kind = EntryKind::directory;
      entry.mode = 0755;
      path.pop_back();
    }
    entry.path = below_group(path);
    check_path(entry.path, map.require("path").where());
    if (const auto* mode = map.find("mode")) entry.mode = read_mode(*mode);
    if (const auto* mtime = map.find("mtime")) {
      const auto time = parse_time(mtime->text());
      if (!time) mtime->fail("must be a UTC time such as 2004-05-06T07:08:09Z, or a date");
      entry.mtime_ns = *time;
    }
    if (entry.kind != EntryKind::file) {
      for (const char* key : {"size", "content", "compressed", "duplicates", "holes"}) {
        if (const auto* other = map.find(key)) other->fail("applies to regular files only");
      }
      return entry;
    }
    entry.size = read_size(map.require("size"));
    const auto compressed = read_compressed(map);
    entry.content.compressed_permille =
        compressed ? *compressed
                   : defaults.compressed_permille.value_or(
                         content_kind_of_extension(extension_of(entry.path)).compressed_permille);
    entry.content.duplicate_permille = defaults.duplicate_permille;
    if (const auto* share = map.find("duplicates")) {
      entry.content.duplicate_permille = share->permille();
    }
    entry.content.key = content_key(entry.path);
    if (const auto* holes = map.find("holes")) entry.holes = read_holes(*holes, entry.size);
    return entry;
  }

  void read_numbers(const YamlMap& map, const std::string& path, const ContentDefaults& defaults) {
    FileGroup group;
    group.path = path;
    group.duplicate_permille = defaults.duplicate_permille;
    group.compressed_permille =
        defaults.compressed_permille.value_or(content_kind_of_extension({}).compressed_permille);
    group.count = map.require("count").whole_number(0, limits_.max_count);
    if (const auto* directories = map.find("directories")) {
      group.tree = read_tree(*directories);
    }
    if (const auto* extensions = map.find("extensions")) {
      group.extensions = read_extensions(*extensions, defaults);
    }
    if (const YamlValue* size = map.find("size")) {
      for (const char* key : {"total", "sizes"}) {
        if (const auto* other = map.find(key)) {
          other->fail("conflicts with 'size'; remove one of the two");
        }
      }
      const std::uint64_t each = read_size(*size);
      if (group.count > 0 && each > kMaxSize / group.count) {
        size->fail("exceeds 2^63 - 1 bytes in total");
      }
      group.total = each * group.count;
    } else {
      group.total = read_size(map.require("total"));
      group.sizes = read_distribution(map.require("sizes"));
      check_sizes(*group.sizes, group.count, group.total, map.require("total").where());
    }
    const std::string where = map.self().where();
    builder_.add_group(scaled(group, where), where);
  }

  // Errors of scaling have no location.
  FileGroup scaled(const FileGroup& group, const std::string& where) const {
    try {
      return scale_group(group, scale_);
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("{}: {}", where, e.what()));
    }
  }

  static SizeDistribution read_distribution(const YamlValue& value) {
    const YamlMap map = value.map({"lognormal", "pareto", "min", "max"});
    SizeDistribution sizes;
    sizes.sigma = map.require("lognormal").map({"sigma"}).require("sigma").number(0, 10);
    if (const YamlValue* pareto = map.find("pareto")) {
      const YamlMap tail = pareto->map({"weight", "k", "start"});
      sizes.pareto =
          ParetoTail{tail.require("weight").share() / 100'000.0, tail.require("k").number(0.01, 10),
                     read_size(tail.require("start"))};
    }
    if (const YamlValue* min = map.find("min")) sizes.min = read_size(*min);
    if (const YamlValue* max = map.find("max")) {
      sizes.max = read_size(*max);
      if (sizes.max < sizes.min) max->fail("is below the minimum size");
    }
    return sizes;
  }

  static TreeShape read_tree(const YamlValue& value) {
    const YamlMap map = value.map({"files_per_directory", "depth", "spread"});
    TreeShape shape;
    if (const auto* files = map.find("files_per_directory")) {
      shape.files_per_directory = files->number(0.1, 1e9);
    }
    if (const auto* depth = map.find("depth")) {
      shape.max_depth = static_cast<std::uint32_t>(depth->whole_number(0, 100));
    }
    if (const auto* spread = map.find("spread")) {
      const std::string text = spread->text();
      if (text == "even") {
        shape.spread = FileSpread::even;
      } else if (text != "varied") {
        spread->fail("must be 'varied' or 'even'");
      }
    }
    return shape;
  }

  static std::vector<ExtensionShare> read_extensions(const YamlValue& value,
                                                     const ContentDefaults& defaults) {
    std::vector<ExtensionShare> extensions;
    std::uint64_t sum = 0;
    for (const YamlValue& item : value.list(kMaxExtensions)) {
      const YamlMap map = item.map({"name", "share", "content", "compressed"});
      ExtensionShare extension;
      extension.name = map.require("name").text();
      if (extension.name.size() > 64) map.require("name").fail("is longer than 64 bytes");
      if (extension.name.find('/') != std::string::npos) map.require("name").fail("contains a '/'");
      extension.share = map.require("share").share();
      sum += extension.share;
      const auto compressed = read_compressed(map);
      extension.compressed_permille =
          compressed ? *compressed
                     : defaults.compressed_permille.value_or(
                           content_kind_of_extension(extension.name).compressed_permille);
      extensions.push_back(std::move(extension));
    }
    if (sum != 100'000) {
      value.fail(fmt::format("must have shares that add up to 100 %, not {} %",
                             static_cast<double>(sum) / 1000));
    }
    return extensions;
  }

  FileSet& set_;
  double scale_;
  const SpecificationLimits& limits_;
  FileSetBuilder builder_;
};

}  // namespace

FileSet file_set_from_yaml(std::string_view text, std::string_view file_name, double scale,
                           const SpecificationLimits& limits) {
  return file_set_from_document(parse_yaml(text, file_name, "the file set"), file_name, scale,
                                limits);
}

FileSet file_set_from_document(const YamlValue& document, std::string_view file_name, double scale,
                               const SpecificationLimits& limits) {
  check_scale(scale);
  FileSet set;
  SpecificationReader(set, scale, limits).read(document);
  try {
    check_file_set(set);
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("{}: {}", file_name, e.what()));
  }
  return set;
}

}  // namespace filereel

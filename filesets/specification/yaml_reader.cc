#include "filesets/specification/yaml_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/search.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

namespace msg = YAML::ErrorMsg;

struct Reason {
  std::string_view message;  // or its start
  std::string_view words;
};

constexpr std::string_view kUnclosedMap = "a map that starts with '{' is not closed with '}'";
constexpr std::string_view kUnclosedList = "a list that starts with '[' is not closed with ']'";
constexpr std::string_view kIndent =
    "this fits neither the map nor the list before it; check its indentation";
constexpr std::string_view kAnchor = "the name after '&' or '*' is missing or not defined";
constexpr std::string_view kTag = "the tag after '!' is invalid; remove it";
constexpr std::string_view kDirective = "the directive after '%' is invalid; remove it";
constexpr std::string_view kEscape =
    "unknown escape after '\\'; write '\\\\', or use single quotes";

// Rows of what recipes, plans and file sets can contain.
const std::array kReasons = {
    Reason{msg::END_OF_MAP_FLOW, kUnclosedMap},
    Reason{msg::END_OF_SEQ_FLOW, kUnclosedList},
    Reason{msg::FLOW_END, "']' or '}' without its opening bracket"},
    Reason{msg::END_OF_MAP, kIndent},
    Reason{msg::END_OF_SEQ, kIndent},
    Reason{msg::BLOCK_ENTRY, "'-' is not allowed here; put list items on lines of their own"},
    Reason{msg::MAP_KEY, "a key is not allowed here; put it on a line of its own"},
    Reason{msg::MAP_VALUE, "':' is not allowed here; put text with ': ' in quotes"},
    Reason{msg::TAB_IN_INDENTATION, "a tab in the indentation; use spaces"},
    Reason{msg::EOF_IN_SCALAR, "the text in quotes is not closed"},
    Reason{msg::DOC_IN_SCALAR, "the text in quotes is not closed"},
    Reason{msg::UNKNOWN_TOKEN, "this character starts no value; put the text in quotes"},
    Reason{msg::CHAR_IN_SCALAR, "the text needs quotes"},
    Reason{msg::INVALID_ESCAPE, kEscape},
    Reason{msg::INVALID_HEX, kEscape},
    Reason{msg::INVALID_UNICODE, kEscape},
    Reason{msg::ALIAS_NOT_FOUND, kAnchor},
    Reason{msg::ANCHOR_NOT_FOUND, kAnchor},
    Reason{msg::CHAR_IN_ALIAS, kAnchor},
    Reason{msg::CHAR_IN_ANCHOR, kAnchor},
    Reason{msg::UNKNOWN_ANCHOR, kAnchor},
    Reason{msg::MULTIPLE_ANCHORS, "a value has two names ('&')"},
    Reason{msg::ALIAS_CONTENT, "a reference ('*') has a value of its own"},
    Reason{msg::CHAR_IN_TAG_HANDLE, kTag},
    Reason{msg::TAG_WITH_NO_SUFFIX, kTag},
    Reason{msg::END_OF_VERBATIM_TAG, kTag},
    Reason{msg::MULTIPLE_TAGS, kTag},
    Reason{msg::YAML_DIRECTIVE_ARGS, kDirective},
    Reason{msg::YAML_VERSION, kDirective},
    Reason{msg::YAML_MAJOR_VERSION, kDirective},
    Reason{msg::REPEATED_YAML_DIRECTIVE, kDirective},
    Reason{msg::TAG_DIRECTIVE_ARGS, kDirective},
    Reason{msg::REPEATED_TAG_DIRECTIVE, kDirective},
};

}  // namespace

std::string_view why_invalid_yaml(std::string_view message) {
  const Reason* const found = find_if_or_null(
      kReasons, [&](const Reason& reason) { return message.starts_with(reason.message); });
  return found ? found->words : "check indentation, brackets and quotes";
}

namespace {

std::string place(std::string_view file, const YAML::Mark& mark) {
  if (mark.line < 0) return std::string(file);
  return fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
}

[[noreturn]] void fail_at(std::string_view file, const YAML::Mark& mark, std::string_view text) {
  throw Error(ErrorKind::unusable_input, fmt::format("{}: {}", place(file, mark), text));
}

// Checks the size of a document before it is loaded into memory.
class LimitCheck : public YAML::EventHandler {
 public:
  explicit LimitCheck(std::string_view file) : file_(file) {}
  int documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      fail_at(file_, mark, "unexpected second YAML document; move it to a file of its own");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchored_.find(anchor);
    count(mark,
          known == anchored_.end() ? 1 : known->second);  // recursive aliases are rejected later
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    enter(mark, anchor);
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    enter(mark, anchor);
  }
  void OnMapEnd() override { leave(); }

 private:
  // A list or map that is still open.
  struct Open {
    YAML::anchor_t anchor;
    std::size_t before;  // values before it
  };

  void enter(const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({anchor, nodes_});
    count(mark);
    if (open_.size() > kMaxYamlDepth) {
      fail_at(file_, mark,
              fmt::format("nested more than {} deep", counted(kMaxYamlDepth, "level")));
    }
  }
  void leave() {
    if (open_.back().anchor != 0) anchored_[open_.back().anchor] = nodes_ - open_.back().before;
    open_.pop_back();
  }
  void count(const YAML::Mark& mark, std::size_t more = 1) {
    nodes_ += more;
    if (nodes_ > kMaxYamlNodes) {
      fail_at(file_, mark,
              fmt::format("more than {}; split the file", counted(kMaxYamlNodes, "value")));
    }
  }

  std::string_view file_;
  int documents_ = 0;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, std::size_t> anchored_;  // values of lists and maps
  std::size_t nodes_ = 0;
};

}  // namespace

YamlValue::YamlValue(const YAML::Node& node, std::string file, std::string what)
    : node_(node), mark_(node.Mark()), file_(std::move(file)), what_(std::move(what)) {}

YamlValue YamlValue::with_text(const std::string& text) const {
  YamlValue value(YAML::Node(text), file_, what_);
  value.mark_ = mark_;
  return value;
}

YamlValue YamlValue::missing_key(std::string_view key) const {
  YamlValue value(YAML::Node(), file_, fmt::format("'{}'", key));
  value.mark_ = mark_;
  return value;
}

std::string YamlValue::where() const {
  return place(file_, mark_);
}

bool YamlValue::is_before(const YamlValue& other) const {
  return std::pair(mark_.line, mark_.column) < std::pair(other.mark_.line, other.mark_.column);
}

void YamlValue::fail(std::string_view text) const {
  throw Error(ErrorKind::unusable_input, fmt::format("{}: {} {}", where(), what_, text));
}

bool YamlValue::has_key(std::string_view key) const {
  return node_.IsMap() && node_[std::string(key)].IsDefined();
}

std::string YamlValue::text() const {
  if (!node_.IsScalar()) fail("must be a single value");
  return node_.Scalar();
}

std::uint64_t YamlValue::whole_number(std::uint64_t min, std::uint64_t max) const {
  const std::string value = text();
  const auto result = parse_number_in<std::uint64_t>(value, min, max);
  if (!result) {
    fail(fmt::format("must be a whole number from {} to {}, not '{}'", min, max, printable(value)));
  }
  return *result;
}

double YamlValue::number(double min, double max) const {
  const std::string value = text();
  const auto result = parse_number_in<double>(value, min, max);
  if (!result) {
    fail(fmt::format("must be a number from {} to {}, not '{}'", min, max, printable(value)));
  }
  return *result;
}

std::uint64_t YamlValue::size() const {
  return parse_size(text(), where() + ": " + what_);
}

std::uint64_t YamlValue::duration() const {
  return parse_duration(text(), where() + ": " + what_);
}

bool YamlValue::truth() const {
  const std::string word = text();
  if (word != "true" && word != "false") fail("must be true or false");
  return word == "true";
}

std::uint32_t YamlValue::share() const {
  const std::string value = text();
  std::string_view rest = value;
  const auto wrong = [&]() {
    fail(
        fmt::format("must be a percentage from 0 % to 100 % with at most three decimals, such as "
                    "6.6 %, not '{}'",
                    printable(value)));
  };
  if (rest.empty() || rest.back() != '%') wrong();
  rest.remove_suffix(1);
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  std::uint32_t thousandths = 0;
  if (!take_number(rest, thousandths) || thousandths > 100) wrong();
  thousandths *= 1000;
  if (!rest.empty()) {
    if (rest.front() != '.' || rest.size() < 2 || rest.size() > 4) wrong();
    std::uint32_t unit = 100;
    for (const char c : rest.substr(1)) {
      if (c < '0' || c > '9') wrong();
      thousandths += static_cast<std::uint32_t>(c - '0') * unit;
      unit /= 10;
    }
  }
  if (thousandths > 100'000) wrong();
  return thousandths;
}

std::uint16_t YamlValue::permille() const {
  const std::uint32_t thousandths = share();
  if (thousandths % 100 != 0) fail("must be a percentage with at most one decimal, such as 4.5 %");
  return static_cast<std::uint16_t>(thousandths / 100);
}

std::vector<YamlValue> YamlValue::list(std::size_t max_items) const {
  if (!node_.IsSequence()) fail("must be a list");
  if (node_.size() > max_items) {
    fail(fmt::format("has {}; at most {} allowed", counted(node_.size(), "item"),
                     counted(max_items, "is", "are")));
  }
  std::vector<YamlValue> items;
  items.reserve(node_.size());
  for (const YAML::Node& item : node_) items.emplace_back(item, file_, "an item of " + what_);
  return items;
}

YamlMap YamlValue::map(std::initializer_list<std::string_view> known_keys) const {
  return map(std::span(known_keys.begin(), known_keys.size()));
}

YamlValue YamlValue::called(std::string what) const {
  YamlValue other = *this;
  other.what_ = std::move(what);
  return other;
}

YamlMap YamlValue::map(std::span<const std::string_view> known_keys) const {
  std::vector<std::pair<std::string, YamlValue>> values = items();
  for (const auto& pair : node_) {
    const std::string name = pair.first.Scalar();
    if (contains(known_keys, name)) continue;
    fail_at(file_, pair.first.Mark(),
            fmt::format("unknown key '{}' in {}: expected {}{}", printable(name), what_,
                        fmt::join(known_keys, ", "), did_you_mean(name, known_keys)));
  }
  return YamlMap(*this, std::move(values));
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::items() const {
  if (!node_.IsMap()) fail("must be a map of 'key: value' pairs");
  std::vector<std::pair<std::string, YamlValue>> values;
  for (const auto& pair : node_) {
    const YamlValue key(pair.first, file_, "a key of " + what_);
    const std::string name = key.text();
    if (contains(values, name, [](const auto& v) { return v.first; })) {
      fail_at(file_, pair.first.Mark(), fmt::format("duplicate key '{}'", printable(name)));
    }
    values.emplace_back(name, YamlValue(pair.second, file_, fmt::format("'{}'", name)));
  }
  return values;
}

const YamlValue* YamlMap::find(std::string_view key) const {
  for (const auto& [name, value] : values_) {
    if (name == key) return &value;
  }
  return nullptr;
}

const YamlValue& YamlMap::require(std::string_view key) const {
  const YamlValue* value = find(key);
  if (value == nullptr) self_.fail(fmt::format("lacks the key '{}'", key));
  return *value;
}

YamlMap YamlMap::without(std::string_view key) const {
  // Nodes are copied, never assigned: assignment would change the document.
  std::vector<std::pair<std::string, YamlValue>> rest;
  for (const auto& value : values_) {
    if (value.first != key) rest.push_back(value);
  }
  return {self_, std::move(rest)};
}

YamlValue parse_yaml(std::string_view text, std::string_view file_name, std::string_view what) {
  const std::string file(file_name);
  if (text.size() > kMaxYamlBytes) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: YAML of {} is too large; the limit is {}", file,
                            counted(text.size(), "byte"), kMaxYamlBytes));
  }
  const std::string copy(text);
  try {
    std::istringstream in(copy);
    YAML::Parser parser(in);
    LimitCheck check(file);
    while (parser.HandleNextDocument(check)) {
    }
    if (check.documents() == 0) {
      throw Error(ErrorKind::unusable_input, file + ": the file is empty");
    }
    return YamlValue(YAML::Load(copy), file, std::string(what));
  } catch (const YAML::Exception& e) {
    fail_at(file, e.mark, fmt::format("invalid YAML: {}", why_invalid_yaml(e.msg)));
  }
}

std::optional<std::string> read_yaml_file(const std::string& path, std::string_view what) {
  std::optional<std::string> text = read_file(path, kMaxYamlBytes + 1);
  if (!text && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: cannot read: {}", path,
                            error_text(errno, fmt::format("choose a YAML file with {}", what))));
  }
  return text;
}

}  // namespace filereel

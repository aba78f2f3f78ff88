#include "filesets/specification/yaml_failure.h"

#include <array>

#include <yaml-cpp/exceptions.h>

#include "filesets/system/search.h"

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
      kReasons, [&](const Reason& one) { return message.starts_with(one.message); });
  return found ? found->words : "check indentation, brackets and quotes";
}

}  // namespace filereel

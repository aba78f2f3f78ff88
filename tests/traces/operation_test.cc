#include "traces/operation.h"

#include <array>
#include <sstream>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "tests/kept_file.h"
#include "traces/reel/operation_check.h"

namespace filereel {
namespace {

std::string specification() {
  return kept_file("../docs/reel-format.md");
}

std::string columns(Field fields) {
  using enum Field;
  constexpr std::array<std::pair<Field, const char*>, 12> kColumns = {{{path, "path"},
                                                                       {old_path, "old_path"},
                                                                       {file, "file"},
                                                                       {target, "target"},
                                                                       {source, "source"},
                                                                       {flags, "flags"},
                                                                       {mode, "mode"},
                                                                       {offset, "offset"},
                                                                       {length, "length"},
                                                                       {second, "second"},
                                                                       {text, "text"},
                                                                       {method, "method"}}};
  std::string names;
  for (const auto& [field, name] : kColumns) {
    if (has(fields, field)) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

// A cell of a table with what follows its bar.
std::string cell(const std::string& text) {
  return text.empty() ? " |" : " " + text + " |";
}

TEST_CASE("the specification of reels lists the kinds of operations as they are") {
  std::istringstream text(specification());
  std::string line;
  while (std::getline(text, line) && !line.starts_with("| code | kind | columns | moves data |")) {
  }
  REQUIRE(std::getline(text, line));  // the rule below the heads
  for (std::size_t code = 0; code < kOperationKinds; ++code) {
    if (!kind_rules()[code].known) continue;
    const OperationInfo& info = operation_info(static_cast<OperationKind>(code));
    // What a row says of the members' meaning is not compared.
    const std::string row = "|" + cell(std::to_string(code)) + cell(std::string(info.name)) +
                            cell(columns(info.fields)) + cell(info.moves_data ? "yes" : "");
    REQUIRE(std::getline(text, line));
    CAPTURE(line);
    CAPTURE(row);
    CHECK(line.starts_with(row));
  }
  REQUIRE(std::getline(text, line));
  CHECK(line.empty());
}

}  // namespace
}  // namespace filereel

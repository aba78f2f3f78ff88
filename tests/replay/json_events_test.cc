#include "replay/results/json_events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/json.h"
#include "replay/results/result_json.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

std::string mismatch(std::string_view text, JsonPlace root) {
  const std::optional<SchemaError> wrong = read_json(text, root);
  return wrong ? wrong->why : "";
}

TEST_CASE("a tree read from JSON is that of nlohmann's parser") {
  for (const char* text :
       {"0", "-0", "-1", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
        "-9223372036854775809", "0.1", "1e-400", "5e-324", "1E+2", "0.30000000000000004",
        "\"\\u00e9\\ud83d\\ude00\\\\ 12345678\\\"12345678\"", "\"12345678caf\u00e9 12345678\"",
        " {\"a\": [1, null, {\"b\": true}], \"c\": {}, \"a\": 2}\r\n", "\xef\xbb\xbf[]"}) {
    CAPTURE(text);
    Json tree;
    CHECK(mismatch(text, place_of(tree, "")).empty());
    CHECK(tree == Json::parse(text));
  }
}

TEST_CASE("text that is not JSON is refused with the byte of the error") {
  for (const char* text :
       {"", "x", "[1,]", "{\"a\" 1}", "[1] 2", "\"abc", "[NaN]", "01", "\"\x1a\"",
        "\"1234567\x1f\"", "\"\\ud800\"", "\"\\udc00\"", "\"\xed\xa0\x80\"", "\"12345678\xff\"",
        "{\"\\udc00\": 1}", "/**/ 1", "1e999"}) {
    CAPTURE(text);
    Json tree;
    CHECK_THROWS_AS(read_json(text, place_of(tree, "")), Json::exception);
  }
  Json tree;  // nlohmann's parser takes a zero byte for the end
  CHECK_THROWS_AS(read_json(std::string_view("1\0", 2), place_of(tree, "")), SchemaError);
}

TEST_CASE("plain data is filled, unknown members are skipped, the last of two members counts") {
  SlowRecord record;
  CHECK(mismatch(R"({"path": "a", "new": [{"path": "b"}], "offset": 7, "service_us": 1.5,
                     "offset": 8})",
                 place_of(record, "record"))
            .empty());
  CHECK(record.path == "a");
  CHECK(record.offset == 8);
  CHECK(record.service_us == 1.5);
  std::map<std::string, std::vector<std::uint32_t>> lists;
  CHECK(mismatch(R"({"a": [1, 2], "b": [3], "a": [4]})", place_of(lists, "lists")).empty());
  CHECK(lists == std::map<std::string, std::vector<std::uint32_t>>{{"a", {4}}, {"b", {3}}});
}

TEST_CASE("values of another type are named, and what follows is filled") {
  SlowRecord record;
  CHECK(mismatch(R"({"path": 1, "thread": 2})", place_of(record, "")) ==
        "'path' has the wrong type: number");
  CHECK(record.thread == 2);
  CHECK(mismatch(R"({"thread": 4294967296})", place_of(record, "")) ==
        "'thread' must be an integer from 0 to 4294967295, not 4294967296");
  CHECK(mismatch(R"({"thread": 1.0})", place_of(record, "")).starts_with("'thread' must be"));
  CHECK(mismatch(R"({"at_s": -1})", place_of(record, "")).starts_with("'at_s' is out of range"));
  CHECK(mismatch(R"({"at_s": []})", place_of(record, "")) == "'at_s' has the wrong type: array");
  CHECK(mismatch("[]", place_of(record, "")) == "expected an object with 'operation'");
  std::vector<SlowRecord> records;
  CHECK(mismatch("{}", place_of(records, "slowest")) == "'slowest' has the wrong type: object");
  CHECK(mismatch("[{}, 1]", place_of(records, "slowest")) == "expected an object with 'operation'");
}

TEST_CASE("a result read for its figures lacks only courses and slowest operations") {
  Result result = sample_replay();
  const std::string text = result_to_json(result);
  REQUIRE(result.measurements[0].samples[0].course);
  REQUIRE_FALSE(result.measurements[0].samples[0].slowest.empty());
  result.keep_figures();
  CHECK_FALSE(result.measurements[0].samples[0].course);
  CHECK(result_to_json(result_from_json(text, "r", ResultDetail::figures)) ==
        result_to_json(result));
}

}  // namespace
}  // namespace filereel

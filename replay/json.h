// How this folder works: these few files are for all folders of the layer that read or write JSON.
// json_fwd.h declares the type, json.h parses text from outside with messages for users. The
// rest of the layer, from volumes to reports, is described in docs/architecture.md. Start with
// json.h.
//
// The JSON library, and parsing with messages that say where a text is wrong.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>  // IWYU pragma: export

#include "replay/json_fwd.h"  // IWYU pragma: export

// The only file that includes nlohmann's JSON library, whose header takes seconds to compile.

namespace filereel {

// Events of nlohmann's parser that are ignored: a base of readers that look for one thing only.
struct IgnoredJson : Json::json_sax_t {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }
};

// --- Parses JSON from outside: results, and the output of other programs.

// Throws Error(unusable_input) "NAME: what is wrong at which byte; WHAT_TO_DO" if `text` is not
// JSON, or has a number that no double can hold.
Json parse_json(std::string_view text, std::string_view name, std::string_view what_to_do);

// Throws this error for text that a parser has refused.
[[noreturn]] void refuse_json(std::string_view text, std::string_view name,
                              std::string_view what_to_do);

}  // namespace filereel

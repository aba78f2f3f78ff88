#include "replay/json.h"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

// Reads a text only to find the place where the parser gives up: its exception for a number has no
// place.
struct PlaceOfFailure final : IgnoredJson {
  std::size_t byte = 0;
  std::string token;
  bool is_number = false;  // out of range

  bool parse_error(std::size_t position, const std::string& last,
                   const Json::exception& failure) override {
    byte = position;
    token = last;
    is_number = dynamic_cast<const Json::out_of_range*>(&failure) != nullptr;
    return false;
  }
};

}  // namespace

Json parse_json(std::string_view text, std::string_view name, std::string_view what_to_do) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    refuse_json(text, name, what_to_do);
  }
}

void refuse_json(std::string_view text, std::string_view name, std::string_view what_to_do) {
  PlaceOfFailure place;
  Json::sax_parse(text, &place);
  if (!place.is_number) {
    throw_unusable(name, fmt::format("invalid JSON at byte {}; {}", place.byte, what_to_do));
  }
  throw_unusable(name, fmt::format("the number {} at byte {} is out of range: it must be between "
                                   "-{:.1e} and {:.1e}; {}",
                                   printable(place.token), place.byte + 1 - place.token.size(),
                                   std::numeric_limits<double>::max(),
                                   std::numeric_limits<double>::max(), what_to_do));
}

}  // namespace filereel
